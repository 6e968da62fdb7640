import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MoveCause, moveKey, WAIT_CAUSES, waitKey } from '../../src/events/policy-key.ts'
import { evolveEvent, foldSession, initialState, type SessionState } from '../../src/reducers/session.ts'
import { chainOf } from '../../src/reducers/step.ts'
import { HOUR, log } from '../support/build.ts'
import { reach } from '../support/reach.ts'
import { Draw, walk } from './walk.ts'

/** The rule of the harness's own companion, over the whole log: 1, 2, 3 for each turn, step, provider and policy key. */
class Companion {
  private readonly last = new Map<string, { retryId: string; retry: number }>()
  private readonly ids = new Set<string>()
  longest = 0

  check({ turn, step, provider, policyKey, retryId, retry }: any): void {
    const key = JSON.stringify([turn, step, provider, policyKey])
    const before = this.last.get(key)
    expect(retry).toBe((before?.retry ?? 0) + 1)
    if (before === undefined) expect(this.ids.has(retryId)).toBe(false)
    else expect(retryId).toBe(before.retryId)
    this.ids.add(retryId)
    this.last.set(key, { retryId, retry })
    this.longest = Math.max(this.longest, retry)
  }

  get size(): number {
    return this.last.size
  }
}

/** The next record of a chain, numbered by the fold, as the plugin writes it. */
function next(state: SessionState, provider: string, policyKey: string, seq: number): object {
  const chain = chainOf(state.step, provider, policyKey)
  const { turn, step } = state.step
  return {
    type: 'llm/retry', seq, time: seq,
    data: { retryId: chain?.retryId ?? `r${seq}`, retry: (chain?.retry ?? 0) + 1, turn, step, provider, policyKey, mode: 'always', delayMs: 0, failure: { code: 'QUOTA', message: 'spent' } },
  }
}

const AFTER: readonly (MoveCause | undefined)[] = [undefined, 'due', ...WAIT_CAUSES]
const route = (draw: Draw, providers: number) => ({ provider: `p${draw.below(providers)}`, model: draw.pick(['m', 'n']) })

describe('the numbers of our retries', () => {
  it('go on without a gap in any session, as the fold has them', () => {
    const met = reach({ 'a chain of two': 0.03, 'two chains': 0.5 })
    fc.assert(fc.property(walk, ({ sessions }) => {
      let [most, longest] = [0, 0]
      for (const { rows } of sessions) {
        const companion = new Companion()
        let state = initialState
        for (const row of rows) {
          const ours = row.type === 'llm/retry' && row.data.policyKey.startsWith('["llm-quota-retry"')
          if (ours) {
            companion.check(row.data)
            const chain = chainOf(state.step, row.data.provider, row.data.policyKey)
            expect([row.data.retry, row.data.retryId]).toEqual([(chain?.retry ?? 0) + 1, chain?.retryId ?? row.data.retryId])
          }
          state = evolveEvent(state, row)
        }
        most = Math.max(most, companion.size)
        longest = Math.max(longest, companion.longest)
      }
      met.run([...longest >= 2 ? ['a chain of two' as const] : [], ...most >= 2 ? ['two chains' as const] : []])
    }), { numRuns: 200 })
    met.check()
  })

  it('go on without a gap in a step of any length, with many providers, routes and causes', () => {
    const met = reach({ 'more than 256 chains': 0.25, 'a chain of three': 0.3 })
    fc.assert(fc.property(fc.nat(2 ** 31), fc.noBias(fc.integer({ min: 1, max: 24 })), fc.noBias(fc.integer({ min: 0, max: 1_500 })), (seed, providers, records) => {
      let state = foldSession(log().head().turn().step().asks().rows)
      const companion = new Companion()
      let number = seed
      for (let seq = 10; seq < 10 + records; seq += 1) {
        number = (number * 1_103_515_245 + 12_345) % 2 ** 31
        const draw = new Draw(number)
        const { provider } = route(draw, providers)
        const cause = draw.pick(WAIT_CAUSES)
        const key = draw.below(3) === 0
          ? waitKey({ intervalMs: HOUR, cause, ...draw.chance(2) ? { on: route(draw, providers) } : {} })
          : moveKey('medium', `p${draw.below(providers)}`, 'm', draw.pick(AFTER))
        const row = next(state, provider, key, seq)
        companion.check((row as { data: unknown }).data)
        state = evolveEvent(state, row)
      }
      met.run([...companion.size > 256 ? ['more than 256 chains' as const] : [], ...companion.longest >= 3 ? ['a chain of three' as const] : []])
    }), { numRuns: 40 })
    met.check()
  })
})
