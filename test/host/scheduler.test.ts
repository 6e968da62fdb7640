import { beforeEach, describe, expect, it } from 'vitest'
import { Scheduler, TICK_MS } from '../../src/host/scheduler.ts'
import { HOUR, MINUTE, SECOND } from '../support/build.ts'
import { FakeClock } from '../support/fake-clock.ts'

let clock: FakeClock
let scheduler: Scheduler
let fired: string[]
let errors: unknown[]

beforeEach(() => {
  clock = new FakeClock()
  fired = []
  errors = []
  scheduler = new Scheduler(clock, (error) => { errors.push(error) })
})
/** Set an alarm that notes its name. */
const alarm = (name: string, inMs: number): () => void => scheduler.at(clock.wall + inMs, () => { fired.push(name) })

describe('an alarm', () => {
  it('fires once, at its deadline', () => {
    alarm('a', HOUR)
    clock.pass(HOUR - 1)
    expect(fired).toEqual([])
    clock.pass(1)
    clock.pass(HOUR)
    expect([fired, scheduler.size, clock.pending]).toEqual([['a'], 0, 0])
  })

  it('that is past fires at the next tick of the event loop, never at once', () => {
    alarm('a', -HOUR)
    expect(fired).toEqual([])
    clock.pass(0)
    expect(fired).toEqual(['a'])
  })

  it('further away than any timer reaches is not fired at once', () => {
    alarm('a', 2 ** 31 + HOUR)
    clock.pass(HOUR)
    expect(fired).toEqual([])
  })

  it('fires in the order of deadlines, and of setting where those agree', () => {
    for (const [name, at] of [['d', 4], ['b1', 2], ['a', 1], ['b2', 2], ['c', 3]] as const) alarm(name, at)
    clock.pass(10)
    expect(fired).toEqual(['a', 'b1', 'b2', 'c', 'd'])
  })

  it('that throws is told of, and harms no other', () => {
    scheduler.at(clock.wall + 1, () => { throw new Error('mine') })
    alarm('b', 1)
    clock.pass(1)
    expect([fired, errors]).toEqual([['b'], [new Error('mine')]])
  })

  it('that sets itself again for the past does not hold up the process', () => {
    let rounds = 0
    const again = (): void => { scheduler.at(clock.wall - 1, () => { rounds += 1; if (rounds < 100) again() }) }
    again()
    const { wall } = clock
    scheduler.at(wall, () => { fired.push('other') })
    clock.pass(0)
    expect([rounds, fired]).toEqual([100, ['other']])
  })
})

describe('a wall clock that jumps', () => {
  it('forward fires what it passed within a tick', () => {
    alarm('a', 10 * HOUR)
    clock.pass(SECOND)
    clock.step(24 * HOUR)
    clock.pass(TICK_MS)
    expect(fired).toEqual(['a'])
  })

  it('back costs no alarm more time than it was away, and fires nothing early', () => {
    alarm('a', HOUR)
    clock.step(-24 * HOUR)
    clock.pass(HOUR - 1)
    expect(fired).toEqual([])
    clock.pass(TICK_MS)
    expect(fired).toEqual(['a'])
  })

  it('back between two alarms keeps the time of each', () => {
    alarm('a', HOUR)
    clock.step(-24 * HOUR)
    alarm('b', 2 * HOUR)
    clock.pass(HOUR + TICK_MS)
    expect(fired).toEqual(['a'])
    clock.pass(HOUR)
    expect(fired).toEqual(['a', 'b'])
  })

  it('forward does not delay what is set for right now', () => {
    alarm('far', 10 * HOUR)
    clock.pass(SECOND)
    clock.step(HOUR)
    alarm('now', 0)
    clock.pass(0)
    expect(fired).toEqual(['now'])
  })

  it('back does not leave a nearer alarm to a timer that is far away', () => {
    alarm('far', HOUR)
    clock.step(-5 * MINUTE)
    alarm('near', SECOND)
    clock.pass(SECOND)
    expect(fired).toEqual(['near'])
  })
})

describe('a cancelled alarm', () => {
  it('does not fire, and cancelling it again does nothing', () => {
    const cancel = alarm('a', SECOND)
    alarm('b', SECOND)
    cancel()
    cancel()
    expect(scheduler.size).toBe(1)
    clock.pass(SECOND)
    cancel()
    expect([fired, scheduler.size]).toEqual([['b'], 0])
  })

  it('leaves no timer behind when it was the last', () => {
    alarm('a', HOUR)()
    expect(clock.pending).toBe(0)
  })

  it('may be cancelled by one that fires in the same moment', () => {
    let cancel = (): void => {}
    scheduler.at(clock.wall + 1, () => { cancel() })
    cancel = alarm('b', 1)
    clock.pass(1)
    expect([fired, scheduler.size]).toEqual([[], 0])
  })

  it('costs nothing in the long run: thousands come and go, the rest still fire', () => {
    alarm('a', 3)
    for (let round = 0; round < 5_000; round += 1) alarm('x', 1 + round % 7)()
    alarm('b', 2)
    clock.pass(10)
    expect([fired, scheduler.size, clock.pending]).toEqual([['b', 'a'], 0, 0])
  })
})

describe('a closed scheduler', () => {
  it('fires nothing, takes nothing and holds no timer', () => {
    const cancel = alarm('a', 1)
    scheduler.close()
    alarm('b', 1)
    cancel()
    clock.pass(HOUR)
    expect([fired, scheduler.size, clock.pending]).toEqual([[], 0, 0])
  })

  it('may be closed by an alarm; those due with it do not fire', () => {
    scheduler.at(clock.wall + 1, () => { scheduler.close() })
    const cancel = alarm('b', 1)
    clock.pass(HOUR)
    cancel()
    expect([fired, scheduler.size, clock.pending]).toEqual([[], 0, 0])
  })
})
