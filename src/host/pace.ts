import { type Route, routeName } from '../events/route.ts'
import type { Clock } from './clock.ts'

/**
 * Shortest time between two requests that this plugin has sent to one route, in ms: never more than five in any second,
 * so that a provider that just came back, or that everybody moves to, is not knocked over.
 */
export const SPACING_MS = 200
/** Jitter on top, in ms, always positive. */
export const JITTER_MS = 10

/** What the pace works with. */
export interface PaceParts {
  readonly clock: Clock
  /** A number from 0 to 1. */
  readonly random: () => number
}

/** Whose turn it is on a route: those who follow an answer and those who move there are in one queue. */
export class Pace {
  private readonly parts: PaceParts
  /** When the last turn on each route is, on the clock that nobody sets. */
  private readonly last = new Map<string, number>()

  /**
   * @param parts - time and randomness.
   */
  constructor(parts: PaceParts) {
    this.parts = parts
  }

  /**
   * Take the next turn on a route. One that is at most a spacing away is taken at once: the next then waits for two, so
   * that there are still no more than five in any second.
   *
   * @param route - the route.
   * @param leastMs - not before this much from now, in ms.
   * @returns time to the turn, in ms.
   */
  take(route: Route, leastMs = 0): number {
    const now = this.parts.clock.ticks()
    const name = routeName(route)
    const jitter = JITTER_MS * this.parts.random()
    const free = (this.last.get(name) ?? Number.NEGATIVE_INFINITY) + SPACING_MS + jitter
    const at = Math.max(now + (leastMs > 0 ? leastMs + jitter : 0), free)
    this.last.set(name, at)
    const delayMs = at - now
    return leastMs === 0 && delayMs <= SPACING_MS + JITTER_MS ? 0 : delayMs
  }
}
