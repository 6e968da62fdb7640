import { type Route, sameRoute } from '../../events/route.ts'
import type { MovedWhy, RouteNote } from '../../events/route-notes.ts'
import { markOf, type MarkRecord } from '../../reducers/marks.ts'
import { isPending, type PicksState } from '../../reducers/picks.ts'
import type { SessionState } from '../../reducers/session.ts'
import { chooseBack, trialOf } from './back.ts'
import { chooseMove, chooseStart, type Choice, standingOf, type World } from './choose.ts'
import type { Config } from '../config.ts'
import { resolvePool, resolveSwitch } from '../settings.ts'

/** A route with the effort that goes with it. */
export interface Target extends Route {
  readonly reasoningEffort?: string | undefined
}

/** Why a request goes where it goes. */
export type RequestWhy =
  /** Where the harness would send it. */
  | { readonly kind: 'as-it-is' }
  /** The person picked this route since the last request, or before a refusal moved the session off it. */
  | { readonly kind: 'picked' }
  /** An earlier move still holds. */
  | { readonly kind: 'moved-before' }
  /**
   * It leaves its route before it is sent: `assigned`, the session was put in a pool since its last request; `marked`,
   * the provider is marked and the pool holds another route; `preferred`, a route that the pool prefers is usable again.
   */
  | { readonly kind: MovedWhy; readonly choice: Choice }

/** Where a request goes. */
export interface RequestDecision {
  /** Where the session was until now. */
  readonly from: Route
  readonly route: Target
  readonly why: RequestWhy
  /** What the log must be told, for nothing else in it would say so. */
  readonly notes: readonly RouteNote[]
  /** What keeps others from a route that this request tries again. */
  readonly trial: readonly MarkRecord[]
}

/** A request that is about to be sent. */
export interface RequestContext {
  /** The route, and the effort, that the harness would use. */
  readonly base: Target
  readonly state: SessionState
  readonly world: World
  /** Routes that cannot serve this step: the host refuses them, or they refuse its history. */
  readonly unfit?: readonly Route[]
}

/** A route without what a call configuration carries besides. */
const bare = ({ provider, model }: Route): Route => ({ provider, model })

/**
 * Whether a request would go to a target as it is: same route, and the effort that the target asks for, if it does.
 *
 * @param base - what the harness would use.
 * @param target - the target.
 */
export const isAlready = (base: Target, target: Target): boolean =>
  sameRoute(base, target) && (target.reasoningEffort === undefined || target.reasoningEffort === base.reasoningEffort)

/** Where the session is: where it was moved to, with the effort that its pool gives that route, else where the harness has it. */
function currentOf({ base, state: { picks: { to } } }: RequestContext, config: Config): Target {
  if (to === null) return base
  const effort = to.reasoningEffort ?? (to.pool === null ? undefined : config.pools[to.pool]?.routes.find(route => sameRoute(route, to))?.reasoningEffort)
  return { ...bare(to), ...effort === undefined ? {} : { reasoningEffort: effort } }
}

/** Whether the session is in another step than that of its last request. */
const isLaterStep = ({ picks: { asked }, step }: SessionState): boolean => asked.turn !== step.turn || asked.step !== step.step

/** The harness's own route changed to one that we did not move it to: somebody picked it. */
const isPick = (base: Route, { picks, step }: SessionState): boolean =>
  picks.base !== null && ![picks.base, picks.to, step.route].some(known => sameRoute(base, known))

/**
 * Whether the harness goes on using a route that we moved the session off in an earlier step. By itself it takes up the
 * route of the last request, so somebody picked this one, and the page shows it as picked. (A pick of the very route
 * that just refused looks the same.)
 */
const goesOnWith = (base: Route, { picks, step }: SessionState): boolean => picks.to !== null && step.route !== null && !sameRoute(base, step.route)

/** What the log does not tell of the harness's own route. */
function noteOnBase(base: Route, state: SessionState): RouteNote[] {
  const { picks, step } = state
  if (picks.base === null || picks.to === null || isPending(picks) || !isLaterStep(state)) return []
  if (goesOnWith(base, state)) return picks.stands ? [] : [{ kind: 'stands', route: bare(base) }]
  // Of two picks in a row the log shows the second only where it goes elsewhere.
  return picks.stands && sameRoute(base, step.route) ? [{ kind: 'picked', route: bare(base) }] : []
}

