import type { Failure } from '../events/failure.ts'
import { type Route, sameRoute } from '../events/route.ts'
import { evolveMarks, markOf, type MarkRecord } from '../reducers/marks.ts'
import type { SessionState } from '../reducers/session.ts'
import { type RefusedRoute, refusedRoute } from '../reducers/step.ts'
import type { Config } from './config.ts'
import { type Classification, classifyFailure } from './judge/classify.ts'
import { isNews, markFor } from './marking.ts'
import { chooseInTurn, chooseMove, type Choice, type World } from './pool/choose.ts'
import { firstOf, type KnownRoutes, memoryOf, planRefused, type WaitPlan, waysOut } from './quota/plan.ts'
import { planLook, type PlannedWait, waitLimit } from './quota/wait.ts'
import { resolvePool, resolveSwitch } from './settings.ts'
import { answerPassing, type Ladder, type LadderLeave, type ProviderPolicy } from './transient/decide.ts'

/** A failed request, and everything that the answer to it may depend on. */
export interface Refusal {
  readonly state: SessionState
  readonly failure: Failure
  readonly provider: string
  readonly turn: number
  readonly step: number
  readonly world: World
  /** Routes that cannot serve this step: the host refuses them, or they refuse its history. */
  readonly unfit: readonly Route[]
  /** What is known of routes besides. */
  readonly known: KnownRoutes
  /** How the harness itself retries on this provider; absent where its adapter says nothing. */
  readonly retryPolicy?: ProviderPolicy
  /** A number from 0 to 1, for jitter. */
  readonly random: number
}

/** Why the step goes on. */
export type StayWhy =
  /** The allowance of the route is spent. */
  | 'spent'
  /** The route does not take this conversation, right after the session was moved there. */
  | 'misfit'
  /** The route fails on what passes, while the session is out of allowance. */
  | 'outage'
  /** The route failed so often that the configuration asks for the next. */
  | 'tries'

/** Why a failure was left to the harness. */
export type DelegateReason = 'switched-off' | 'longest-wait-reached' | LadderLeave

type Known = {
  readonly verdict: Classification
  /** The mark that the refusal puts on its provider or route, where that is news. */
  readonly mark?: MarkRecord
  /** When the refused route is asked again, whatever is done about this request: other sessions may wait for it. */
  readonly asked?: PlannedWait
}

/** What to do about a failed request. */
export type Response = Known & (
  /** Leave it to the harness: the turn ends. */
  | { readonly kind: 'delegate'; readonly why: DelegateReason }
  /** Ask another route of the pool at once, in the same step. */
  | { readonly kind: 'move'; readonly why: StayWhy; readonly choice: Choice; readonly unfit?: Route }
  /** Wait for allowance in the same step, but not beyond `limitAt` (epoch ms); `on` is the route waited for, where it is not the one that failed. */
  | { readonly kind: 'wait'; readonly why: StayWhy; readonly plan: WaitPlan; readonly failure: Failure; readonly limitAt?: number; readonly on?: Route; readonly unfit?: Route }
  /** Ask again on the same route after a backoff, in the same step. */
  | { readonly kind: 'retry'; readonly ladder: Ladder }
)

/** The route of the failed request; a log that does not name its model leaves the provider. */
const routeOf = ({ provider, state }: Refusal): Route => refusedRoute(state.step, provider) ?? { provider, model: '' }

/**
 * Whether a person wants every route of the pool asked: they ended the wait, or began another turn while the session is
 * out of allowance. (A turn that carries on after a restart is the one that waited.)
 */
function isAsking({ state: { entries: { open }, step }, turn }: Refusal): boolean {
  return step.asking || (open !== null && open.heldBy !== turn)
}

