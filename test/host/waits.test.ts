import { beforeEach, describe, expect, it } from 'vitest'
import { Scheduler } from '../../src/host/scheduler.ts'
import { type WakeReason, Waits } from '../../src/host/waits.ts'
import { HOUR, MINUTE } from '../support/build.ts'
import { FakeClock } from '../support/fake-clock.ts'

const ann = { name: 'ann' }
const bob = { name: 'bob' }
let clock: FakeClock
let scheduler: Scheduler
let waits: Waits<object>
let ended: string[]

beforeEach(() => {
  clock = new FakeClock()
  scheduler = new Scheduler(clock)
  waits = new Waits(scheduler)
  ended = []
})
function begin(key: { name: string }, inMs = HOUR, signal = new AbortController().signal): Promise<WakeReason> {
  const wait = waits.begin(key, clock.wall + inMs, signal)
  void wait.then((reason) => { ended.push(`${key.name} ${reason}`) })
  return wait
}
const settled = async (): Promise<string[]> => {
  await Promise.resolve()
  return ended
}

describe('a wait ends once', () => {
  it('when it is due', async () => {
    begin(ann)
    clock.pass(HOUR - 1)
    expect(await settled()).toEqual([])
    clock.pass(1)
    expect(await settled()).toEqual(['ann due'])
    expect([waits.size, scheduler.size]).toEqual([0, 0])
  })

  it.each(['asked', 'disabled'] as const)('when it is %s, and not again when it would have been due', async (reason) => {
    begin(ann)
    expect([waits.end(ann, reason), waits.end(ann, reason)]).toEqual([true, false])
    clock.pass(2 * HOUR)
    expect(await settled()).toEqual([`ann ${reason}`])
  })

  it('when its signal aborts, leaving no alarm behind', async () => {
    const abort = new AbortController()
    begin(ann, HOUR, abort.signal)
    abort.abort()
    expect(await settled()).toEqual(['ann aborted'])
    expect([waits.size, scheduler.size, clock.pending]).toEqual([0, 0, 0])
  })

  it('before it begins when its signal has aborted already', async () => {
    expect(await begin(ann, HOUR, AbortSignal.abort())).toBe('aborted')
    expect([waits.size, scheduler.size]).toEqual([0, 0])
  })

  it('when everything is closed', async () => {
    begin(ann)
    begin(bob)
    waits.close()
    expect(await settled()).toEqual(['ann aborted', 'bob aborted'])
  })
})

describe('the waits of one session', () => {
  it('are one at a time: a newer one ends the older, whose signal then ends nothing', async () => {
    const older = new AbortController()
    begin(ann, MINUTE, older.signal)
    begin(ann, HOUR)
    older.abort()
    clock.pass(MINUTE)
    expect(await settled()).toEqual(['ann aborted'])
    expect(waits.size).toBe(1)
  })

  it('are nobody else\'s', async () => {
    begin(ann)
    begin(bob)
    waits.end(ann, 'asked')
    expect(await settled()).toEqual(['ann asked'])
    expect(waits.end({ name: 'eve' }, 'asked')).toBe(false)
  })
})

describe('bringing an attempt forward', () => {
  it('ends the wait then, once', async () => {
    begin(ann)
    waits.bringForward(ann, clock.wall + MINUTE)
    clock.pass(MINUTE)
    expect(await settled()).toEqual(['ann due'])
    clock.pass(2 * HOUR)
    expect(await settled()).toEqual(['ann due'])
  })

  it('never delays it', async () => {
    begin(ann, MINUTE)
    waits.bringForward(ann, clock.wall + HOUR)
    waits.bringForward(ann, clock.wall + MINUTE)
    clock.pass(MINUTE)
    expect(await settled()).toEqual(['ann due'])
  })

  it('to the past ends it at once, though not within the call', async () => {
    begin(ann)
    waits.bringForward(ann, clock.wall - 1)
    expect(await settled()).toEqual([])
    clock.pass(0)
    expect(await settled()).toEqual(['ann due'])
  })

  it('does nothing for a session that does not wait', () => {
    waits.bringForward(ann, clock.wall)
    expect([waits.size, scheduler.size]).toEqual([0, 0])
  })
})
