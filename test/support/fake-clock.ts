import type { Clock } from '../../src/host/clock.ts'
import { NOON } from './build.ts'

interface Timer {
  readonly due: number
  readonly order: number
  readonly run: () => void
}

/**
 * A clock with two times, as a real machine has: the wall clock, which may step and goes on while the machine sleeps,
 * and the time that timers count, which does neither.
 */
export class FakeClock implements Clock {
  /** Epoch ms of the wall clock. */
  wall = NOON
  /** Ms that timers have counted. */
  elapsed = 0
  private readonly timers = new Map<number, Timer>()
  private order = 0

  now(): number {
    return this.wall
  }

  ticks(): number {
    return this.elapsed
  }

  after(run: () => void, delayMs: number): () => void {
    const order = this.order++
    this.timers.set(order, { due: this.elapsed + delayMs, order, run })
    return () => { this.timers.delete(order) }
  }

  /** Timers that are set. */
  get pending(): number {
    return this.timers.size
  }

  /** Let both times pass, firing timers on the way. */
  pass(ms: number): void {
    const end = this.elapsed + ms
    for (let timer = this.next(end); timer !== undefined; timer = this.next(end)) {
      this.wall += timer.due - this.elapsed
      this.elapsed = timer.due
      this.timers.delete(timer.order)
      timer.run()
    }
    this.wall += end - this.elapsed
    this.elapsed = end
  }

  /** Move the wall clock alone: a step of the clock, or a sleep of the machine. */
  step(ms: number): void {
    this.wall += ms
  }

  private next(end: number): Timer | undefined {
    let best: Timer | undefined
    for (const timer of this.timers.values()) {
      if (timer.due <= end && (best === undefined || timer.due < best.due || (timer.due === best.due && timer.order < best.order))) best = timer
    }
    return best
  }
}