function targetOf(refusal: Refusal, mark: MarkRecord | undefined, config: Config): Choice | undefined {
  const { state, unfit, world } = refusal
  const { pool } = resolvePool(state.settings, state.step.route, config)
  if (pool === null) return undefined
  const marks = mark === undefined ? world.marks : evolveMarks(world.marks, mark)
  const asked = state.step.refused.map(({ route }) => route)
  const current = state.step.route === null ? [] : [state.step.route]
  const choose = isAsking(refusal) ? chooseInTurn : chooseMove
  return choose(pool, [...asked, ...current, ...unfit], { ...world, marks }, config)
}

/** How long the turn may still wait. */
function limitOf({ state, turn, world: { now } }: Refusal, config: Config): { readonly limitAt?: number } | 'reached' {
  const limitAt = waitLimit(now, turn, state.entries.open, config.maxWaitMs)
  if (limitAt === undefined) return {}
  return limitAt <= now ? 'reached' : { limitAt }
}

/** A spent allowance: another route of the pool, else the wait for this one. */
function answerSpent(refusal: Refusal, verdict: Classification, config: Config): Response {
  const { failure, provider, state, world } = refusal
  // The refusal concerns every session of the provider or the route, whether this one is on or off; a throttle concerns none.
  const refused = { provider, route: refusedRoute(state.step, provider), message: failure.message }
  const mark = verdict.throttle === true ? undefined : markFor(refused, verdict, world.now, config)
  const route = routeOf(refusal)
  const asked = planRefused(route, verdict, refusal, config)
  const known: Known = { verdict, asked, ...mark !== undefined && isNews(mark, world.marks, config) ? { mark } : {} }
  if (!resolveSwitch(state.settings, config).enabled) return { kind: 'delegate', why: 'switched-off', ...known }
  const choice = mark === undefined && !isAsking(refusal) ? undefined : targetOf(refusal, mark, config)
  if (choice !== undefined) return { kind: 'move', why: 'spent', choice, ...known }
  const limit = limitOf(refusal, config)
  if (limit === 'reached') return { kind: 'delegate', why: 'longest-wait-reached', ...known }
  return { kind: 'wait', why: 'spent', ...limit, failure, ...known, plan: firstOf(asked, waysOut(route, refusal, config), limit.limitAt, world.now) }
}

/** Failures that show that a route cannot take this conversation, right after it was moved there. */
const MISFITS: ReadonlySet<string> = new Set(['other', 'context', 'auth', 'refused-content'])

/** The route that the request was moved off before it was sent, in this step. */
function leftBefore({ state: { picks: { moved } }, turn, step }: Refusal): Route | undefined {
  return moved !== null && moved.beforeSending && moved.turn === turn && moved.step === step ? moved.from : undefined
}

/** Whether the failed request is one that a move of this very step sent to its route, after a refusal or before one. */
function movedHere(refusal: Refusal): boolean {
  const { state, turn, step } = refusal
  const { last } = state.failovers
  return leftBefore(refusal) !== undefined || (last !== null && last.turn === turn && last.step === step && sameRoute(last.to, state.step.route))
}

/** The route that ran out of allowance first in this step: since its last wait, else the one waited for, or moved off. */
function spentHere(refusal: Refusal): RefusedRoute | undefined {
  const { state: { entries: { open }, step }, world: { marks, now } } = refusal
  const spent = step.refused.find(({ route, failure }) => classifyFailure({ ...failure, provider: route.provider }, { now }).kind === 'spent-allowance')
  if (spent !== undefined) return spent
  if (open !== null && open.model !== null) return { route: { provider: open.provider, model: open.model }, failure: open.failure }
  const cameFrom = leftBefore(refusal)
  const mark = cameFrom === undefined ? undefined : markOf(marks, cameFrom, now)
  return cameFrom === undefined || mark === undefined ? undefined : { route: cameFrom, failure: { code: 'QUOTA', message: mark.message } }
}

/**
 * A route that we moved to and that does not serve this run must not end one that only ran out of allowance elsewhere:
 * the next route, else the wait. One that will not take the conversation (a foreign reasoning block, a shorter context,
 * a wrong key) is left for good in this step; one that fails on what passes is looked at again soon.
 */
