import { SimClock } from '../sim/clock.ts'

/** Simulated time whose wall clock steps: timers count on, the time of day jumps. */
export class SoakClock extends SimClock {
  private offset = 0

  override now(): number {
    return super.now() + this.offset
  }

  /** Epoch ms of the time that passed, steps left out. */
  get elapsed(): number {
    return super.now()
  }

  /**
   * Set the wall clock.
   *
   * @param ms - forward, or back.
   */
  step(ms: number): void {
    this.offset += ms
  }
}
