import { describe, expect, it } from 'vitest'
import { evolveEvent, initialState } from '../../src/reducers/session.ts'
import { type Transition, transitions } from '../../src/reducers/transitions.ts'
import { log, type Log, refusedLog, waitingLog } from '../support/build.ts'

function found(given: Log): Transition[] {
  let state = initialState
  return given.rows.flatMap((row) => {
    const before = state
    state = evolveEvent(state, row)
    return transitions(before, state)
  })
}
const types = (given: Log): string[] => found(given).map(({ type }) => type)

describe('what is announced', () => {
  it('is one entered and one left for an entry, however many waits it has', () => {
    expect(types(waitingLog().starts().refused().waits().starts().answers())).toEqual(['entered', 'left'])
  })

  it('is no left for a cancelled turn, and no second entered for the wait after it', () => {
    expect(types(waitingLog().cancels())).toEqual(['entered'])
    expect(types(waitingLog().cancels().turn().step().refused().waits())).toEqual(['entered'])
  })

  it('says why the entry was left', () => {
    expect(found(waitingLog().command('/quota-retry off')).at(-1)).toMatchObject({ type: 'left', entry: { reason: 'disabled' } })
    expect(found(waitingLog().starts().answers()).at(-1)).toMatchObject({ type: 'left', entry: { reason: 'recovered' } })
  })

  it('is a move when it is planned, and not again when it is confirmed', () => {
    expect(types(refusedLog().moves('p', 'b', 'n').starts().asks('b', 'n').answers())).toEqual(['failover'])
  })

  it('is nothing for a fork, whose parent announced its own', () => {
    expect(types(waitingLog().forks())).toEqual(['entered'])
    expect(types(waitingLog().starts().answers().forks())).toEqual(['entered', 'left'])
  })

  it('is nothing while all is well', () => {
    expect(types(log().turn().asks().answers().command('/quota-retry off'))).toEqual([])
  })
})
