import { describe, expect, it } from 'vitest'
import { decideResume, heldWait, indexChange } from '../../src/policy/resume.ts'
import { decodeEvent } from '../../src/events/decode.ts'
import { evolve, foldSession, type SessionState } from '../../src/reducers/session.ts'
import { HOUR, type Log, MINUTE, NOON, refusedLog, SPENT, waitingLog } from '../support/build.ts'

const stateOf = (log: Log): SessionState => foldSession(log.rows)
/** What the index holds of a session while it waits as in this log. */
const indexOf = (log: Log) => ({ session: 's1', at: NOON, ...heldWait(stateOf(log))! })
const decide = (index: ReturnType<typeof indexOf>, log: Log, more: object = {}) =>
  decideResume({ waiting: index, state: stateOf(log), archived: false, child: false, now: NOON + 5 * HOUR, ...more }, { defaultEnabled: true, transient: { enabled: true } })

describe('a session of the index whose log ends in its wait', () => {
  it('goes on at the time it had, opened since or not', () => {
    const expected = { kind: 'continue', at: NOON + HOUR, route: { provider: 'a', model: 'm' } }
    expect(decide(indexOf(waitingLog()), waitingLog())).toEqual(expected)
    expect(decide(indexOf(waitingLog()), waitingLog().crashes())).toEqual(expected)
    expect(decide(indexOf(waitingLog()), waitingLog().endTurn('aborted', { reason: { kind: 'disposed' } }))).toEqual(expected)
  })

  it.each([
    ['an answer', waitingLog().starts().answers().crashes(), 'recovered'],
    ['the person\'s stop', waitingLog().cancels(), 'not-cut-off'],
    ['the switch', waitingLog().command('/quota-retry off').crashes(), 'recovered'],
    ['another failure', waitingLog().starts().refused({ code: 'SERVER', message: '500' }).endTurn('error'), 'not-cut-off'],
  ])('stays as it is after %s', (_what, log, why) => {
    expect(decide(indexOf(waitingLog()), log)).toEqual({ kind: 'stay', why })
  })

  it('stays as it is where it was put away, or belongs to a parent', () => {
    expect(decide(indexOf(waitingLog()), waitingLog(), { archived: true })).toEqual({ kind: 'stay', why: 'archived' })
    expect(decide(indexOf(waitingLog()), waitingLog(), { child: true })).toEqual({ kind: 'stay', why: 'a-child' })
  })
})

describe('a log that lost its end', () => {
  it('goes on as the index has it, also when a turn that was to carry it on was cut off, too', () => {
    const expected = { kind: 'continue', at: NOON + HOUR, route: { provider: 'a', model: 'm' } }
    expect(decide(indexOf(waitingLog()), refusedLog())).toEqual(expected)
    expect(decide(indexOf(waitingLog()), refusedLog().crashes())).toEqual(expected)
    expect(decide(indexOf(waitingLog()), refusedLog().crashes().turn().step().crashes())).toEqual(expected)
    expect(decide(indexOf(waitingLog()), refusedLog().crashes().turn().step())).toEqual(expected)
  })

  it('stays as it is once such a turn was answered, or ended by itself', () => {
    expect(decide(indexOf(waitingLog()), refusedLog().crashes().turn().step().answers().crashes())).toMatchObject({ kind: 'stay' })
    expect(decide(indexOf(waitingLog()), refusedLog().crashes().turn().step().endTurn('completed'))).toMatchObject({ kind: 'stay' })
  })

  it('goes on where an earlier wait of the same turn was answered: the lost one is another', () => {
    const answered = (): Log => waitingLog().starts().answers().endStep().step().asks().refused()
    expect(decide(indexOf(answered().waits()), answered().crashes())).toMatchObject({ kind: 'continue' })
    expect(decide(indexOf(waitingLog()), answered().crashes())).toMatchObject({ kind: 'stay' })
  })

  it('goes on where the turn before was stopped in a wait: the lost one is another', () => {
    const again = (): Log => waitingLog().cancels().turn().step().refused(SPENT)
    expect(decide(indexOf(again().waits()), again().crashes())).toMatchObject({ kind: 'continue' })
  })
})

describe('the index', () => {
  const changeOf = (log: Log, last: (log: Log) => Log) => {
    const before = stateOf(log)
    const fact = decodeEvent(last(log).rows.at(-1))!
    return indexChange(fact, before, evolve(before, fact))
  }

  it('gains a session with its wait, and each new time', () => {
    expect(changeOf(refusedLog(), log => log.waits())).toMatchObject({ type: 'waiting', held: { turn: 1, closed: 0, nextAttemptAt: NOON + HOUR } })
    expect(changeOf(waitingLog(), log => log.after(MINUTE).waits())).toMatchObject({ type: 'waiting' })
  })

  it('loses it to an answer when that is on the disk, and to the person at once', () => {
    expect(changeOf(waitingLog().starts(), log => log.answers())).toEqual({ type: 'released', when: 'stored' })
    expect(changeOf(waitingLog().runs('/quota-retry off'), log => log.settles())).toEqual({ type: 'released', when: 'now' })
    expect(changeOf(waitingLog().endStep(), log => log.cancels())).toEqual({ type: 'released', when: 'now' })
  })

  it('keeps it through the end of its host', () => {
    expect(changeOf(waitingLog().endStep(), log => log.endTurn('interrupted'))).toBeUndefined()
  })
})
