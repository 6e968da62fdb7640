import { describe, expect, it } from 'vitest'
import { waitKey } from '../../src/events/policy-key.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { chainKey } from '../../src/reducers/step.ts'
import { HOUR, log, type Log, refusedLog, SPENT, THROTTLED, waitingLog } from '../support/build.ts'

const step = (given: Log) => foldSession(given.rows).step
const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'n' }

describe('the place of the loop', () => {
  it('opens and closes with turns and steps', () => {
    expect(step(log().turn())).toMatchObject({ turn: 1, step: null })
    expect(step(log().turn().step().step())).toMatchObject({ turn: 1, step: 2 })
    expect(step(log().turn().step().endStep())).toMatchObject({ turn: 1, step: null })
    expect(step(log().turn().step().endTurn('completed'))).toMatchObject({ turn: null, step: null })
  })

  it('is nowhere after a crash, even one that no turn/end tells of', () => {
    expect(step(refusedLog().event('session/end-seed', {}))).toMatchObject({ turn: null, step: null, chains: {}, refused: [] })
  })
})

describe('the route', () => {
  it('is the one of the last header, and stays across turns', () => {
    expect(step(log().turn().asks('a', 'm', 'high').endTurn('completed').turn().asks('b', 'n').cancels()))
      .toMatchObject({ route: B, reasoningEffort: null })
  })
})

describe('a chain of retries', () => {
  it('goes on for one policy, provider and step, so that its numbers have no gap', () => {
    const key = chainKey('a', waitKey({ intervalMs: HOUR, cause: 'interval' }))
    expect(step(waitingLog().starts().refused().waits()).chains[key]).toMatchObject({ retry: 2 })
    expect(step(waitingLog().starts().refused().retries()).chains[key]).toMatchObject({ retry: 1 })
    expect(step(waitingLog().starts().step()).chains).toEqual({})
  })

  it('is another for another cause', () => {
    expect(Object.keys(step(waitingLog().starts().refused().waits(HOUR, { cause: 'hint' })).chains)).toHaveLength(2)
  })
})

describe('the routes that refused', () => {
  it('are each listed once, until a wait opens a new round', () => {
    const both = refusedLog().refused().asks('b', 'n').refused()
    expect(step(both).refused).toEqual([{ route: A, failure: SPENT }, { route: B, failure: SPENT }])
    expect(step(both.waits()).refused).toEqual([])
  })

  it('are listed with what they said last, in the order of their first refusals', () => {
    const given = log().turn().asks('a', 'm').refused(THROTTLED).asks('b', 'n').refused().asks('a', 'm').refused()
    expect(step(given).refused).toEqual([{ route: A, failure: SPENT }, { route: B, failure: SPENT }])
  })

  it('are forgotten with the step', () => {
    expect(step(refusedLog().endStep()).refused).toEqual([])
  })

  it('are the same in both shapes of a failed attempt', () => {
    expect(step(log().turn().asks().refusedInAttempt()).refused).toEqual(step(log().turn().asks().refused()).refused)
  })
})
