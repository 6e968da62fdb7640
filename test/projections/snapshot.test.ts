import { describe, expect, it } from 'vitest'
import { retrySnapshot } from '../../src/projections/snapshot.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { HOUR, log, type Log, MINUTE, NOON, waitingLog } from '../support/build.ts'

const snapshot = (given: Log) => retrySnapshot(foldSession(given.rows))

describe('the snapshot of the service', () => {
  it('is none while the session has allowance', () => {
    expect(snapshot(log())).toBeUndefined()
    expect(snapshot(waitingLog().starts().answers())).toBeUndefined()
  })

  it('has every field of a pending wait', () => {
    expect(snapshot(waitingLog())).toEqual({
      pending: true, attempts: 1, enteredAt: NOON, since: NOON, nextAttemptAt: NOON + HOUR, provider: 'a', model: 'm', turn: 1, step: 1, reason: '402: Insufficient Balance',
    })
  })

  it('names no next attempt when none is armed', () => {
    expect(snapshot(waitingLog().after(MINUTE).cancels())).not.toHaveProperty('nextAttemptAt')
    expect(snapshot(waitingLog().after(MINUTE).cancels())).toMatchObject({ pending: false, enteredAt: NOON })
  })

  it('is frozen, and stays what it was', () => {
    const before = snapshot(waitingLog())!
    expect(() => { (before as { attempts: number }).attempts = 9 }).toThrow(TypeError)
    expect(before.attempts).toBe(1)
  })
})
