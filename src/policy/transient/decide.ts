import type { Failure } from '../../events/failure.ts'
import type { Route } from '../../events/route.ts'
import type { SessionState } from '../../reducers/session.ts'
import type { LadderState } from '../../reducers/transient.ts'
import { MAX_DELAY_MS } from '../bounds.ts'
import type { Config } from '../config.ts'
import type { Classification } from '../judge/classify.ts'
import type { KnownRoutes } from '../quota/plan.ts'
import type { PlannedWait } from '../quota/wait.ts'
import { resolveLadder } from '../settings.ts'
import { admission } from './codes.ts'
import { backoffMs } from './curve.ts'
import { isSetting } from './same-failure.ts'

/** How the harness itself retries on a provider. */
export interface ProviderPolicy {
  readonly mode: string
}

/** Why no further try is made. */
export type LadderLeave =
  /** The failure is none that passes. */
  | 'does-not-pass'
  /** A failure that no configuration makes worth another try. */
  | 'hard-denied'
  /** The configuration names its code as one that is never retried. */
  | 'excluded'
  /** Retries are off, for this session or at all. */
  | 'retries-off'
  /** The provider's own policy retries for ever, and asks us each time. */
  | 'provider-retries-always'
  /** The adapter says nothing of retries, and the configuration leaves those alone. */
  | 'no-provider-policy'
  | 'tries-used-up'
  | 'time-used-up'
  /** Three times the same failure after the same time: a setting of the request, and no outage. */
  | 'same-failure'

/** One more try. */
export interface Ladder {
  readonly kind: 'retry'
  readonly passes: true
  /** When the route is asked again. */
  readonly asked: PlannedWait
  /** Number of the try, from 1. */
  readonly try: number
  /** How many there may be; `null` for no limit. */
  readonly of: number | null
}

/** What the ladder says of a failure. */
export type LadderAnswer = Ladder | { readonly kind: 'leave'; readonly why: LadderLeave; readonly passes: boolean }

/** What the ladder looks at. */
export interface LadderContext {
  readonly state: SessionState
  readonly failure: Failure
  readonly turn: number
  readonly step: number
  readonly world: { readonly now: number }
  readonly known: KnownRoutes
  readonly retryPolicy?: ProviderPolicy
  readonly random: number
}

/** The ladder of the failed step, as its log tells. */
function ladderOf({ state, turn, step }: LadderContext): LadderState | undefined {
  const { ladder } = state.transient
  return ladder !== null && ladder.turn === turn && ladder.step === step ? ladder : undefined
}

/** What ends the tries of a step although the failure passes. */
function endOf(context: LadderContext, ladder: LadderState | undefined, config: Config): LadderLeave | undefined {
  const { transient } = config
  if (!resolveLadder(context.state.settings, config).enabled) return 'retries-off'
  if (context.retryPolicy?.mode === 'always') return 'provider-retries-always'
  if (context.retryPolicy === undefined && !transient.retryWithoutProviderPolicy) return 'no-provider-policy'
  if (transient.maxRetries !== null && (ladder?.tries ?? 0) >= transient.maxRetries) return 'tries-used-up'
  const { now } = context.world
  if (transient.maxDurationMs !== null && now - Math.min(now, ladder?.since ?? now) >= transient.maxDurationMs) return 'time-used-up'
  return ladder !== undefined && isSetting(ladder.failed) ? 'same-failure' : undefined
}

/**
 * Whether and when a failure that passes is asked again in its step, after the harness gave up on it.
 *
 * @param context - the failure, and the session it happened in.
 * @param verdict - what the failure means.
 * @param route - the route that failed.
 * @param config - the deployment.
 */
export function answerPassing(context: LadderContext, verdict: Classification, route: Route, config: Config): LadderAnswer {
  const { transient } = config
  const admitted = admission(context.failure.code, verdict, transient)
  if (admitted !== 'passes') return { kind: 'leave', why: admitted, passes: false }
  const ladder = ladderOf(context)
  const why = endOf(context, ladder, config)
  if (why !== undefined) return { kind: 'leave', why, passes: true }
  const { now } = context.world
  const tries = ladder?.tries ?? 0
  // Who asks for all goes on at the pace that was reached for all.
  const { memory, sharedAt } = context.known(route, 'transient')
  const rung = Math.max(tries, memory?.outages ?? 0)
  const asked: PlannedWait = sharedAt === undefined
    ? { delayMs: backoffMs({ tries: rung, nativeDelayMs: ladder?.nativeDelayMs ?? 0, named: context.failure.providerRetryAfterMs, random: context.random }, transient), cause: 'backoff' }
    : { delayMs: Math.min(MAX_DELAY_MS, Math.max(1, Math.round(sharedAt - now))), cause: 'shared' }
  return { kind: 'retry', passes: true, asked, try: tries + 1, of: transient.maxRetries }
}
