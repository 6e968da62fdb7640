import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Scheduler, TICK_MS } from '../../src/host/scheduler.ts'
import { HOUR, MINUTE } from '../support/build.ts'
import { FakeClock } from '../support/fake-clock.ts'

type Act =
  | { readonly do: 'set'; readonly inMs: number; readonly then?: number | undefined }
  | { readonly do: 'cancel'; readonly which: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'step'; readonly ms: number }

const span = fc.oneof(fc.integer({ min: 0, max: 3 * MINUTE }), fc.integer({ min: 0, max: 3 * HOUR }))
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('set' as const), inMs: fc.integer({ min: -HOUR, max: 2 * HOUR }), then: fc.option(fc.integer({ min: -MINUTE, max: HOUR }), { nil: undefined }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: span }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('step' as const), ms: fc.integer({ min: -2 * HOUR, max: 4 * HOUR }) }) },
)

interface Watched {
  readonly deadline: number
  fired: number
  cancelled: boolean
  cancel: () => void
  /** Timer time since which the wall clock has stood past the deadline. */
  pastSince: number | undefined
}

/** A scheduler under watch: after every act each alarm is held against what it promises. */
class Watch {
  readonly clock = new FakeClock()
  readonly scheduler = new Scheduler(this.clock, (error) => { throw error })
  readonly alarms: Watched[] = []
  /** Ms by which the wall clock was set forward so far. */
  forward = 0

  set(inMs: number, then?: number): void {
    const [setAt, forward] = [this.clock.elapsed, this.forward]
    const alarm: Watched = { deadline: this.clock.wall + inMs, fired: 0, cancelled: false, cancel: () => {}, pastSince: undefined }
    this.alarms.push(alarm)
    alarm.cancel = this.scheduler.at(alarm.deadline, () => {
      alarm.fired += 1
      expect(alarm.fired).toBe(1)
      expect(alarm.cancelled).toBe(false)
      // Never before its deadline by the wall clock, nor before its time has passed where that was set back.
      expect(this.clock.wall >= alarm.deadline || this.clock.elapsed - setAt + this.forward - forward >= inMs).toBe(true)
      if (then !== undefined) this.set(then)
    })
  }

  step(ms: number): void {
    this.clock.step(ms)
    this.forward += Math.max(0, ms)
  }

  cancel(which: number): void {
    const alarm = this.alarms[which]
    if (alarm === undefined) return
    alarm.cancel()
    if (alarm.fired === 0) alarm.cancelled = true
  }

  /** Small strides, so that lateness is noticed where it begins. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= 20_000) {
      this.clock.pass(Math.min(left, 20_000))
      this.check()
    }
  }

  check(): void {
    const { wall, elapsed } = this.clock
    for (const alarm of this.alarms) {
      if (alarm.fired > 0 || alarm.cancelled) continue
      if (wall < alarm.deadline) alarm.pastSince = undefined
      else alarm.pastSince ??= elapsed
      if (alarm.pastSince !== undefined) expect(elapsed - alarm.pastSince).toBeLessThanOrEqual(TICK_MS)
    }
    const waiting = this.alarms.filter(({ fired, cancelled }) => fired === 0 && !cancelled).length
    expect(this.scheduler.size).toBe(waiting)
    // One timer for all of them, and none for nothing.
    expect(this.clock.pending).toBe(waiting > 0 ? 1 : 0)
  }
}

function run(acts: readonly Act[]): Watch {
  const watch = new Watch()
  for (const next of acts) {
    if (next.do === 'set') watch.set(next.inMs, next.then)
    else if (next.do === 'cancel') watch.cancel(next.which)
    else if (next.do === 'pass') watch.pass(next.ms)
    else watch.step(next.ms)
    watch.check()
  }
  return watch
}

describe('the scheduler, whatever the clocks do', () => {
  it('fires every alarm once, not before its deadline, and within a tick of the clock passing it', () => {
    fc.assert(fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const watch = run(acts)
      const last = Math.max(0, ...watch.alarms.map(({ deadline }) => deadline - watch.clock.wall))
      // What still waits comes due by time alone, chained alarms included.
      watch.pass(last + 2 * HOUR)
      for (const { fired, cancelled } of watch.alarms) expect(fired).toBe(cancelled ? 0 : 1)
      expect([watch.scheduler.size, watch.clock.pending]).toEqual([0, 0])
    }), { numRuns: 150 })
  })

  it('fires what is due together in the order of deadlines', () => {
    fc.assert(fc.property(fc.array(fc.nat(50), { maxLength: 60 }), fc.array(fc.nat(59), { maxLength: 30 }), (deadlines, cancels) => {
      const clock = new FakeClock()
      const scheduler = new Scheduler(clock)
      const fired: [number, number][] = []
      const alarms = deadlines.map((inMs, index) => scheduler.at(clock.wall + inMs, () => { fired.push([inMs, index]) }))
      for (const which of cancels) alarms[which]?.()
      clock.step(HOUR)
      clock.pass(TICK_MS)
      const expected = deadlines.map((inMs, index): [number, number] => [inMs, index]).filter(([, index]) => !cancels.includes(index))
      expect(fired).toEqual(expected.sort(([a, i], [b, j]) => a - b || i - j))
    }), { numRuns: 300 })
  })
})
