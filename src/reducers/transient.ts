import type { Fact, FactOf } from '../events/facts.ts'
import { boundFailure, type Failure } from '../events/failure.ts'
import type { Wait } from './quota.ts'
import { isCutOff, refusedRoute, type StepState } from './step.ts'

/** A try of ours that failed. */
export interface FailedTry {
  readonly code: string
  /** From the try to its failure, in ms. */
  readonly durationMs: number
}

/** The tries of one step after the harness gave up. */
export interface LadderState {
  readonly turn: number
  readonly step: number
  /** Epoch ms of the step's first failure. */
  readonly since: number
  /** Tries of ours that were sent. */
  readonly tries: number
  /** Retries of the harness itself in this step, and the longest of their delays, in ms. */
  readonly nativeRetries: number
  readonly nativeDelayMs: number
  /** The last failed tries of ours, oldest first. */
  readonly failed: readonly FailedTry[]
  /** The last failure of the step; its text is bounded. */
  readonly failure: Failure
  /** Where it stood. */
  readonly provider: string
  readonly model: string | null
  /** The armed try: its record in the log has no pair yet. */
  readonly wait: Wait | null
  /** Epoch ms at which the try of ours was sent that is under way; `null` while none is. */
  readonly triedAt: number | null
}

/** A ladder that the end of its host cut off: the run is to go on. */
export interface CutLadder {
  /** Epoch ms of the try it waited for; when one was under way, of the cut. */
  readonly at: number
  readonly turn: number
  readonly provider: string
  readonly model: string | null
}

/** What a session's log tells of failures that pass. */
export interface TransientState {
  /** The open step's ladder. */
  readonly ladder: LadderState | null
  readonly cut: CutLadder | null
  /** Steps that were saved by a try so far. */
  readonly saved: number
}

/** No failure yet. */
export const initialTransient: TransientState = { ladder: null, cut: null, saved: 0 }

/** Failed tries that are kept: what tells a setting from an outage. */
const KEPT_TRIES = 3

function failed(state: TransientState, fact: FactOf<'requestFailed'>, step: StepState): TransientState {
  const { ladder } = state
  const same = ladder !== null && ladder.turn === fact.turn && ladder.step === fact.step ? ladder : null
  const triedAt = same?.triedAt ?? null
  const tried = triedAt === null
    ? same?.failed ?? []
    : [...same?.failed ?? [], { code: fact.failure.code, durationMs: Math.max(0, fact.at - triedAt) }].slice(-KEPT_TRIES)
  return {
    ...state,
    ladder: {
      turn: fact.turn, step: fact.step, since: same?.since ?? fact.at, tries: same?.tries ?? 0,
      nativeRetries: same?.nativeRetries ?? 0, nativeDelayMs: same?.nativeDelayMs ?? 0,
      failed: tried, failure: boundFailure(fact.failure), provider: step.route?.provider ?? '', model: step.route?.model ?? null,
      wait: null, triedAt: null,
    },
  }
}

function planned(state: TransientState, fact: FactOf<'backoffPlanned'>, step: StepState): TransientState {
  const ladder = state.ladder ?? failed(state, { ...fact, type: 'requestFailed' }, step).ladder
  if (ladder === null || step.turn !== fact.turn) return state
  const wait: Wait = {
    retryId: fact.retryId, retry: fact.retry, plannedAt: fact.at, nextAttemptAt: fact.at + fact.delayMs,
    intervalMs: fact.delayMs, cause: fact.cause,
  }
  return { ...state, ladder: { ...ladder, provider: fact.provider, model: refusedRoute(step, fact.provider)?.model ?? null, failure: boundFailure(fact.failure), wait } }
}

function started(state: TransientState, fact: FactOf<'attemptStarted'>): TransientState {
  const { ladder } = state
  const ours = ladder?.wait?.retryId === fact.retryId && ladder.wait.retry === fact.retry
  return !ours || ladder === null ? state : { ...state, ladder: { ...ladder, wait: null, triedAt: fact.at, tries: ladder.tries + 1 } }
}

/** Whether the end of a turn was the end of its host, and not of the run. */
const wasCut = (ladder: LadderState, fact: FactOf<'turnEnded'>): boolean =>
  isCutOff(fact) || (fact.outcome === 'error' && ladder.wait !== null)

function ended(state: TransientState, fact: FactOf<'turnEnded'>): TransientState {
  const { ladder } = state
  if (ladder === null) return state
  const held = ladder.turn === fact.turn && (ladder.wait !== null || ladder.triedAt !== null)
  const cut = held && wasCut(ladder, fact)
    ? { at: ladder.wait?.nextAttemptAt ?? fact.at, turn: fact.turn, provider: ladder.provider, model: ladder.model }
    : state.cut
  return { ...state, ladder: null, cut }
}

const withoutLadder = (state: TransientState): TransientState =>
  state.ladder === null ? state : { ...state, ladder: null }

/** A wait or a move of another policy takes the armed try's place. */
const disarmed = (state: TransientState): TransientState =>
  state.ladder?.wait == null ? state : { ...state, ladder: { ...state.ladder, wait: null } }

function nativeRetry(state: TransientState, fact: FactOf<'otherRetryPlanned'>): TransientState {
  const { ladder } = state
  return ladder === null ? state : {
    ...state,
    ladder: { ...ladder, wait: null, triedAt: null, nativeRetries: ladder.nativeRetries + 1, nativeDelayMs: Math.max(ladder.nativeDelayMs, fact.delayMs) },
  }
}

/**
 * Fold one fact into the ladder.
 *
 * @param state - the ladder so far.
 * @param fact - what happened.
 * @param step - where the session's loop stood before the fact.
 * @param switchedOff - whether the fact turned the session's retries off.
 * @returns the ladder now; the same reference when the fact does not concern it.
 */
export function evolveTransient(state: TransientState, fact: Fact, step: StepState, switchedOff: boolean): TransientState {
  const kept = switchedOff && state.cut !== null ? { ...state, cut: null } : state
  return evolved(kept, fact, step)
}

function evolved(state: TransientState, fact: Fact, step: StepState): TransientState {
  switch (fact.type) {
    case 'stepStarted':
      // A ladder belongs to one step.
      return withoutLadder(state)
    case 'requestFailed':
      return failed(state, fact, step)
    case 'otherRetryPlanned':
      return nativeRetry(state, fact)
    case 'backoffPlanned':
      return planned(state, fact, step)
    case 'waitPlanned':
    case 'movePlanned':
      return disarmed(state)
    case 'attemptStarted':
      return started(state, fact)
    case 'answered': {
      const saved = state.ladder !== null && state.ladder.triedAt !== null ? state.saved + 1 : state.saved
      return state.ladder === null && state.cut === null ? state : { ...state, ladder: null, cut: null, saved }
    }
    case 'turnStarted':
      return state.cut === null ? withoutLadder(state) : { ...withoutLadder(state), cut: null }
    case 'turnEnded':
      return ended(state, fact)
    case 'stepEnded':
      // The turn's end still has to say whether the host ended in a try.
      return state
    case 'seedEnded':
      return withoutLadder(state)
    default:
      return state
  }
}
