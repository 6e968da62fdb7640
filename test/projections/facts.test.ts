import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/policy/config.ts'
import { QuotaRetryFacts, quotaRetryFacts } from '../../src/projections/facts.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { HOUR, log, type Log, MINUTE, NOON, refusedLog, waitingLog } from '../support/build.ts'

const config = parseConfig({ pools: { zeta: { routes: [{ provider: 'a', model: 'm' }] }, alpha: { routes: [{ provider: 'b', model: 'n' }] } } })
const facts = (given: Log, input = config) => quotaRetryFacts(foldSession(given.rows), input)

describe('the facts of a session', () => {
  it('are those of the deployment before anything happened', () => {
    expect(facts(log())).toEqual({
      version: 1, enabled: true, defaultEnabled: true, source: 'default', pool: null, poolSource: 'default', pools: ['zeta', 'alpha'], wait: null, lastMove: null,
    })
  })

  it('follow the settings and the route', () => {
    expect(facts(log().turn().asks())).toMatchObject({ pool: 'zeta', poolSource: 'default' })
    expect(facts(log().command('/quota-retry off').command('/quota-pool off').turn().asks()))
      .toMatchObject({ enabled: false, source: 'session', pool: null, poolSource: 'off' })
    expect(facts(log().records('/quota-retry inherit on'), parseConfig({ defaultEnabled: false })))
      .toMatchObject({ enabled: true, defaultEnabled: false, source: 'inherited', pools: [] })
  })

  it('show a live wait', () => {
    expect(facts(waitingLog()).wait).toEqual({
      since: NOON, nextAttemptAt: NOON + HOUR, pending: true, attempts: 1, provider: 'a', model: 'm', reason: '402: Insufficient Balance', resetsAt: null, pool: null, next: { provider: 'a', model: 'm' },
    })
  })

  it('show the pool of which every route is out, and the route that comes first where the log tells it', () => {
    const [a, b, c] = [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' }, { provider: 'c', model: 'o' }]
    const asked = (cause: 'interval' | 'other-route') => refusedLog().moves('p', 'b', 'n').starts().asks('b', 'n').refused().waits(HOUR, { cause })
    const two = parseConfig({ pools: { p: { routes: [a, b] } } })
    expect(facts(asked('other-route'), two).wait).toMatchObject({ provider: 'b', pool: 'p', next: a })
    expect(facts(asked('interval'), two).wait).toMatchObject({ provider: 'b', pool: 'p', next: b })
    expect(facts(asked('other-route'), parseConfig({ pools: { p: { routes: [a, b, c] } } })).wait).toMatchObject({ pool: 'p', next: null })
  })

  it.each([
    ['a time', `Usage limit reached. Resets at ${new Date(NOON + 3 * HOUR).toISOString()}`, 'shared', NOON + 3 * HOUR],
    ['a length of time', 'Usage limit reached. Try again in 3 hours', undefined, NOON + 3 * HOUR],
    ['a length of time, long before', 'Usage limit reached. Try again in 3 hours', 'shared', null],
  ] as const)('show the reset that the provider named as %s', (_what, message, cause, expected) => {
    const waited = refusedLog().waits(HOUR, { failure: { code: 'QUOTA', message }, ...cause === undefined ? {} : { cause } })
    expect(facts(waited).wait?.resetsAt).toBe(expected)
  })

  it('show an entry that holds no wait', () => {
    expect(facts(waitingLog().after(MINUTE).cancels()).wait).toMatchObject({ pending: false, nextAttemptAt: null, attempts: 1 })
  })

  it('show no entry that is over, and the last move', () => {
    expect(facts(refusedLog().moves('zeta', 'b', 'n').starts().asks('b', 'n').refused().waits().starts().answers()))
      .toMatchObject({ wait: null, lastMove: { from: { provider: 'a', model: 'm' }, to: { provider: 'b', model: 'n' }, pool: 'zeta', at: NOON, turn: 1 } })
  })

  it('cut what the provider said, and not within a character', () => {
    const { reason } = facts(refusedLog().waits(HOUR, { failure: { code: 'QUOTA', message: `${'x'.repeat(498)}😀${'x'.repeat(9)}` } })).wait!
    expect(reason).toBe(`${'x'.repeat(498)}…`)
  })

  it('are what their schema says, as JSON', () => {
    for (const given of [log(), waitingLog(), waitingLog().cancels(), refusedLog().moves('p', 'b', 'n')]) {
      const value = facts(given)
      expect(QuotaRetryFacts.parse(JSON.parse(JSON.stringify(value)))).toEqual(value)
    }
  })
})
