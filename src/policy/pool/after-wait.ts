import { type Route, routeName, sameRoute } from '../../events/route.ts'
import type { SessionState } from '../../reducers/session.ts'
import { chooseInTurn, chooseMove, chooseStart, type World } from './choose.ts'
import type { Config, RouteConfig } from '../config.ts'
import { resolvePool } from '../settings.ts'

/** A session that is about to wait, or whose wait is over. */
export interface WaitContext {
  readonly state: SessionState
  readonly world: World
  /** Routes that cannot serve this step. */
  readonly unfit: readonly Route[]
}

/** Where the attempt after a wait goes. */
export interface AfterWait {
  readonly route: RouteConfig | Route
  /** The pool that holds the route, when it is a move within one. */
  readonly pool: string | null
}

/** The first route of a round that a person wants: that of the pool they just chose, else the first of all. */
function firstAsked(pool: string, { state, unfit, world }: WaitContext, config: Config): RouteConfig | undefined {
  const start = state.settings.assigned ? chooseStart(pool, world, config)?.route : undefined
  return start !== undefined && !unfit.some(route => sameRoute(route, start)) ? start : chooseInTurn(pool, unfit, world, config)?.route
}

/**
 * Where the attempt after a wait goes. Where a person asked for it, to the pool's first route, marked or not: the others
 * follow in order while they are refused. Else to the route whose time came; else, every route being worth a question again, to
 * the pool's first that is not out of allowance; else to the one that was waited for.
 *
 * @param due - the route whose time came, if the wait ended for one.
 * @param waitedOn - the route that was waited for, where it is not the session's own.
 * @param context - the session, and what is known.
 * @param config - the deployment.
 * @returns `undefined` when the session stays on its route.
 */
export function chooseAfterWait(due: Route | undefined, waitedOn: Route | undefined, { state, unfit, world }: WaitContext, config: Config): AfterWait | undefined {
  const current = state.step.route
  const { pool } = resolvePool(state.settings, current, config)
  const asked = pool === null || !state.step.asking ? undefined : firstAsked(pool, { state, unfit, world }, config)
  const to = asked ?? due ?? (pool === null ? undefined : chooseMove(pool, unfit, world, config)?.route) ?? waitedOn
  if (to === undefined || sameRoute(to, current)) return undefined
  const held = pool === null ? undefined : config.pools[pool]?.routes.find(route => sameRoute(route, to))
  return { route: held ?? to, pool: held === undefined ? null : pool }
}

/** What a session waits for first. */
export interface FirstOut {
  /** The pool of which every route is out of allowance; `null` where there is no other to wait for. */
  readonly pool: string | null
  /** The route that is asked first; `null` where that is not known. */
  readonly route: Route | null
}

/**
 * Which route the armed wait of a session is for: the one whose time comes first, which need not be the one that refused
 * last.
 *
 * @param state - the folded session.
 * @param config - the deployment.
 * @returns `undefined` when no wait is armed.
 */
export function firstWayOut(state: SessionState, config: Pick<Config, 'pools'>): FirstOut | undefined {
  const { open } = state.entries
  if (open === null || open.wait === null) return undefined
  const own = open.model === null ? null : { provider: open.provider, model: open.model }
  const { pool } = resolvePool(state.settings, state.step.route, config)
  const others = pool === null || own === null ? [] : (config.pools[pool]?.routes ?? []).filter(route => !sameRoute(route, own))
  if (others.length === 0) return { pool: null, route: own }
  if (open.wait.cause !== 'other-route') return { pool, route: own }
  // What the session was refused by itself is in its log; a route that it knows from a mark alone is not.
  const due = (route: Route): number => open.plans[routeName(route)]?.dueAt ?? Number.NaN
  const [first] = others.toSorted((a, b) => due(a) - due(b))
  const known = first !== undefined && (others.length === 1 || others.every(route => !Number.isNaN(due(route))))
  return { pool, route: known ? { provider: first.provider, model: first.model } : null }
}
