import { describe, expect, it } from 'vitest'
import { decodeEvent } from '../../src/events/decode.ts'
import { moveKey } from '../../src/events/policy-key.ts'
import { withinBounds } from '../../src/reducers/bounds.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { type Chain, chainOf, evolveStep, initialStep, type StepState } from '../../src/reducers/step.ts'
import { log, refusedLog } from '../support/build.ts'

describe('a map within bounds', () => {
  it('is the same one, and loses its older half beyond them', () => {
    const map = { a: 1, b: 2 }
    expect(withinBounds(map, 2)).toBe(map)
    expect(withinBounds({ ...map, c: 3 }, 2)).toEqual({ c: 3 })
  })
})

describe('a log that nobody wrote', () => {
  it('makes no fold grow: commands that never settle, retries of a thousand policies, a thousand routes that refuse', () => {
    const given = log().turn().step()
    for (let index = 0; index < 3_000; index += 1) {
      given.runs('/quota-retry on')
      given.asks(`p${index}`, 'm').refused()
      given.event('llm/retry', { turn: 1, step: 1, retryId: `r${index}`, retry: 1, provider: `p${index}`, policyKey: 'x', delayMs: 0, failure: {} })
      given.moves('p', `p${index}`, 'm')
    }
    const { settings, step } = foldSession(given.rows)
    expect(Object.keys(settings.open).length).toBeLessThanOrEqual(64)
    expect(Object.keys(step.chains.recent).length).toBeLessThanOrEqual(64)
    expect(step.refused).toHaveLength(64)
  })

  it('nor by records that look like ours: of many more than can be, the older half is forgotten', () => {
    const chains = Array.from({ length: 66_000 }, (_, index): [string, Chain] => [JSON.stringify(['a', `k${index}`]), { retryId: 'r', retry: 1 }])
    const full: StepState = { ...initialStep, turn: 1, step: 1, chains: { recent: Object.fromEntries(chains.slice(0, 64)), earlier: Object.fromEntries(chains.slice(64)) } }
    const fact = decodeEvent(refusedLog().moves('p', 'b', 'n').rows.at(-1))!
    const after = evolveStep(full, fact).chains
    expect([Object.keys(after.recent).length, Object.keys(after.earlier).length]).toEqual([0, 32_768])
    expect(chainOf({ chains: after }, 'a', moveKey('p', 'b', 'n'))).toMatchObject({ retry: 1 })
  })
})
