import { type Route, sameRoute } from '../../events/route.ts'
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
