import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/policy/config.ts'
import { poolStatusText, retryStatusText } from '../../src/projections/status.ts'
import { clockText } from '../../src/projections/text.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { HOUR, log, type Log, MINUTE, NOON, waitingLog } from '../support/build.ts'

const config = parseConfig({ pools: { p: { routes: [{ provider: 'a', model: 'm' }] } } })
const retry = (given: Log, now = NOON): string[] => retryStatusText(foldSession(given.rows), config, now).split('\n')
const pool = (given: Log): string => poolStatusText(foldSession(given.rows), config)

describe('/quota-retry status', () => {
  it('says where the switch stands and who put it there', () => {
    expect(retry(log())).toEqual(['Quota retry is on (the deployment\'s default).', 'This session is not out of allowance.'])
    expect(retry(log().command('/quota-retry off'))[0]).toBe('Quota retry is off (set in this session).')
    expect(retry(log().records('/quota-retry inherit off'))[0]).toBe('Quota retry is off (inherited from the session it was started from).')
  })

  it('shows a wait: where, since when, why, and the next check', () => {
    const [, what, why, read, next] = retry(waitingLog(), NOON + 15 * MINUTE)
    expect(what).toBe(`Out of allowance on a/m since ${clockText(NOON)}, 1 wait so far.`)
    expect(why).toBe('The provider said: 402: Insufficient Balance')
    expect(read).toBe('Read as: the harness reports a spent quota.')
    expect(next).toBe(`Next check ${clockText(NOON + HOUR)}, in 45 min. /quota-retry now asks at once; cancel stops waiting.`)
  })

  it('never promises a reset that nobody named', () => {
    expect(retry(waitingLog()).join('\n')).not.toMatch(/reset/i)
  })

  it('tells a request on its way from a turn that ended', () => {
    expect(retry(waitingLog().starts()).at(-1)).toBe('No check is planned: a request is on its way.')
    expect(retry(waitingLog().cancels()).at(-1)).toBe('No check is planned: the turn ended. The next message tries again.')
  })

  it('says of a run that the end of its host cut off when it goes on, and how to have it otherwise', () => {
    const cut = waitingLog().after(MINUTE).crashes()
    expect(retry(cut, NOON + 15 * MINUTE).at(-1)).toBe(`Next check ${clockText(NOON + HOUR)}, in 45 min: the host ended while this session waited, and it goes on by itself. /quota-retry now has it go on at once, /quota-retry off has it stay.`)
    expect(retry(cut.command('/quota-retry off')).at(-1)).toBe('This session is not out of allowance.')
  })

  it('lets no provider rewrite the terminal', () => {
    expect(retry(log().turn().asks().refused().waits(HOUR, { failure: { code: 'QUOTA', message: 'a\u001b[2J\n\u009b\r\u2028b' } }))[2]).toBe('The provider said: a [2J b')
  })
})

describe('/quota-pool status', () => {
  it.each([
    ['This session follows the pool of its first request; no request yet.', log()],
    ['Pool p (the only pool that holds its route); on a/m.', log().turn().asks()],
    ['No pool governs this session; on b/n.', log().turn().asks('b', 'n')],
    ['Pool p (set in this session); no request yet.', log().command('/quota-pool p')],
    ['This session never changes provider (set in this session); no request yet.', log().command('/quota-pool off')],
    ['This session states pool "gone", which the configuration does not have; no request yet.', log().command('/quota-pool gone')],
  ])('%s', (text, given) => {
    expect(pool(given)).toBe(text)
  })
})
