import { describe, expect, it } from 'vitest'
import { foldSession } from '../../src/reducers/session.ts'
import { log, type Log, NOON, refusedLog, SPENT } from '../support/build.ts'

const failovers = (given: Log) => foldSession(given.rows).failovers
const moved = (): Log => refusedLog().moves('p', 'b', 'n')

describe('a move', () => {
  it('says where from, where to and why', () => {
    expect(failovers(moved())).toEqual({
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

  it('counts with the next, when both routes of a step refuse', () => {
    expect(failovers(moved().starts().asks('b', 'n').refused().moves('p', 'c', 'o')))
      .toMatchObject({ count: 2, last: { from: { provider: 'b' }, to: { provider: 'c' }, confirmed: false } })
  })
})
