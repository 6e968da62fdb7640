import { describe, expect, it } from 'vitest'
import { foldSession } from '../../src/reducers/session.ts'
import { log, type Log, NOON, refusedLog, SPENT } from '../support/build.ts'
import { notes } from '../support/live.ts'

const failovers = (given: Log) => foldSession(given.rows).failovers
const moved = (): Log => refusedLog().moves('p', 'b', 'n')

describe('a move', () => {
  it('says where from, where to and why', () => {
    expect(failovers(moved())).toMatchObject({
      count: 1,
      last: { from: { provider: 'a', model: 'm' }, to: { provider: 'b', model: 'n' }, pool: 'p', at: NOON, turn: 1, step: 1, failure: SPENT, confirmed: false },
    })
  })

  it('does not guess the model that refused', () => {
    expect(failovers(log().turn().step().refused().moves('p', 'b', 'n')).last).toMatchObject({ from: null })
  })

  it('is confirmed by the header of its request', () => {
    expect(failovers(moved().starts().asks('b', 'n')).last).toMatchObject({ confirmed: true })
  })

  it('is not confirmed by another route, nor by a later turn that came to the target by itself', () => {
    expect(failovers(moved().starts().asks('c', 'o')).last).toMatchObject({ confirmed: false })
    expect(failovers(moved().cancels().turn().asks('b', 'n')).last).toMatchObject({ confirmed: false })
  })

  it('is no failover while the session is out of allowance, until another route than the one it was on answers', () => {
    const asking = () => refusedLog().moves('p', 'b', 'n').starts().asks('b', 'n').refused().waits().starts().moves('p', 'a', 'm').starts().asks('a', 'm')
    expect(failovers(asking())).toMatchObject({ count: 1, moves: 2, last: { to: { provider: 'a' } }, lastFailover: { to: { provider: 'b' } } })
    expect(failovers(asking().answers())).toMatchObject({ count: 2, moves: 2, lastFailover: { from: { provider: 'b' }, to: { provider: 'a' } } })
    const back = asking().refused().moves('p', 'b', 'n').starts().asks('b', 'n').answers()
    expect(failovers(back)).toMatchObject({ count: 1, moves: 3, lastFailover: { to: { provider: 'b' } } })
  })

  it('before sending has no refusal, and is no failover', () => {
    const given = log().turn().step()
    notes(given, { kind: 'moved', base: { provider: 'a', model: 'm' }, from: { provider: 'a', model: 'm' }, to: { provider: 'b', model: 'n' }, pool: 'p', why: 'marked' })
    expect(failovers(given)).toMatchObject({ count: 0, moves: 1, last: { failure: null, why: 'marked', confirmed: false, turn: 1, step: 1 } })
    expect(failovers(given.asks('b', 'n')).last).toMatchObject({ confirmed: true })
  })

  it('counts with the next, when both routes of a step refuse', () => {
    expect(failovers(moved().starts().asks('b', 'n').refused().moves('p', 'c', 'o')))
      .toMatchObject({ count: 2, last: { from: { provider: 'b' }, to: { provider: 'c' }, confirmed: false } })
  })
})
