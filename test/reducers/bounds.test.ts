import { describe, expect, it } from 'vitest'
import { withinBounds } from '../../src/reducers/bounds.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { log } from '../support/build.ts'

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
    }
    const { settings, step } = foldSession(given.rows)
    expect(Object.keys(settings.open).length).toBeLessThanOrEqual(64)
    expect(Object.keys(step.chains).length).toBeLessThanOrEqual(256)
    expect(Object.keys(step.chains).at(-1)).toContain('p2999')
    expect(step.refused).toHaveLength(64)
  })
})
