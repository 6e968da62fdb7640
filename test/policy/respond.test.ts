import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/events/failure.ts'
import { parseConfig } from '../../src/policy/config.ts'
import { respond } from '../../src/policy/respond.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { HOUR, type Log, NOON, refusedLog, SPENT, THROTTLED, waitingLog } from '../support/build.ts'
import { ALONE } from '../support/world.ts'

const answer = (given: Log, failure: Failure = SPENT, input: object = {}, now = NOON) =>
  respond({
    state: foldSession(given.rows), failure, provider: given.provider, turn: given.turnNo, step: given.stepNo, unfit: [],
    world: { marks: {}, readings: {}, now }, ...ALONE,
  }, parseConfig(input))

describe('a refusal for a spent allowance', () => {
  it('is waited out, with the verdict that says why', () => {
    expect(answer(refusedLog())).toMatchObject({ kind: 'wait', failure: SPENT, verdict: { kind: 'spent-allowance' } })
    expect(answer(refusedLog())).not.toHaveProperty('limitAt')
  })

  it.each([
    ['AUTH', '403: You have reached your weekly usage limit'],
    ['RATE_LIMIT', '429: 已达到 Token Plan 用量上限'],
    ['PI_AI_ERROR', '402: This request requires more credits'],
  ])('is one under the code %s, too', (code, message) => {
    expect(answer(refusedLog(), { code, message }).kind).toBe('wait')
  })

  it('is left to the harness when the switch is off, by the session or by the deployment', () => {
    const off = { kind: 'delegate', why: 'switched-off', verdict: { kind: 'spent-allowance' } }
    expect(answer(refusedLog().command('/quota-retry off'))).toMatchObject(off)
    expect(answer(refusedLog(), SPENT, { defaultEnabled: false })).toMatchObject(off)
    expect(answer(refusedLog().command('/quota-retry on'), SPENT, { defaultEnabled: false }).kind).toBe('wait')
  })

  it('is left to the harness when the longest wait is used up', () => {
    expect(answer(waitingLog().after(HOUR).starts().refused(), SPENT, { maxWaitMs: HOUR }, NOON + HOUR))
      .toMatchObject({ kind: 'delegate', why: 'longest-wait-reached' })
  })
})

describe('the longest wait', () => {
  it('bounds a wait from the first one of the turn', () => {
    expect(answer(refusedLog(), SPENT, { maxWaitMs: 2 * HOUR })).toMatchObject({ kind: 'wait', limitAt: NOON + 2 * HOUR })
    expect(answer(waitingLog().after(HOUR).starts().refused(), SPENT, { maxWaitMs: 2 * HOUR }, NOON + HOUR)).toMatchObject({ limitAt: NOON + 2 * HOUR })
  })
})

describe('a pool with another route', () => {
  const pools = { p: { routes: [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' }] } }

  it('is used at once, with the reason beside the choice', () => {
    expect(answer(refusedLog(), SPENT, { pools })).toMatchObject({ kind: 'move', choice: { pool: 'p', route: { provider: 'b', model: 'n' } } })
  })

  it('is not used by a session whose switch or pool is off', () => {
    expect(answer(refusedLog().command('/quota-retry off'), SPENT, { pools }).kind).toBe('delegate')
    expect(answer(refusedLog().command('/quota-pool off'), SPENT, { pools }).kind).toBe('wait')
  })

  it('is not asked twice in a step: when every route refused, the session waits', () => {
    expect(answer(refusedLog().moves('p', 'b', 'n').starts().asks('b', 'n').refused(), SPENT, { pools }).kind).toBe('wait')
  })
})

describe('any other failure', () => {
  it.each<Failure>([
    THROTTLED,
    { code: 'AUTH', message: '401: invalid api key', status: 401 },
    { code: 'TIMEOUT', message: 'no first token within 2 s' },
    { code: 'SERVER', message: '503: overloaded', status: 503 },
    { code: 'UNKNOWN', message: 'the provider gave no message' },
  ])('is no spent allowance, and left to the harness where retries are off: $code', (failure) => {
    expect(answer(refusedLog(), failure, { transient: { enabled: false } }).kind).toBe('delegate')
    expect(answer(refusedLog(), failure, { transient: { enabled: false } })).not.toHaveProperty('mark')
  })
})
