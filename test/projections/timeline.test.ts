import { describe, expect, it } from 'vitest'
import { replay } from '../../src/projections/replay.ts'
import { timeline, timelineText } from '../../src/projections/timeline.ts'
import { HOUR, log, type Log, MINUTE, refusedLog, waitingLog } from '../support/build.ts'

const rows = (given: Log): string[] => timeline(replay(given.rows)).map(({ what }) => what)
const last = (given: Log): string | undefined => rows(given).at(-1)

describe('the timeline', () => {
  it('does not take a cancelled turn for a crash', () => {
    expect(rows(waitingLog().cancels()).join('\n')).not.toMatch('started again')
  })

  it('tells a wait from its refusal to its answer', () => {
    const told = rows(waitingLog().after(HOUR).starts().answers().endTurn('completed'))
    expect(told).toEqual([
      'session s1',
      'requests go to a/m',
      expect.stringMatching(/^request refused by a\/m: spent-allowance by rule \S+ \(QUOTA 402: 402: Insufficient Balance\)/),
      'wait 1: next check in 1 h (the interval)',
      'asking again after 1 h',
      'answered by a/m; recovered after 1 h and 1 wait',
    ])
  })

  it.each([
    ['moved from a/m to b/n (pool p) because of rule host-quota', refusedLog().moves('p', 'b', 'n')],
    ['quick retry 1 of the harness in 4 s', refusedLog().retries(4_000)],
    ['wait 1: next check in 1 min 30 s (the reset time that the provider named)', refusedLog().waits(90_000, { cause: 'hint' })],
    ['turn 1 ended: aborted; the wait was given up after 1 min', waitingLog().after(MINUTE).cancels()],
    ['turn 1 ended: interrupted; the host ended in the wait (noted 1 min after it began)', waitingLog().after(MINUTE).crashes()],
    ['the run of turn 1 goes on in turn 2, 29 min before the time it waited for when the host ended', waitingLog().after(31 * MINUTE).crashes().turn()],
    ['the run of turn 1 goes on in turn 2, 1 h after the time it waited for when the host ended', waitingLog().after(2 * HOUR).crashes().turn()],
    ['turn 1 ended: interrupted; the host ended while it asked again', waitingLog().after(HOUR).starts().crashes()],
    ['wait 1 brought forward: next check in 0 ms (the person asked for it now)', waitingLog().waits(0, { cause: 'asked' })],
    ['wait 1 stands: next check in 1 h (written again as it was)', waitingLog().waits(HOUR, { cause: 'restated' })],
    ['person asked for retry off', log().runs('/quota-retry off')],
    ['inherited pool p', log().runs('/quota-pool inherit p', { kind: 'plugin', plugin: 'x' })],
    ['setting was refused', log().runs('/quota-retry off').settles('error')],
    ['setting took effect; disabled after 1 min and 1 wait', waitingLog().after(MINUTE).command('/quota-retry off')],
    ['session s1, child of p', log().head({ parentSession: 'p' })],
    ['requests go to a/m (high)', log().turn().asks('a', 'm', 'high')],
  ])('%s', (what, given) => {
    expect(last(given)).toBe(what)
  })

  it('lets no provider rewrite the terminal', () => {
    const failure = { code: 'QUOTA', message: 'slow down\u001b[2J\nplease' }
    expect(last(log().turn().asks().refused(failure))).not.toMatch(/[\u0000-\u001f]/)
  })

  it('is text with the reader\'s own clock', () => {
    expect(timelineText(timeline(replay(waitingLog().rows)), 'Asia/Shanghai').split('\n').at(-1))
      .toBe('2026-09-01 20:00:00  wait 1: next check in 1 h (the interval)')
  })
})
