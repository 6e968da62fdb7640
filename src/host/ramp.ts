import type { Route } from '../events/route.ts'
import type { Clock } from './clock.ts'
import { type Pace, SPACING_MS } from './pace.ts'
import type { Scheduler } from './scheduler.ts'

/** What a ramp works with. */
export interface RampParts {
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly pace: Pace
}

const idOf = ({ provider, model }: Route): string => JSON.stringify([provider, model])

/** Lets those who wait for a route follow one after another. */
export class Ramp {
  /** When the request was sent whose answer opened it, on the clock that nobody sets. */
  readonly since: number
  private cancelAlarm: () => void = () => {}
  private closed = false

  /**
   * @param parts - time, and whose turn it is.
   * @param route - the route that answers again.
   * @param release - lets the next one go, and says whether more are left.
   * @param since - when the request was sent whose answer opened it, in ms on the clock that nobody sets.
   */
  constructor(parts: RampParts, route: Route, release: () => boolean, since: number) {
    this.since = since
    const next = (): void => {
      const gap = parts.pace.take(route, SPACING_MS)
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
   * @param parts - time, and whose turn it is.
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
   * @param since - when the request was sent whose answer opens it, in ms on the clock that nobody sets.
   * @param release - lets the next one go, and says whether more are left.
   */
  start(route: Route, since: number, release: () => boolean): void {
    const id = idOf(route)
    if (this.open.has(id)) return
    this.open.set(id, new Ramp(this.parts, route, () => {
      const more = release()
      if (!more) this.open.delete(id)
      return more
    }, since))
  }

  /**
   * Let nobody follow any more, unless the refused request was sent before the one whose answer opened the route.
   *
   * @param route - the route.
   * @param sentAt - when the refused request was sent, in ms on the clock that nobody sets.
   * @returns whether the route was open.
   */
  stop(route: Route, sentAt: number): boolean {
    if (!this.isRefutedBy(route, sentAt)) return false
    const id = idOf(route)
    this.open.get(id)?.close()
    return this.open.delete(id)
  }

  /**
   * Whether a refusal shows that a route on which others follow is spent again.
   *
   * @param route - the route.
   * @param sentAt - when the refused request was sent, in ms on the clock that nobody sets.
   */
  isRefutedBy(route: Route, sentAt: number): boolean {
    const ramp = this.open.get(idOf(route))
    return ramp !== undefined && sentAt >= ramp.since
  }

  /** Let nobody follow anywhere. */
  close(): void {
    for (const ramp of this.open.values()) ramp.close()
    this.open.clear()
  }
}
