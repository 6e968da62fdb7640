import type { Route } from '../events/route.ts'
import type { Clock } from './clock.ts'
import type { Scheduler } from './scheduler.ts'

/**
 * Shortest time between two of those who follow, in ms: never more than five in any second, so that a provider that
 * just came back is not knocked over, and five hundred are through in under two minutes.
 */
export const RAMP_SPACING_MS = 200
/** Jitter on top, in ms, always positive. */
export const RAMP_JITTER_MS = 10

/** What a ramp works with. */
export interface RampParts {
  readonly scheduler: Scheduler
  readonly clock: Clock
  /** A number from 0 to 1. */
  readonly random: () => number
}

const idOf = ({ provider, model }: Route): string => JSON.stringify([provider, model])

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
  constructor(parts: RampParts, release: () => boolean, since: number) {
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

/** The ramps of routes that answer again. */
export class Ramps {
  private readonly parts: RampParts
  private readonly open = new Map<string, Ramp>()

  /**
   * @param parts - time and randomness.
   */
  constructor(parts: RampParts) {
    this.parts = parts
  }

  /**
   * Whether those who wait for a route are on their way.
   *
   * @param route - the route.
   */
  has(route: Route): boolean {
    return this.open.has(idOf(route))
  }

  /**
   * Let those who wait for a route follow.
   *
   * @param route - the route.
   * @param since - epoch ms at which the request was sent whose answer opens it.
   * @param release - lets the next one go, and says whether more are left.
   */
  start(route: Route, since: number, release: () => boolean): void {
    const id = idOf(route)
    if (this.open.has(id)) return
    this.open.set(id, new Ramp(this.parts, () => {
      const more = release()
      if (!more) this.open.delete(id)
      return more
    }, since))
  }

  /**
   * Let nobody follow any more, unless the refused request was sent before the one whose answer opened the route.
   *
   * @param route - the route.
   * @param sentAt - epoch ms at which the refused request was sent.
   * @returns whether the route was open.
   */
  stop(route: Route, sentAt: number): boolean {
    const id = idOf(route)
    const ramp = this.open.get(id)
    if (ramp === undefined || sentAt < ramp.since) return false
    ramp.close()
    return this.open.delete(id)
  }

  /** Let nobody follow anywhere. */
  close(): void {
    for (const ramp of this.open.values()) ramp.close()
    this.open.clear()
  }
}
