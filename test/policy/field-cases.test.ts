/** What users of such tools report most about times, as far as no single rule's test holds it. */
import { describe, expect, it } from 'vitest'
import { classifyFailure } from '../../src/policy/judge/classify.ts'
import { planAttempt } from '../../src/policy/quota/wait.ts'
import { remember } from '../../src/reducers/plans.ts'
import { HOUR, MINUTE, NOON } from '../support/build.ts'

const refusal = (message: string, more: object = {}) => classifyFailure({ code: 'QUOTA', message, ...more }, { now: NOON })
const wait = (message: string, more: object = {}) => planAttempt(NOON, undefined, refusal(message, more), HOUR)

describe('a Retry-After that makes no sense', () => {
  it.each([99_999_999_000, Number.MAX_VALUE])('of %d ms is never waited for', (providerRetryAfterMs) => {
    expect(wait('Insufficient Balance', { providerRetryAfterMs })).toEqual({ delayMs: HOUR, cause: 'interval' })
  })

  it.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY])('of %d ms starts no storm', (providerRetryAfterMs) => {
    expect(wait('Insufficient Balance', { providerRetryAfterMs }).delayMs).toBeGreaterThanOrEqual(MINUTE)
  })

  it('of one millisecond starts no storm either, however often it comes', () => {
    let now = NOON
    let last = remember(undefined, { at: now, delayMs: HOUR, cause: 'interval' })
    const gaps: number[] = []
    for (let round = 0; round < 5; round += 1) {
      now = last.dueAt
      const plan = planAttempt(now, last, classifyFailure({ code: 'QUOTA', message: 'Insufficient Balance', providerRetryAfterMs: 1 }, { now }), HOUR)
      last = remember(last, { at: now, ...plan })
      gaps.push(plan.delayMs)
    }
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(MINUTE)
    expect(gaps.slice(2)).toEqual([HOUR, HOUR, HOUR])
  })
})

describe('a reset that is said and cannot be resolved', () => {
  it('of a rolling window is no guess of the next midnight', () => {
    const verdict = refusal('You have reached your usage limit for the rolling 24-hour window.')
    expect(verdict.resetsAt).toBeUndefined()
    expect(planAttempt(NOON, undefined, verdict, HOUR).cause).toBe('interval')
  })

  it('without a zone is shown in the provider\'s words and not scheduled on', () => {
    const verdict = refusal('Usage limit reached for 5 hour. Your limit will reset at 2026-09-19 23:17:45')
    expect(verdict.resetHint).toContain('2026-09-19 23:17:45')
    expect(verdict.resetsAt).toBeUndefined()
  })

  it('that is stale gives way to the newest refusal alone', () => {
    expect(wait('Usage limit reached. Resets at 2020-01-01T00:00:00Z').delayMs).toBeLessThan(HOUR)
    expect(wait('Usage limit reached.').delayMs).toBe(HOUR)
  })
})

describe('a provider that refuses again after its promise', () => {
  it('is asked again soon, twice, and then by the interval', () => {
    const promised = planAttempt(NOON, undefined, { resetsAt: NOON + 10 * MINUTE }, HOUR)
    expect(promised.cause).toBe('hint')
    let last = remember(undefined, { at: NOON, ...promised })
    const causes: string[] = []
    for (let round = 0; round < 3; round += 1) {
      const at = last.dueAt
      const plan = planAttempt(at, last, {}, HOUR)
      last = remember(last, { at, ...plan })
      causes.push(`${plan.cause} ${plan.delayMs / MINUTE}`)
    }
    expect(causes).toEqual(['second-try 2', 'second-try 8.5', 'interval 60'])
  })
})

describe('status and code that disagree', () => {
  it('the structured code says what the 429 does not', () => {
    expect(classifyFailure({ status: 429, code: 'insufficient_quota', message: 'Request denied.' }, { now: NOON }).kind).toBe('spent-allowance')
    expect(classifyFailure({ status: 429, code: 'rate_limit_exceeded', message: 'Request denied.' }, { now: NOON }).kind).toBe('rate-limit')
  })
})
