import type { Account, RefusalFields } from './provider.ts'
import { between, type Random } from './random.ts'

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A kind of provider, and how its allowance goes and comes. */
export interface World {
  readonly name: string
  /** Whether its refusals name an instant that the plugin may act on, and whether that is right. */
  readonly hint: 'right' | 'late' | 'wrong' | 'none'
  /**
   * One account in it.
   *
   * @param share - from 0 to 1: where in the range of this world the account lies, spread evenly over the seeds.
   * @param random - for everything else.
   */
  account(share: number, random: Random): Account
}

const iso = (at: number): string => new Date(at).toISOString()
const limit = (at: number): RefusalFields => ({ code: 'AUTH', status: 403, message: `403: Usage limit reached. Your limit will reset at ${iso(at)}` })
const BALANCE: RefusalFields = { code: 'QUOTA', status: 402, message: '402: Insufficient Balance' }

/** A moment of 2026; seconds are whole, because providers write whole seconds. */
const moment = (random: Random): number => Date.UTC(2026, 0, 5) + SECOND * between(random, 0, 300 * DAY / SECOND)
const wait = (share: number, low: number, high: number): number => Math.round((low + (high - low) * share) / SECOND) * SECOND

/** Days on which New York changes its clocks, and an ordinary one; the day begins at this instant. */
const DAYS: readonly { readonly starts: number; readonly hours: number }[] = [
  { starts: Date.UTC(2026, 2, 8, 5), hours: 23 },
  { starts: Date.UTC(2026, 10, 1, 4), hours: 25 },
  { starts: Date.UTC(2026, 5, 10, 4), hours: 24 },
]

/** A reset that is named as an instant, the account's own coming back some time apart from it. */
const named = (name: string, hint: World['hint'], low: number, high: number, offMs: (random: Random) => number): World => ({
  name, hint,
  account(share, random) {
    const goneAt = moment(random)
    const backAt = goneAt + wait(share, low, high)
    const says = backAt - offMs(random)
    return { goneAt, backAt, refusal: () => limit(says) }
  },
})

/**
 * Every world, by a short name. Where a wait has no hint, its range is a whole number of hours that shares no factor with
 * the usual numbers of seeds: the returns then fall evenly on the hour between two attempts.
 */
export const WORLDS: readonly World[] = [
  named('rolling 5 h window', 'right', 20 * MINUTE, 5 * HOUR, () => 0),
  {
    name: 'daily at midnight, New York',
    hint: 'right',
    account(share, random) {
      const day = DAYS[between(random, 0, DAYS.length)]!
      const backAt = day.starts + day.hours * HOUR
      const goneAt = day.starts + wait(share, 10 * MINUTE, day.hours * HOUR - 30 * MINUTE)
      return { goneAt, backAt, refusal: () => ({ code: 'RATE_LIMIT', status: 429, message: '429: You have hit your daily limit · resets 12am (America/New_York)' }) }
    },
  },
  named('weekly plan', 'right', 12 * HOUR, 5 * DAY, () => 0),
  {
    name: 'balance, topped up by a person',
    hint: 'none',
    account(share, random) {
      const goneAt = moment(random)
      return { goneAt, backAt: goneAt + wait(share, 20 * MINUTE, 13 * HOUR + 20 * MINUTE), refusal: () => BALANCE }
    },
  },
  named('ten minutes behind its own reset', 'late', 30 * MINUTE, 5 * HOUR, () => 10 * MINUTE),
  {
    name: 'a time without a zone',
    hint: 'none',
    account(share, random) {
      const goneAt = moment(random)
      const backAt = goneAt + wait(share, 20 * MINUTE, 5 * HOUR + 20 * MINUTE)
      const clock = iso(backAt).slice(11, 16)
      return { goneAt, backAt, refusal: () => ({ code: 'RATE_LIMIT', status: 429, message: `429: Usage limit reached. Your limit will reset at ${clock}` }) }
    },
  },
  named('hint 15 to 75 minutes too early', 'wrong', 90 * MINUTE, 6.5 * HOUR, random => between(random, 15 * MINUTE, 75 * MINUTE)),
  named('hint 10 minutes to 3 hours too late', 'wrong', 30 * MINUTE, 5.5 * HOUR, random => -between(random, 10 * MINUTE, 3 * HOUR)),
]

/**
 * The world of a name.
 *
 * @param name - its name in {@link WORLDS}.
 */
export function worldOf(name: string): World {
  const found = WORLDS.find(world => world.name === name)
  if (found === undefined) throw new Error(`no world is called ${name}`)
  return found
}
