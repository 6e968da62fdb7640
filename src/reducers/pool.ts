import type { Fact, FactOf } from '../events/facts.ts'
import { boundFailure, type Failure } from '../events/failure.ts'
import type { MoveCause } from '../events/policy-key.ts'
import { type Route, sameRoute } from '../events/route.ts'
import { refusedRoute, type StepState } from './step.ts'

/** One move of a session from a route that refused to another of its pool. */
export interface Failover {
  /** The route that refused; `null` when the log does not name its model. */
  readonly from: Route | null
  readonly to: Route
  readonly pool: string
  /** Epoch ms of the decision. */
  readonly at: number
  readonly turn: number
  readonly step: number
  readonly failure: Failure
  /** Whether a request really went to the target: the header that follows a move confirms it. */
  readonly confirmed: boolean
  /** What ended the wait before it; absent where it answered a refusal at once. */
  readonly afterWait?: MoveCause
}

/** The moves of a session. */
export interface FailoversState {
  readonly count: number
  readonly last: Failover | null
}

/** Never moved. */
export const initialFailovers: FailoversState = { count: 0, last: null }

function moved(state: FailoversState, fact: FactOf<'movePlanned'>, step: StepState): FailoversState {
  const last: Failover = {
    from: refusedRoute(step, fact.provider),
    to: fact.to,
    pool: fact.pool,
    at: fact.at,
    turn: fact.turn,
    step: fact.step,
    failure: boundFailure(fact.failure),
    confirmed: false,
    ...fact.afterWait === undefined ? {} : { afterWait: fact.afterWait },
  }
  return { count: state.count + 1, last }
}

/**
 * Fold one fact into the moves.
 *
 * @param state - the moves so far.
 * @param fact - what happened.
 * @param step - where the session's loop stood before the fact.
 * @returns the moves now; the same reference when the fact does not concern them.
 */
export function evolveFailovers(state: FailoversState, fact: Fact, step: StepState): FailoversState {
  switch (fact.type) {
    case 'movePlanned':
      return moved(state, fact, step)
    case 'routed':
      // Only the request that the move was made for confirms it; a later turn may use that route for other reasons.
      return state.last !== null && !state.last.confirmed && sameRoute(state.last.to, fact.route)
        && state.last.turn === step.turn && state.last.step === step.step
        ? { ...state, last: { ...state.last, confirmed: true } }
        : state
    default:
      return state
  }
}
