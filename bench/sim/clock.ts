import { setImmediate as settled } from 'node:timers/promises'
import type { Clock } from '../../src/host/clock.ts'

interface Timer {
  readonly due: number
  readonly order: number
  run: (() => void) | undefined
}

const before = (a: Timer, b: Timer): boolean => a.due < b.due || (a.due === b.due && a.order < b.order)

/**
 * The time of a simulation: it stands still while code runs and then jumps to the next timer. After each timer all the
 * promises that it settled are worked off, so the order of everything is given by the timers alone.
 */
export class SimClock implements Clock {
  private wall: number
  private order = 0
  /** A binary heap, the earliest first. */
  private readonly timers: Timer[] = []

  /**
   * @param start - epoch ms.
   */
  constructor(start: number) {
    this.wall = start
  }

  now(): number {
    return this.wall
  }

  ticks(): number {
    return this.wall
  }

  /** Timers that are set. */
  get pending(): number {
    return this.timers.filter(({ run }) => run !== undefined).length
  }

  after(run: () => void, delayMs: number): () => void {
    const timer: Timer = { due: this.wall + Math.max(0, delayMs), order: this.order++, run }
    this.push(timer)
    return () => { timer.run = undefined }
  }

  /**
   * Time from now, as a promise.
   *
   * @param delayMs - in ms.
   */
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => { this.after(resolve, delayMs) })
  }

  /**
   * Let time pass until something holds, or nothing is left to happen.
   *
   * @param done - asked after each timer.
   * @param until - epoch ms beyond which nothing runs.
   */
  async run(done: () => boolean, until = Number.POSITIVE_INFINITY): Promise<void> {
    await settled()
    while (!done()) {
      const timer = this.timers[0]
      if (timer === undefined || timer.due > until) return
      this.pop()
      const { run } = timer
      if (run === undefined) continue
      this.wall = timer.due
      run()
      await settled()
    }
  }

  private push(timer: Timer): void {
    const { timers } = this
    let index = timers.push(timer) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!before(timer, timers[parent]!)) break
      timers[index] = timers[parent]!
      index = parent
    }
    timers[index] = timer
  }

  private pop(): void {
    const { timers } = this
    const last = timers.pop()!
    if (timers.length === 0) return
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      if (left >= timers.length) break
      const child = left + 1 < timers.length && before(timers[left + 1]!, timers[left]!) ? left + 1 : left
      if (!before(timers[child]!, last)) break
      timers[index] = timers[child]!
      index = child
    }
    timers[index] = last
  }
}
