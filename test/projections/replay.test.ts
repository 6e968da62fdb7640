import { describe, expect, it } from 'vitest'
import { replay } from '../../src/projections/replay.ts'
import { timeline } from '../../src/projections/timeline.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { HOUR, log, type Log, NOON, refusedLog, waitingLog } from '../support/build.ts'

describe('a replayed log', () => {
  it('holds every entry in order, an open one last', () => {
    const history = replay(waitingLog().starts().answers().refused().waits().command('/quota-retry off').command('/quota-retry on').refused().waits().rows)
    expect(history.entries).toMatchObject([{ reason: 'recovered' }, { reason: 'disabled' }, { attempts: 1, wait: { retry: 3 } }])
    expect(history).toMatchObject({ session: 's1', failures: 3, answers: 1, route: { provider: 'a' } })
  })

  it('holds every move once, confirmed in place', () => {
    const history = replay(refusedLog().moves('p', 'b', 'n').starts().asks('b', 'n').refused().moves('p', 'c', 'o').rows)
    expect(history.failovers).toMatchObject([{ to: { provider: 'b' }, confirmed: true }, { to: { provider: 'c' }, confirmed: false }])
  })

  it('ends in the very state of the live fold', () => {
    const { rows } = waitingLog().starts().refused().waits()
    expect(replay(rows).state).toEqual(foldSession(rows))
    expect(replay(rows).moments.at(-1)?.state).toEqual(foldSession(rows))
  })

  it('reads both shapes of a failed attempt alike', () => {
    const [early, late] = [log().turn().asks().refused(), log().turn().asks().refusedInAttempt()].map(({ rows }) => replay(rows))
    expect(late).toEqual(early)
  })

  const parent = (): Log => refusedLog().moves('p', 'b', 'n').starts().asks('b', 'n').refused().waits().starts().answers().refused().waits().cancels()
  const headed = ({ rows }: Log, head: object): unknown[] => [{ ...(rows[0] as object), parentSession: 's0', ...head }, ...rows.slice(1)]
  const later = (rows: readonly any[]): unknown[] => rows.slice(1).map(row => ({ ...row, seq: row.seq + 100 }))

  it.each([
    ['a log that says where the own history begins', headed(parent().forks(), {})],
    ['an older log, whose head says how long the seed is', headed(parent().forks(false), { seedLength: parent().rows.length - 1 })],
  ])('of a fork leaves out what happened in its parent: %s', (_name, rows) => {
    const fork = replay(rows)
    expect(fork).toMatchObject({ entries: [], failovers: [], failures: 0, answers: 0, ownFrom: fork.moments.length })
    expect(timeline(fork).map(({ what }) => what)).toEqual(['session s1, child of s0'])
    const own = replay([...rows, ...later(refusedLog().waits().starts().answers().rows)])
    expect(own).toMatchObject({ entries: [{ reason: 'recovered', attempts: 1 }], failovers: [], failures: 1, answers: 1 })
    expect(own.moments[own.ownFrom]?.fact.type).toBe('turnStarted')
  })

  it('of a fork that ends within what it took over is empty', () => {
    expect(replay(headed(parent(), { seedLength: parent().rows.length + 10 }))).toMatchObject({ entries: [], failovers: [], failures: 0, answers: 0 })
  })

  it('takes the journal along', () => {
    const mark = { type: 'providerMarked', provider: 'a', at: NOON, until: NOON + HOUR, rule: 'r', message: 'spent' }
    expect(replay([], [mark, 'damage']).journal.marks).toHaveProperty('a')
  })

  it('passes over damage', () => {
    expect(replay([null, 'torn', {}, ...waitingLog().rows, { type: 'turn/end' }]).entries).toHaveLength(1)
    expect(replay([])).toMatchObject({ session: null, entries: [], failovers: [], failures: 0, moments: [] })
  })
})
