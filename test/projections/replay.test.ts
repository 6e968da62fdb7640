import { describe, expect, it } from 'vitest'
import { replay } from '../../src/projections/replay.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { HOUR, log, NOON, refusedLog, waitingLog } from '../support/build.ts'

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

  it('takes the journal along', () => {
    const mark = { type: 'providerMarked', provider: 'a', at: NOON, until: NOON + HOUR, rule: 'r', message: 'spent' }
    expect(replay([], [mark, 'damage']).journal.marks).toHaveProperty('a')
  })

  it('passes over damage', () => {
    expect(replay([null, 'torn', {}, ...waitingLog().rows, { type: 'turn/end' }]).entries).toHaveLength(1)
    expect(replay([])).toMatchObject({ session: null, entries: [], failovers: [], failures: 0, moments: [] })
  })
})