function answerAfterMove(refusal: Refusal, verdict: Classification, passes: boolean, config: Config): Response | undefined {
  const { state, world: { now } } = refusal
  const failed = state.step.route
  const first = spentHere(refusal)
  if (!(passes || MISFITS.has(verdict.kind)) || !movedHere(refusal) || failed === null || first === undefined) return undefined
  if (!resolveSwitch(state.settings, config).enabled) return undefined
  const unfit = passes ? {} : { unfit: failed }
  const why = passes ? 'outage' : 'misfit'
  const choice = targetOf(refusal, undefined, config)
  if (choice !== undefined) return { kind: 'move', why, choice, verdict, ...unfit }
  const limit = limitOf(refusal, config)
  if (limit === 'reached') return undefined
  const original = classifyFailure({ ...first.failure, provider: first.route.provider }, { now })
  const situation = passes ? refusal : { ...refusal, unfit: [...refusal.unfit, failed] }
  const look = now + planLook(memoryOf(failed, refusal), config.longTermDelayMs).delayMs
  const ways = waysOut(first.route, situation, config).map(way =>
    sameRoute(way.route, failed) ? { ...way, at: Math.min(way.at, look), cause: 'outage' as const } : way)
  const own = planRefused(first.route, original, refusal, config)
  return { kind: 'wait', why, ...limit, failure: first.failure, on: first.route, verdict: original, ...unfit, plan: firstOf(own, ways, limit.limitAt, now) }
}

/**
 * A failure that passes while the session is out of allowance means "not back yet": a short look that grows, never the
 * end of a run that waited for hours.
 */
function answerNotBack(refusal: Refusal, verdict: Classification, config: Config): Response | undefined {
  const { failure, state, turn, world: { now } } = refusal
  const { open } = state.entries
  if (open === null || open.heldBy !== turn || !resolveSwitch(state.settings, config).enabled) return undefined
  const limit = limitOf(refusal, config)
  if (limit === 'reached') return undefined
  const route = routeOf(refusal)
  const asked = planLook(memoryOf(route, refusal), config.longTermDelayMs)
  return { kind: 'wait', why: 'outage', ...limit, failure, verdict, asked, plan: firstOf(asked, waysOut(route, refusal, config), limit.limitAt, now) }
}

/** One more try, or the next route of the pool where the configuration gives this one only so many. */
function answerRetry(refusal: Refusal, verdict: Classification, ladder: Ladder, config: Config): Response {
  const { moveAfter } = config.transient
  const choice = moveAfter === null || ladder.try <= moveAfter ? undefined : targetOf(refusal, undefined, config)
  if (choice !== undefined) return { kind: 'move', why: 'tries', choice, verdict }
  return { kind: 'retry', ladder, verdict, asked: ladder.asked }
}

/**
 * Decide what to do about a failed request, when, and why: the one entry of all policies that hold a step. They are
 * asked in this order: a spent allowance moves (pool) or waits (quota); a failure that passes is a look while the session
 * is out of allowance, the next route right after a move, else one more try with backoff (transient); what is left ends
 * the turn.
 *
 * @param refusal - the failure, the session it happened in, and what is known of the providers.
 * @param config - the deployment.
 * @returns the response; its reasons are data that the host, the report and the audit print.
 */
export function respond(refusal: Refusal, config: Config): Response {
  const { failure, provider, world } = refusal
  const verdict = classifyFailure({ ...failure, provider }, { now: world.now })
  if (verdict.kind === 'spent-allowance') return answerSpent(refusal, verdict, config)
  const ladder = answerPassing(refusal, verdict, routeOf(refusal), config)
  return answerAfterMove(refusal, verdict, ladder.passes, config)
    ?? (ladder.passes ? answerNotBack(refusal, verdict, config) : undefined)
    ?? (ladder.kind === 'retry' ? answerRetry(refusal, verdict, ladder, config) : { kind: 'delegate', why: ladder.why, verdict })
}
