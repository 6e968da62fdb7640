import type { Clock } from './clock.ts'
import type { Scheduler } from './scheduler.ts'

/**
 * Shortest time between two of those who follow, in ms: never more than five in any second, so that a provider that
 * just came back is not knocked over, and five hundred are through in under two minutes.
 */
export const RAMP_SPACING_MS = 200
/** Jitter on top, in ms, always positive. */
export const RAMP_JITTER_MS = 10

/** Lets those who wait for a route follow one after another. */
export class Ramp {
  /** Epoch ms at which the request was sent whose answer opened it. */
  readonly since: number
  private cancelAlarm: () => void = () => {}
  private closed = false

  /**
   * @param parts - time and randomness.
   * @param release - lets the next one go, and says whether more are left.
   * @param since - epoch ms at which the request was sent whose answer opened it.
   */
  constructor(parts: { readonly scheduler: Scheduler; readonly clock: Clock; readonly random: () => number }, release: () => boolean, since: number) {
    this.since = since
    const next = (): void => {
      const gap = RAMP_SPACING_MS + RAMP_JITTER_MS * parts.random()
      this.cancelAlarm = parts.scheduler.at(parts.clock.now() + gap, () => {
        if (!this.closed && release() && !this.closed) next()
      })
    }
    next()
  }

  /** Let nobody follow any more. */
  close(): void {
    this.closed = true
    this.cancelAlarm()
  }
}
