import { type Route, sameRoute } from '../../events/route.ts'
import { lapsedMarks, type MarkRecord } from '../../reducers/marks.ts'
import type { SessionState } from '../../reducers/session.ts'
import type { Config } from '../config.ts'
import { classifyFailure } from '../judge/classify.ts'
import { resolvePool } from '../settings.ts'
import { chooseStart, type Choice, type World } from './choose.ts'

/**
 * For how long, in ms, a route is left to the one session that tries it again: a long answer may take as long before it
 * shows. The longest wait for it is none, for the others have routes that answer.
 */
export const TRIAL_MS = 300_000

/** A session before a request, on a route of its pool. */
export interface BackContext {
  readonly state: SessionState
  readonly world: World
  /** Routes that cannot serve this step. */
  readonly unfit: readonly Route[]
}

/** Whether the configuration lets a session go back at this request: the first of a turn, or of a step. */
function isDue({ picks: { asked }, step }: SessionState, { returnToPreferred }: Config): boolean {
  switch (returnToPreferred) {
    case 'never': return false
    case 'turn': return asked.turn !== step.turn
    case 'step': return asked.turn !== step.turn || asked.step !== step.step
  }
}

/** Whether the session may go back to a route: it was moved off it, or its person chose the pool; and not because of a misfit. */
function isOurs(route: Route, pool: string, { picks: { left, put } }: SessionState, now: number): boolean {
  const was = left.find(other => sameRoute(other.route, route))
  if (was === undefined) return put === pool
  return was.failure === null || classifyFailure({ ...was.failure, provider: route.provider }, { now }).kind === 'spent-allowance'
}

/**
 * The route that the pool prefers to the present one and that the session was moved off, once it is usable again: its
 * mark is over, and its reading is above its minimum.
 *
 * @param current - where the session is.
 * @param context - the session, and what is known.
 * @param config - the deployment.
 * @returns the choice, or `undefined` when there is none to go back to now.
 */
export function chooseBack(current: Route, { state, unfit, world }: BackContext, config: Config): Choice | undefined {
  if ((state.picks.left.length === 0 && state.picks.put === null) || !isDue(state, config)) return undefined
  const { pool } = resolvePool(state.settings, current, config)
  const start = pool === null ? undefined : chooseStart(pool, world, config)
  if (pool === null || start === undefined) return undefined
  const place = start.standings.findIndex(({ route }) => sameRoute(route, current))
  const found = start.standings.slice(0, Math.max(0, place)).find(({ grade, route }) =>
    grade === 'usable' && !unfit.some(other => sameRoute(other, route)) && isOurs(route, pool, state, world.now))
  return found === undefined ? undefined : { ...start, route: found.route, grade: found.grade }
}

/**
 * What keeps the others away while one session tries a route again: the marks that lapsed there and that no answer
 * lifted hold a little longer. Its answer lifts them, and then all follow.
 *
 * @param route - the route.
 * @param world - what is known.
 */
export const trialOf = (route: Route, { marks, now }: World): MarkRecord[] =>
  lapsedMarks(marks, route, now).map(({ model, ...mark }): MarkRecord => {
    const held = { ...mark, until: now + TRIAL_MS }
    return model === undefined ? { type: 'providerMarked', ...held } : { type: 'routeMarked', ...held, model }
  })
