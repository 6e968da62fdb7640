import type { Failure } from '../events/failure.ts'
import type { WaitCause } from '../events/policy-key.ts'
import type { SessionState } from '../reducers/session.ts'
import { type Classification, classifyFailure } from './classify.ts'
import type { Config } from './config.ts'
import { resolveSwitch } from './settings.ts'
import { planWait } from './wait.ts'

/** A failed request, and everything that the answer to it may depend on. */
export interface Refusal {
  readonly state: SessionState
  readonly failure: Failure
  readonly provider: string
  readonly turn: number
  /** Epoch ms. */
  readonly now: number
}

/** Why a failure was left to the harness. */
export type DelegateReason = 'switched-off' | 'not-an-allowance' | 'longest-wait-reached'

/** What to do about a failed request. */
export type Response =
  /** Leave it to the harness. */
  | { readonly kind: 'delegate'; readonly why: DelegateReason; readonly verdict?: Classification }
  /** Ask the same route again after a while, in the same step. */
  | { readonly kind: 'wait'; readonly delayMs: number; readonly cause: WaitCause; readonly verdict: Classification }

/**
 * Decide what to do about a failed request.
 *
 * @param refusal - the failure, the session it happened in, and the time.
 * @param config - the deployment.
 * @returns the response; its reason is data that the host, the report and the audit print.
 */
export function respond(refusal: Refusal, config: Config): Response {
  const { state, failure, provider, turn, now } = refusal
  const verdict = classifyFailure({ ...failure, provider }, { now })
  if (verdict.kind !== 'spent-allowance') return { kind: 'delegate', why: 'not-an-allowance', verdict }
  if (!resolveSwitch(state.settings, config).enabled) return { kind: 'delegate', why: 'switched-off', verdict }
  const wait = planWait(now, turn, state.entries.open, verdict, config)
  return wait === undefined
    ? { kind: 'delegate', why: 'longest-wait-reached', verdict }
    : { kind: 'wait', ...wait, verdict }
}
