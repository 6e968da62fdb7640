import { cutText, type Failure } from '../events/failure.ts'
import { type Route, sameRoute } from '../events/route.ts'
import { evolveMarks, markOf, type MarkRecord } from '../reducers/marks.ts'
import type { SessionState } from '../reducers/session.ts'
import { type RefusedRoute, refusedRoute } from '../reducers/step.ts'
import { chooseInTurn, chooseMove, type Choice, type World } from './pool/choose.ts'
import { type Classification, classifyFailure } from './judge/classify.ts'
import type { Config } from './config.ts'
import { resolvePool, resolveSwitch } from './settings.ts'
import { HINT_MARGIN_MS, waitLimit } from './quota/wait.ts'

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
}

/** Why a failure was left to the harness. */
export type DelegateReason = 'switched-off' | 'not-an-allowance' | 'longest-wait-reached'

/** Longest refusal text in a mark: fifty providers that write long, in any script, are to fit into a small journal. */
const MARK_TEXT = 800

type Marked = { readonly mark?: MarkRecord }

/** What to do about a failed request. */
export type Response = { readonly verdict: Classification } & Marked & (
  /** Leave it to the harness. */
  | { readonly kind: 'delegate'; readonly why: DelegateReason }
  /** Ask another route of the pool at once, in the same step. */
  | { readonly kind: 'move'; readonly choice: Choice; readonly unfit?: Route }
  /** Ask again after a while, in the same step, but not beyond `limitAt` (epoch ms); `on` is the route waited for, where it is not the one that failed. */
  | { readonly kind: 'wait'; readonly failure: Failure; readonly limitAt?: number; readonly on?: Route; readonly unfit?: Route }
)

/**
 * The mark that a refusal puts on its provider, or on the one route whose allowance it says is spent: until its own
 * reset where that comes first, else for the cooldown.
 */
function markFor({ provider, failure, state, world }: Refusal, verdict: Classification, config: Config): MarkRecord {
  const { now } = world
  // A log that does not name the model leaves the provider.
  const route = verdict.scope === 'route' ? refusedRoute(state.step, provider) : null
  const lapse = now + config.exhaustedCooldownMs
  const reset = verdict.resetsAt !== undefined && verdict.resetsAt > now ? verdict.resetsAt + HINT_MARGIN_MS : lapse
  const of = route === null ? { type: 'providerMarked' as const, provider } : { type: 'routeMarked' as const, provider, model: route.model }
  return {
    ...of, at: now, until: Math.min(lapse, reset), rule: verdict.rule, message: cutText(failure.message, MARK_TEXT),
    ...verdict.resetHint === undefined ? {} : { resetHint: cutText(verdict.resetHint, 200) },
    ...verdict.resetsAt === undefined || verdict.resetsAt < 0 ? {} : { resetsAt: verdict.resetsAt },
  }
}

/**
 * Whether a person wants every route of the pool asked: they ended the wait, or began another turn while the session is
 * out of allowance. (A turn that carries on after a restart is the one that waited.)
 */
function isAsking({ state: { entries: { open }, step }, turn }: Refusal): boolean {
  return step.asking || (open !== null && open.heldBy !== turn)
}

function targetOf(refusal: Refusal, marked: Marked, config: Config): Choice | undefined {
  const { state, unfit, world } = refusal
  const { pool } = resolvePool(state.settings, state.step.route, config)
  if (pool === null) return undefined
  const marks = marked.mark === undefined ? world.marks : evolveMarks(world.marks, marked.mark)
  const asked = state.step.refused.map(({ route }) => route)
  const current = state.step.route === null ? [] : [state.step.route]
  const choose = isAsking(refusal) ? chooseInTurn : chooseMove
  return choose(pool, [...asked, ...current, ...unfit], { ...world, marks }, config)
}

/** How long the turn may still wait. */
function limitOf(state: SessionState, turn: number, now: number, config: Config): { readonly limitAt?: number } | 'reached' {
  const limitAt = waitLimit(now, turn, state.entries.open, config.maxWaitMs)
  if (limitAt === undefined) return {}
  return limitAt <= now ? 'reached' : { limitAt }
}

/** Failures that show that a route cannot take this conversation, right after it was moved there. */
const MISFITS: ReadonlySet<string> = new Set(['other', 'context', 'auth'])

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
 * A route that we moved to and that will not take this conversation (a foreign reasoning block, a shorter context, a
 * wrong key) must not end a run that only ran out of allowance elsewhere: the next route, else the wait for the first.
 */
function answerMisfit(refusal: Refusal, verdict: Classification, config: Config): Response | undefined {
  const { state, turn, world } = refusal
  const unfit = state.step.route
  const first = spentHere(refusal)
  if (!MISFITS.has(verdict.kind) || !movedHere(refusal) || unfit === null || first === undefined) return undefined
  if (!resolveSwitch(state.settings, config).enabled) return undefined
  const choice = targetOf(refusal, {}, config)
  if (choice !== undefined) return { kind: 'move', choice, unfit, verdict }
  const original = classifyFailure({ ...first.failure, provider: first.route.provider }, { now: world.now })
  const limit = limitOf(state, turn, world.now, config)
  return limit === 'reached' ? undefined : { kind: 'wait', ...limit, failure: first.failure, on: first.route, unfit, verdict: original }
}

/**
 * Decide what to do about a failed request: move, wait, or leave it.
 *
 * @param refusal - the failure, the session it happened in, and what is known of the providers.
 * @param config - the deployment.
 * @returns the response; its reasons are data that the host, the report and the audit print.
 */
export function respond(refusal: Refusal, config: Config): Response {
  const { state, failure, provider, turn, world } = refusal
  const verdict = classifyFailure({ ...failure, provider }, { now: world.now })
  if (verdict.kind !== 'spent-allowance') {
    return answerMisfit(refusal, verdict, config) ?? { kind: 'delegate', why: 'not-an-allowance', verdict }
  }
  // The refusal concerns every session of the provider or the route, whether this one is on or off; a throttle concerns none.
  const throttle = verdict.throttle === true
  const marked: Marked = throttle ? {} : { mark: markFor(refusal, verdict, config) }
  if (!resolveSwitch(state.settings, config).enabled) return { kind: 'delegate', why: 'switched-off', verdict, ...marked }
  const choice = throttle && !isAsking(refusal) ? undefined : targetOf(refusal, marked, config)
  if (choice !== undefined) return { kind: 'move', choice, verdict, ...marked }
  const limit = limitOf(state, turn, world.now, config)
  return limit === 'reached'
    ? { kind: 'delegate', why: 'longest-wait-reached', verdict, ...marked }
    : { kind: 'wait', ...limit, failure, verdict, ...marked }
}
