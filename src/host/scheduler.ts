import type { Clock } from './clock.ts'

/** Longest time between two looks at the clock, in ms: a sleep or a clock step is noticed within it. */
export const TICK_MS = 60_000
/** Two clocks of one machine differ by less than this between two looks, in ms; by more when one of them was set. */
const STEP_MS = 1_000

interface Alarm {
  deadline: number
  /** The deadline on the clock that nobody sets. */
  readonly ticks: number
  readonly order: number
  readonly run: () => void
  cancelled: boolean
}

const before = (a: Alarm, b: Alarm): boolean =>
  a.deadline < b.deadline || (a.deadline === b.deadline && a.order < b.order)

/** A binary heap of alarms, the earliest first. */
class Heap {
  private readonly items: Alarm[] = []

  get first(): Alarm | undefined {
    return this.items[0]
  }

  push(alarm: Alarm): void {
    let index = this.items.push(alarm) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.swapIfBefore(index, parent)) return
      index = parent
    }
  }

  pop(): Alarm | undefined {
    const top = this.items[0]
    const last = this.items.pop()
    if (top === undefined || last === undefined || top === last) return top
    this.items[0] = last
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const right = left + 1
      const child = this.earlier(right, left) ? right : left
      if (!this.swapIfBefore(child, index)) return top
      index = child
    }
  }

  /** Bring deadlines forward to where the clock that nobody sets has them. */
  follow(now: number, ticks: number): void {
    for (const alarm of this.items) alarm.deadline = Math.min(alarm.deadline, now + alarm.ticks - ticks)
    this.compact()
  }

  /** Rebuild without the cancelled ones. */
  compact(): void {
    const live = this.items.filter(alarm => !alarm.cancelled)
    this.items.length = 0
    for (const alarm of live) this.push(alarm)
  }

  private earlier(a: number, b: number): boolean {
    const [first, second] = [this.items[a], this.items[b]]
    return first !== undefined && second !== undefined && before(first, second)
  }

  private swapIfBefore(a: number, b: number): boolean {
    const [first, second] = [this.items[a], this.items[b]]
    if (first === undefined || second === undefined || !before(first, second)) return false
    this.items[a] = second
    this.items[b] = first
    return true
  }
}

/**
 * One wall-clock scheduler for the whole plugin.
 *
 * A timer counts the time that the process runs; a deadline is a time of day. Between the two lie laptops that sleep,
 * clocks that step, and delays that no timer holds. So deadlines stand in a heap, a single timer wakes at the earliest
 * of them but at least every {@link TICK_MS}, and each wake-up asks the wall clock what is due. A clock that was set back
 * takes its deadlines along: what was an hour away stays an hour away.
 */
export class Scheduler {
  private readonly heap = new Heap()
  private readonly clock: Clock
  private readonly onError: (error: unknown) => void
  private cancelTimer: (() => void) | undefined
  private wakeAt = Number.POSITIVE_INFINITY
  private order = 0
  private live = 0
  private dead = 0
  private closed = false
  /** Where the wall clock stood against the one that nobody sets, in ms; it grows while the machine sleeps. */
  private offset: number

  /**
   * @param clock - the wall clock and its timers.
   * @param onError - told of an alarm that throws; the others still fire.
   */
  constructor(clock: Clock, onError: (error: unknown) => void = () => {}) {
    this.clock = clock
    this.onError = onError
    this.offset = clock.now() - clock.ticks()
  }

  /** Alarms that are set. */
  get size(): number {
    return this.live
  }

  /**
   * Set an alarm. It fires once, at the deadline or within a tick of the moment the clock was found past it.
   *
   * @param deadline - epoch ms; one that has passed fires at the next tick of the event loop.
   * @param run - what to run.
   * @returns a function that cancels the alarm; cancelling one that fired does nothing.
   */
  at(deadline: number, run: () => void): () => void {
    if (this.closed) return () => {}
    this.followStep()
    const ticks = this.clock.ticks() + deadline - this.clock.now()
    const alarm: Alarm = { deadline, ticks, order: this.order++, run, cancelled: false }
    this.heap.push(alarm)
    this.live += 1
    this.arm()
    return () => { this.cancel(alarm) }
  }

  /** Cancel every alarm and the timer. Later ones are ignored. */
  close(): void {
    this.closed = true
    this.cancelTimer?.()
    this.cancelTimer = undefined
    while (this.heap.pop() !== undefined);
    this.live = 0
  }

  private cancel(alarm: Alarm): void {
    if (alarm.cancelled || this.closed) return
    alarm.cancelled = true
    this.live -= 1
    this.dead += 1
    // Cancelled alarms are dropped when they surface; a heap of mostly dead ones is rebuilt.
    if (this.dead > 64 && this.dead > this.live) {
      this.heap.compact()
      this.dead = 0
    }
    if (this.live === 0) this.arm()
  }

  private dropCancelled(): void {
    while (this.heap.first?.cancelled === true) {
      this.heap.pop()
      this.dead = Math.max(0, this.dead - 1)
    }
  }

  private arm(): void {
    this.dropCancelled()
    const first = this.heap.first
    if (first === undefined || this.closed) {
      this.cancelTimer?.()
      this.cancelTimer = undefined
      this.wakeAt = Number.POSITIVE_INFINITY
      return
    }
    const now = this.clock.now()
    const delay = Math.min(Math.max(0, first.deadline - now), TICK_MS)
    // A wake-up that the wall clock has run past (a sleep, a step) may still be most of a tick away in timer time.
    if (this.cancelTimer !== undefined && this.wakeAt >= now && this.wakeAt <= now + delay) return
    this.cancelTimer?.()
    this.wakeAt = now + delay
    this.cancelTimer = this.clock.after(() => { this.wake() }, delay)
  }

  private followStep(): void {
    const [now, ticks] = [this.clock.now(), this.clock.ticks()]
    const back = this.offset - (now - ticks)
    this.offset = now - ticks
    if (back > STEP_MS) this.heap.follow(now, ticks)
  }

  private wake(): void {
    this.followStep()
    this.cancelTimer = undefined
    this.wakeAt = Number.POSITIVE_INFINITY
    for (const alarm of this.takeDue(this.clock.now())) this.fire(alarm)
    this.arm()
  }

  /** What is due is taken before any of it runs: an alarm that sets another for a past deadline must not loop here. */
  private takeDue(now: number): Alarm[] {
    const due: Alarm[] = []
    for (;;) {
      this.dropCancelled()
      const first = this.heap.first
      if (first === undefined || first.deadline > now) return due
      this.heap.pop()
      due.push(first)
    }
  }

  private fire(alarm: Alarm): void {
    // One that ran before may have cancelled this one, or closed the scheduler.
    if (alarm.cancelled || this.closed) return
    alarm.cancelled = true
    this.live -= 1
    try {
      alarm.run()
    } catch (error) {
      this.onError(error)
    }
  }
}
