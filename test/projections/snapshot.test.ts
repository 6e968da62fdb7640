import { describe, expect, it } from 'vitest'
import { retrySnapshot } from '../../src/projections/snapshot.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { HOUR, log, type Log, MINUTE, NOON, waitingLog } from '../support/build.ts'

const CONFIG = { defaultEnabled: true, resumeOnStart: true, transient: { enabled: true } }
const snapshot = (given: Log, config = CONFIG) => retrySnapshot(foldSession(given.rows), config)

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

  it('names the attempt of a run that the end of its host cut off, where somebody takes it up', () => {
    const cut = waitingLog().after(MINUTE).crashes()
    expect(snapshot(cut)).toMatchObject({ pending: false, nextAttemptAt: NOON + HOUR })
    expect(snapshot(cut, { ...CONFIG, resumeOnStart: false })).not.toHaveProperty('nextAttemptAt')
    expect(snapshot(cut, { ...CONFIG, defaultEnabled: false })).not.toHaveProperty('nextAttemptAt')
    expect(snapshot(log().head({ parentSession: 'p' }).turn().step().asks().refused().waits(HOUR).after(MINUTE).crashes())).not.toHaveProperty('nextAttemptAt')
  })

  it('is frozen, and stays what it was', () => {
    const before = snapshot(waitingLog())!
    expect(() => { (before as { attempts: number }).attempts = 9 }).toThrow(TypeError)
    expect(before.attempts).toBe(1)
  })
})
