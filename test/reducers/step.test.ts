import { describe, expect, it } from 'vitest'
import { moveKey, waitKey } from '../../src/events/policy-key.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { chainOf } from '../../src/reducers/step.ts'
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
    expect(step(refusedLog().event('session/end-seed', {}))).toMatchObject({ turn: null, step: null, chains: { recent: {}, earlier: {} }, refused: [] })
  })
})

describe('the route', () => {
  it('is the one of the last header, and stays across turns', () => {
    expect(step(log().turn().asks('a', 'm', 'high').endTurn('completed').turn().asks('b', 'n').cancels()))
      .toMatchObject({ route: B, reasoningEffort: null })
  })
})

describe('a chain of retries', () => {
  const plain = waitKey({ intervalMs: HOUR, cause: 'interval' })
  const chain = (given: Log, policyKey = plain, provider = 'a') => chainOf(step(given), provider, policyKey)

  it('goes on for one policy, provider and step, so that its numbers have no gap', () => {
    expect(chain(waitingLog())).toEqual({ retryId: expect.any(String) as string, retry: 1 })
    expect(chain(waitingLog().starts().refused().waits())).toMatchObject({ retry: 2, retryId: chain(waitingLog())!.retryId })
    expect(chain(waitingLog().starts().refused().moves('p', 'b', 'n'), moveKey('p', 'b', 'n'))).toMatchObject({ retry: 1 })
    expect(chain(waitingLog(), plain, 'b')).toBeUndefined()
    expect(chain(waitingLog().starts().step())).toBeUndefined()
    expect(chain(waitingLog().starts().endStep())).toBeUndefined()
    expect(chain(waitingLog().crashes())).toBeUndefined()
  })

  it('is another for another cause', () => {
    const both = waitingLog().starts().refused().waits(HOUR, { cause: 'hint' })
    expect([chain(both), chain(both, waitKey({ intervalMs: HOUR, cause: 'hint' }))]).toMatchObject([{ retry: 1 }, { retry: 1 }])
  })

  it('is nobody\'s business where the policy is not ours', () => {
    expect(step(refusedLog().retries()).chains).toEqual({ recent: {}, earlier: {} })
  })

  it('is remembered however many there are besides, those of the first of them too', () => {
    const given = refusedLog()
    for (let round = 1; round <= 2; round += 1) {
      for (let index = 0; index < 1_000; index += 1) given.moves('p', `p${index}`, 'm').starts()
      const stands = step(given)
      const numbers = Array.from({ length: 1_000 }, (_, index) => chainOf(stands, 'a', moveKey('p', `p${index}`, 'm'))?.retry)
      expect(new Set(numbers)).toEqual(new Set([round]))
    }
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
