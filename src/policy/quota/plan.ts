import type { WaitCause } from '../../events/policy-key.ts'
import { type Route, routeName, sameRoute } from '../../events/route.ts'
import { markOf } from '../../reducers/marks.ts'
import type { PlanMemory } from '../../reducers/plans.ts'
import type { SessionState } from '../../reducers/session.ts'
import type { Config, RouteConfig } from '../config.ts'
import type { World } from '../pool/choose.ts'
import { resolvePool } from '../settings.ts'
import { HINT_MARGIN_MS, planAttempt, type PlannedWait, type RefusalTiming } from './wait.ts'

/** What is known of a route to whoever decides when it is asked again; all sessions together know more than one log. */
export interface RouteKnown {
  /** The plans since its last answer. */
  readonly memory?: PlanMemory
  /** Epoch ms at which it is asked anyhow; absent while somebody asks it. */
  readonly nextAt?: number
  /** Epoch ms at which another session asks for all who wait there, the one who is to decide included. */
  readonly sharedAt?: number
}

/** Looks a route up, as the waits of one policy know it. */
export type KnownRoutes = (route: Route, policy?: 'quota' | 'transient') => RouteKnown

/** Nothing is known of any route. */
export const nothingKnown: KnownRoutes = () => ({})

/** Another route that may end a wait. */
export interface WayOut {
  readonly route: RouteConfig | Route
  /** Epoch ms from which on it is worth an attempt. */
  readonly at: number
  readonly cause: WaitCause
}

/** Everything about the time of a wait. */
export interface WaitPlan {
  /** When the route that is waited for is asked again. */
  readonly own: PlannedWait
  /** The other routes that may end the wait. */
  readonly ways: readonly WayOut[]
  /** The first attempt of all: epoch ms, and why then. */
  readonly first: { readonly at: number; readonly cause: WaitCause }
}

/** A session that is about to wait. */
export interface WaitSituation {
  readonly state: SessionState
  readonly world: World
  /** Routes that cannot serve this step. */
  readonly unfit: readonly Route[]
  readonly known: KnownRoutes
}

/** The soonest that a route of which nothing but a mark is known is asked, in ms: never in the breath of a refusal. */
const LEAST_WAY_MS = 1_000

/** The plans for a route: what all sessions know of it, else what this session's log tells. */
export const memoryOf = (route: Route, { known, state }: Pick<WaitSituation, 'known' | 'state'>): PlanMemory | undefined =>
  known(route).memory ?? state.entries.open?.plans[routeName(route)]

/**
 * When a route that refused for a spent allowance is asked again: by its own plan, or with those who wait for it already.
 *
 * @param route - the route.
 * @param timing - what the refusal said about its end.
 * @param situation - the session, and what is known.
 * @param config - the deployment.
 */
export function planRefused(route: Route, timing: RefusalTiming, situation: WaitSituation, config: Pick<Config, 'longTermDelayMs'>): PlannedWait {
  const { now } = situation.world
  const plan = planAttempt(now, memoryOf(route, situation), timing, config.longTermDelayMs)
  const { sharedAt } = situation.known(route)
  return sharedAt !== undefined && sharedAt <= now + plan.delayMs ? { delayMs: Math.max(1, sharedAt - now), cause: 'shared' } : plan
}

/** When another route of the pool is worth an attempt: at its own plan, at the reset that its mark names, or an interval after that was made. */
function wayTo(route: RouteConfig, situation: WaitSituation, { longTermDelayMs }: Pick<Config, 'longTermDelayMs'>): number {
  const { known, world: { marks, now } } = situation
  const planned = known(route).nextAt ?? memoryOf(route, situation)?.dueAt
  if (planned !== undefined && planned > now) return Math.min(planned, now + longTermDelayMs)
  const mark = markOf(marks, route, now)
  // A mark of the future was made before the clock was set back.
  const asked = Math.min(mark?.at ?? now, now)
  const reset = mark?.resetsAt === undefined ? Number.POSITIVE_INFINITY : mark.resetsAt + HINT_MARGIN_MS
  return Math.max(now + Math.min(LEAST_WAY_MS, longTermDelayMs), Math.min(reset, asked + longTermDelayMs))
}

/**
 * Which other routes may end a wait, and from when on: those of the pool, each once an interval like the one that is
 * waited for, or at its own provider's reset where that comes first. A cooldown only says how long new requests go
 * elsewhere, and brings no attempt forward.
 *
 * @param on - the route that is waited for.
 * @param situation - the session, and what is known.
 * @param config - the deployment.
 */
export function waysOut(on: Route, situation: WaitSituation, config: Config): WayOut[] {
  const { state, unfit } = situation
  const { pool } = resolvePool(state.settings, state.step.route, config)
  return (pool === null ? [] : config.pools[pool]?.routes ?? [])
    .filter(route => !sameRoute(route, on) && !unfit.some(other => sameRoute(other, route)))
    .map(route => ({ route, at: wayTo(route, situation, config), cause: 'other-route' as const }))
}

/**
 * Put the times of all routes together.
 *
 * @param own - when the route that is waited for is asked.
 * @param ways - the others.
 * @param limitAt - epoch ms at which the wait ends whatever they say.
 * @param now - epoch ms.
 */
export function firstOf(own: PlannedWait, ways: readonly WayOut[], limitAt: number | undefined, now: number): WaitPlan {
  const times = [{ at: now + own.delayMs, cause: own.cause }, ...ways]
  const { at, cause } = times.reduce((best, other) => other.at < best.at ? other : best)
  return { own, ways, first: limitAt !== undefined && limitAt < at ? { at: limitAt, cause: 'limit' } : { at, cause } }
}