const isMove = (why: RequestWhy): why is Extract<RequestWhy, { choice: Choice }> => 'choice' in why

function decided(request: RequestContext, current: Target, target: Target, why: RequestWhy): RequestDecision {
  const { base, state } = request
  const from = bare(current)
  const leaves = isMove(why) && !(sameRoute(from, target) && sameRoute(base, target))
  const notes: RouteNote[] = leaves
    ? [{ kind: 'moved', base: bare(base), from, to: bare(target), pool: why.choice.pool, why: why.kind }]
    : why.kind === 'picked' ? [] : noteOnBase(base, state)
  return { from, route: target, why, notes, trial: why.kind === 'preferred' ? trialOf(target, request.world) : [] }
}

/** The move of a request whose provider is marked, if the pool holds another route that may be asked in this step. */
function moveFrom(current: Route, { state, unfit = [], world }: RequestContext, config: Config): Choice | undefined {
  const { pool } = resolvePool(state.settings, current, config)
  // A model that was picked outside the pool is left alone.
  const held = pool === null ? undefined : config.pools[pool]?.routes.find(route => sameRoute(route, current))
  if (pool === null || held === undefined || standingOf(held, world, config).grade !== 'marked') return undefined
  const asked = state.step.refused.map(({ route }) => route)
  return chooseMove(pool, [current, ...asked, ...unfit], world, config)
}

/** The route that a session starts on in a pool it was just put in, if the host would send to any. */
function startIn(pool: string, { unfit = [], world }: RequestContext, config: Config): Choice | undefined {
  const choice = chooseStart(pool, world, config)
  return choice !== undefined && unfit.some(route => sameRoute(route, choice.route)) ? chooseMove(pool, unfit, world, config) : choice
}

/** Whether the harness's own route is what the person had picked before a refusal moved the session off it, and may be asked again. */
function picksAgain({ base, state, world }: RequestContext, enabled: boolean): boolean {
  const { picks } = state
  if (!isLaterStep(state) || picks.overruled || isPending(picks) || !goesOnWith(base, state)) return false
  return !enabled || markOf(world.marks, base, world.now) === undefined
}

/** Whether the session went back to its route in this step: it tries that for all, and the mark that tells the others so is not for it. */
const triesAgain = ({ picks: { moved }, step }: SessionState): boolean =>
  moved !== null && moved.why === 'preferred' && moved.turn === step.turn && moved.step === step.step

const stayKind = (base: Target, current: Target, picks: PicksState): RequestWhy =>
  isPending(picks) ? { kind: 'picked' } : { kind: isAlready(base, current) ? 'as-it-is' : 'moved-before' }

/**
 * Decide where a request goes, from the folded log and what is cached alone.
 *
 * A pick of the person always wins. A pool that the session was just put in chooses its route. Otherwise the session
 * stays where it is, unless the provider itself reported the allowance spent and the pool holds a route that is not:
 * a reading below a threshold never moves a running session. Back it goes to what the person picked, and, as the
 * configuration says, to a route that its pool prefers, when these may be asked again.
 *
 * @param request - the request, and what is known.
 * @param config - the deployment.
 */
export function decideRequest(request: RequestContext, config: Config): RequestDecision {
  const { base, state } = request
  const { picks, settings } = state
  const current = currentOf(request, config)
  if (isPick(base, state)) return decided(request, current, base, { kind: 'picked' })
  if (settings.assigned) {
    const { pool } = resolvePool(settings, base, config)
    const choice = pool === null ? undefined : startIn(pool, request, config)
    if (choice !== undefined) return decided(request, current, choice.route, { kind: 'assigned', choice })
  }
  const { enabled } = resolveSwitch(settings, config)
  if (picksAgain(request, enabled)) return decided(request, current, base, { kind: 'picked' })
  const stay = decided(request, current, current, stayKind(base, current, picks))
  // A person wants it asked, marked or not.
  if (sameRoute(current, picks.picked) || !enabled || state.step.asking || triesAgain(state)) return stay
  const choice = moveFrom(current, request, config)
  if (choice !== undefined) return decided(request, current, choice.route, { kind: 'marked', choice })
  const back = chooseBack(current, { ...request, unfit: request.unfit ?? [] }, config)
  return back === undefined ? stay : decided(request, current, back.route, { kind: 'preferred', choice: back })
}
