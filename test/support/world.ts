/** What is known of providers, for tests of the choice: `world({ marked: ['a'], left: { b: 5 } })`. */
import type { World } from '../../src/policy/pool/choose.ts'
import type { MissingReading, Reading } from '../../src/policy/pool/readings.ts'
import { type Mark, markKey, type MarksState } from '../../src/reducers/marks.ts'
import { nothingKnown } from '../../src/policy/quota/plan.ts'
import { HOUR, NOON } from './build.ts'

/** What a refusal is answered with besides, where nothing special is known. */
export const ALONE = { known: nothingKnown, random: 0.5, retryPolicy: { mode: 'normal' } } as const

export const A = { provider: 'a', model: 'm' }
export const B = { provider: 'b', model: 'n' }
export const C = { provider: 'c', model: 'o' }

/** A mark that holds from noon for an hour. */
export const mark = (provider: string, more: Partial<Mark> = {}): Mark =>
  ({ provider, at: NOON, until: NOON + HOUR, rule: 'spent', message: 'Insufficient Balance', ...more })

/** What a provider has left, or what its script's last run came to nothing by. */
export type Left = number | MissingReading['missing']

const readingOf = (left: Left): Reading | MissingReading => typeof left === 'number' ? { remaining: left, at: NOON } : { missing: left, at: NOON }

/**
 * A world.
 * @param known - providers that hold a mark, marks of their own, what providers have left, and the time.
 */
export function world({ marked = [], marks = [], left = {}, now = NOON }: {
  marked?: readonly string[]
  marks?: readonly Mark[]
  left?: Readonly<Record<string, Left>>
  now?: number
} = {}): World {
  const all = [...marked.map(provider => mark(provider)), ...marks]
  return {
    marks: Object.fromEntries(all.map(held => [markKey(held), held])) as MarksState,
    readings: Object.fromEntries(Object.entries(left).map(([provider, amount]) => [provider, readingOf(amount)])),
    now,
  }
}
