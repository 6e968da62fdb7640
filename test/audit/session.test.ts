import { describe, expect, it } from 'vitest'
import { advance } from '../../src/projections/audit/advance.ts'
import type { AuditRecord, Row, SessionTotals } from '../../src/projections/audit/records.ts'
import { SessionAudit } from '../../src/projections/audit/session.ts'
import { replay } from '../../src/projections/replay.ts'
import { initialState } from '../../src/reducers/session.ts'
import { HOUR, SPENT, START, story, TestLog } from './helpers.ts'

function audited(log: TestLog): { rows: Row[]; records: AuditRecord[]; totals: SessionTotals; head: SessionAudit['head'] } {
  const rows: Row[] = []
  const records: AuditRecord[] = []
  const session = new SessionAudit('x', { row: row => rows.push(row), record: record => records.push(record) })
  let state = initialState
  for (const line of log.lines) {
    const step = advance(state, JSON.parse(line))
    if (step === undefined) continue
    state = step.after
    session.push(step)
  }
  return { rows, records, totals: session.end(), head: session.head }
}

const of = <T extends AuditRecord['record']>(records: readonly AuditRecord[], record: T) =>
  records.filter((entry): entry is Extract<AuditRecord, { record: T }> => entry.record === record)

describe('the audit of a session', () => {
  it('agrees with the replay, which keeps every moment', () => {
    const history = replay(story().lines.map(line => JSON.parse(line) as unknown))
    const { records, totals } = audited(story())
    expect([totals.refused, totals.answered, totals.moves]).toEqual([history.failures, history.answers, history.failovers.length])
    expect(of(records, 'entry').map(({ at, leftAt, attempts, reason }) => ({ enteredAt: at, leftAt, attempts, reason })))
      .toEqual(history.entries.map(entry => ({ enteredAt: entry.enteredAt, leftAt: 'leftAt' in entry ? entry.leftAt : null, attempts: entry.attempts, reason: 'reason' in entry ? entry.reason : 'open' })))
  })

  it.each([
    ['cancelled', new TestLog().turn().asks('a', 'm').fails().waits().after(5_000).ends('aborted'), { keptMs: 5_000, endedBy: 'turn-ended', outcome: 'aborted' }, 'open'],
    ['switched off', new TestLog().turn().asks('a', 'm').fails().waits().after(5_000).row('command/run', { commandId: 'c', name: 'quota-retry', args: ' off' }).row('command/done', { commandId: 'c', kind: 'success' }), { keptMs: 5_000, endedBy: 'switched-off' }, 'disabled'],
    ['cut by a restart', new TestLog().turn().asks('a', 'm').fails().waits().after(5_000).row('session/end-seed', {}), { keptMs: 5_000, endedBy: 'host-ended' }, 'open'],
    ['open at the end', new TestLog().turn().asks('a', 'm').fails().waits(), { keptMs: 0, endedBy: 'log-ended', endedAt: null }, 'open'],
    ['brought forward', new TestLog().turn().asks('a', 'm').fails().waits().after(5_000).starts().answers('a', 'm'), { keptMs: 5_000, endedBy: 'attempt' }, 'recovered'],
  ])('tells how a wait ended: %s', (_name, log, wait, entry) => {
    const { records } = audited(log)
    expect(of(records, 'wait')).toEqual([expect.objectContaining({ at: START, plannedMs: HOUR, ...wait })])
    expect(of(records, 'entry').map(({ reason }) => reason)).toEqual([entry])
  })

  it('tells a run of answers in one line, so that a quiet session stays short', () => {
    const log = new TestLog().turn().asks('a', 'm')
    for (let count = 0; count < 50; count += 1) log.after(1_000).answers('a', 'm')
    const { rows, records } = audited(log.answers('b', 'n'))
    expect(rows.map(({ text, until }) => [text, until])).toEqual([['requests go to a/m', undefined], ['50 answers by a/m', START + 50_000], ['answered by b/n', undefined]])
    expect(of(records, 'answers').map(({ count }) => count)).toEqual([50, 1])
  })

  it('leaves out what a fork took over from its parent', () => {
    const log = new TestLog('child', { parentSession: 's1', seedLength: 6 }).turn().asks('a', 'm').fails().ends().row('session/end-seed', {}).turn(2).answers('a', 'm', 2)
    const { totals, head, records } = audited(log)
    expect(head).toMatchObject({ parent: 's1', inherited: 6 })
    expect([totals.refused, totals.answered]).toEqual([0, 1])
    expect(of(records, 'failure')).toEqual([])
  })

  it('leaves it out as well where only a later row says that it was taken over', () => {
    const log = new TestLog('child', { parentSession: 's1' }).turn().asks('a', 'm').fails().waits().ends('aborted').row('session/end-seed', { inherited: true }).turn(2).answers('a', 'm', 2)
    const { totals, head, rows, records } = audited(log)
    expect(head).toMatchObject({ parent: 's1', inherited: 7 })
    expect(totals).toMatchObject({ refused: 0, answered: 1, waits: 0, entries: 0 })
    expect([rows.map(({ text }) => text), records.map(({ record }) => record)]).toEqual([['answered by a/m'], ['answers']])
  })

  it('tells a child that is no fork whole', () => {
    const { totals, rows } = audited(new TestLog('child', { parentSession: 's1' }).turn().asks('a', 'm').fails().waits().ends('aborted'))
    expect([totals.refused, totals.entries, rows.length]).toEqual([1, 1, 4])
  })

  it.each([
    ['killed', 'interrupted', {}], ['stopped', 'aborted', { reason: { kind: 'disposed' } }],
  ])('tells a wait that the end of its host cut off, and the turn that carries the run on: %s', (_name, kind, reason) => {
    const { records, rows } = audited(new TestLog().turn().asks('a', 'm').fails().waits().after(5_000).row('turn/end', { turn: 1, reason: { kind, ...reason } })
      .row('session/end-seed', {}).after(HOUR).turn(2).answers('a', 'm', 2))
    expect(of(records, 'wait')).toEqual([expect.objectContaining({ keptMs: 5_000, endedBy: 'host-ended', outcome: kind })])
    expect(of(records, 'continuation')).toEqual([{ record: 'continuation', at: START + HOUR + 5_000, seq: expect.any(Number), turn: 2, ofTurn: 1, dueAt: START + HOUR }])
    expect(rows.map(({ text }) => text)).toContain('the run of turn 1 goes on in turn 2, 5 s after the time it waited for when the host ended')
  })

  it('counts a wait that was brought forward once', () => {
    const early = (log: TestLog) => log.row('llm/retry', { turn: 1, step: 1, retryId: 'e', retry: 1, provider: 'a', mode: 'always', delayMs: 0, failure: SPENT, policyKey: JSON.stringify(['llm-quota-retry', 'wait', HOUR, 'asked']) })
    const { records, totals } = audited(early(new TestLog().turn().asks('a', 'm').fails().waits().after(5_000)).starts(1, 'e').answers('a', 'm'))
    expect(of(records, 'wait')).toMatchObject([{ sameAttempt: false, endedBy: 'replaced', keptMs: 5_000 }, { sameAttempt: true, endedBy: 'attempt', keptMs: 0, attempt: 1 }])
    expect(totals).toMatchObject({ waits: 1, attempts: 1, waitedMs: 5_000 })
  })

  it('holds settings that were asked for to what became of them', () => {
    const run = (commandId: string, args: string) => ['command/run', { commandId, name: 'quota-pool', args }] as const
    const { records } = audited(new TestLog().row(...run('1', ' p')).row('command/done', { commandId: '1', kind: 'success' }).row(...run('2', ' q')).row('command/done', { commandId: '2', kind: 'error' }).row(...run('3', ' off')))
    expect(of(records, 'setting').map(({ value, outcome }) => [value, outcome])).toEqual([['p', 'applied'], ['q', 'refused'], ['off', 'unsettled']])
  })

  it('reads a refusal as the live plugin does', () => {
    const [failure] = of(audited(new TestLog().turn().asks('a', 'm').fails(SPENT)).records, 'failure')
    expect(failure).toMatchObject({ route: { provider: 'a', model: 'm' }, kind: 'spent-allowance', rule: 'host-quota', confidence: 'certain', status: 402 })
  })
})
