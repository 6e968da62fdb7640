import { type Route, sameRoute } from '../../events/route.ts'
import { markOf } from '../../reducers/marks.ts'
import type { SessionState } from '../../reducers/session.ts'
import type { SettingsState } from '../../reducers/settings.ts'
import { chooseMove, chooseStart, type Choice, standingOf, type World } from './choose.ts'
import type { Config } from '../config.ts'
import { resolvePool, resolveSwitch } from '../settings.ts'

/** A route with the effort that goes with it. */
export interface Target extends Route {
  readonly reasoningEffort?: string | undefined
}

/**
 * What is remembered of a live session between its requests. Not in the log, and not needed after a restart: the marks
 * are, and a session whose provider is marked is moved again before its first request.
 */
export interface RouteMemory {
  /** The route that the harness would have used for the last request. */
  readonly base: Route | null
  /** Where requests go instead, while the harness would still use `base`. */
  readonly to: Target | null
  /** Where the last request went; the harness takes it up as its own route from the logged header. */
  readonly sent: Route | null
  /** The turn and the step in which it went there. */
  readonly sentIn: { readonly turn: number | null; readonly step: number | null }
  /** A route that the person picked; used although its provider is marked, until a refusal moves the session. */
  readonly picked: Route | null
  /** Whether the session was put in a pool after what the person picked last. */
  readonly overruled: boolean
  /** The pool setting that the last request obeyed, or that a pick overruled: it chooses no route again. */
  readonly obeyed: SettingsState['pool']
}

/** Nothing remembered. */
export const initialMemory: RouteMemory = { base: null, to: null, sent: null, sentIn: { turn: null, step: null }, picked: null, overruled: false, obeyed: null }

/** Why a request goes where it goes. */
export type RequestWhy =
  /** Where the harness would send it. */
  | { readonly kind: 'as-it-is' }
  /** The person picked this route since the last request, or before a refusal moved the session off it. */
  | { readonly kind: 'picked' }
  /** The session was put in a pool since its last request. */
  | { readonly kind: 'assigned'; readonly choice: Choice }
  /** An earlier move still holds. */
  | { readonly kind: 'moved-before' }
  /** The provider is marked, and the pool holds another route. */
  | { readonly kind: 'marked'; readonly choice: Choice }

/** Where a request goes. */
export interface RequestDecision {
  /** Where the session was until now. */
  readonly from: Route
  readonly route: Target
  readonly why: RequestWhy
  readonly memory: RouteMemory
}

/** A request that is about to be sent. */
export interface RequestContext {
  /** The route, and the effort, that the harness would use. */
  readonly base: Target
  readonly memory: RouteMemory
  readonly state: SessionState
  readonly world: World
  /** Routes that cannot serve this step: the host refuses them, or they refuse its history. */
  readonly unfit?: readonly Route[]
}

/** A route without what a call configuration carries besides. */
const bare = ({ provider, model }: Route): Route => ({ provider, model })

const bareOrNone = (route: Route | null): Route | null => route === null ? null : bare(route)

/**
 * Whether a request would go to a target as it is: same route, and the effort that the target asks for, if it does.
 *
 * @param base - what the harness would use.
 * @param target - the target.
 */
export const isAlready = (base: Target, target: Target): boolean =>
  sameRoute(base, target) && (target.reasoningEffort === undefined || target.reasoningEffort === base.reasoningEffort)

function decided({ base, memory, state }: RequestContext, target: Target, why: RequestWhy, picked: Route | null): RequestDecision {
  const to = isAlready(base, target) ? null : target
  const { turn, step } = state.step
  const overruled = why.kind === 'assigned' || (memory.overruled && why.kind !== 'picked')
  return {
    from: bare(memory.to ?? base), route: target, why,
    memory: { base: bare(base), to, sent: bare(target), sentIn: { turn, step }, picked: bareOrNone(picked), overruled, obeyed: state.settings.pool },
  }
}

/** The harness's own route changed to one that we did not move it to: somebody picked it. */
const isPick = (base: Route, memory: RouteMemory): boolean =>
  memory.base !== null && ![memory.base, memory.to, memory.sent].some(known => sameRoute(base, known))

/**
 * Whether the harness goes on using a route that we moved the session off in an earlier step. By itself it takes up the
 * route of the last request, so somebody picked this one, and the page shows it as picked. (A pick of the very route
 * that just refused looks the same.)
 */
function isStandingPick({ base, memory, state: { step } }: RequestContext): boolean {
  const { sent, sentIn } = memory
  const laterStep = sentIn.turn !== step.turn || sentIn.step !== step.step
  return laterStep && memory.to !== null && !memory.overruled && sent !== null && !sameRoute(base, sent)
}

/** Whether the session was put in a pool since its last request. The log tells it until an answer, which may never come. */
function isNewlyAssigned({ memory: { obeyed }, state: { settings: { assigned, pool } } }: RequestContext): boolean {
  return assigned && !(obeyed?.value === pool?.value && obeyed?.at === pool?.at)
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

/**
 * Decide where a request goes, from what is cached alone.
 *
 * A pick of the person always wins. A pool that the session was just put in chooses its route. Otherwise the session
 * stays where it is, unless the provider itself reported the allowance spent and the pool holds a route that is not:
 * a reading below a threshold never moves a running session, and a lapsed mark moves it back only to what the person
 * picked.
 *
 * @param request - the request, and what is known.
 * @param config - the deployment.
 */
export function decideRequest(request: RequestContext, config: Config): RequestDecision {
  const { base, memory, state } = request
  if (isPick(base, memory)) return decided(request, base, { kind: 'picked' }, base)
  if (isNewlyAssigned(request)) {
    const { pool } = resolvePool(state.settings, base, config)
    const choice = pool === null ? undefined : startIn(pool, request, config)
    if (choice !== undefined) return decided(request, choice.route, { kind: 'assigned', choice }, null)
  }
  const enabled = resolveSwitch(state.settings, config).enabled
  const held = enabled && markOf(request.world.marks, base, request.world.now) !== undefined
  if (isStandingPick(request) && !held) return decided(request, base, { kind: 'picked' }, base)
  const current: Target = memory.to ?? base
  const stay = decided(request, current, memory.to === null ? { kind: 'as-it-is' } : { kind: 'moved-before' }, memory.picked)
  if (sameRoute(current, memory.picked) || !enabled) return stay
  const choice = moveFrom(current, request, config)
  return choice === undefined ? stay : decided(request, choice.route, { kind: 'marked', choice }, null)
}
