import type { Fact, FactOf } from '../events/facts.ts'
import { boundFailure, type Failure } from '../events/failure.ts'
import type { MoveCause } from '../events/policy-key.ts'
import type { MovedWhy } from '../events/route-notes.ts'
import { type Route, sameRoute } from '../events/route.ts'
import { refusedRoute, type StepState } from './step.ts'

/** One move of a session to another route of its pool. */
export interface Move {
  /** The route that it left; `null` when the log does not name its model. */
  readonly from: Route | null
  readonly to: Route
  readonly pool: string
  /** Epoch ms of the decision. */
  readonly at: number
  readonly turn: number
  readonly step: number
  /** The refusal that it answers; `null` where the request left its route before it was sent. */
  readonly failure: Failure | null
  /** Whether a request really went to the target: the header that follows a move confirms it. */
  readonly confirmed: boolean
  /** What ended the wait before it; absent where it answered a refusal at once. */
  readonly afterWait?: MoveCause
  /** Why the request left its route before it was sent; absent where it was refused. */
  readonly why?: MovedWhy
}

/** A move after a refusal to a route that serves the session. */
export interface Failover extends Move {
  readonly failure: Failure
}

/**
 * The moves of a session. While it is out of allowance the routes of its pool are asked in turn, and none of these moves
 * is a failover; the answer of another route than the one it was on is.
 */
export interface FailoversState {
  /** Failovers so far. */
  readonly count: number
  /** The last move of any kind. */
  readonly last: Move | null
  /** The last failover. */
  readonly lastFailover: Failover | null
  /** Moves of any kind so far. */
  readonly moves: number
  /** Where the session was when it began to ask in turn; `null` when it does not. */
  readonly askingFrom: Route | null
}

/** Never moved. */
export const initialFailovers: FailoversState = { count: 0, last: null, lastFailover: null, moves: 0, askingFrom: null }

function moved(state: FailoversState, fact: FactOf<'movePlanned'>, step: StepState, out: boolean): FailoversState {
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
  const moves = state.moves + 1
  return out
    ? { ...state, last, moves, askingFrom: state.askingFrom ?? last.from }
    : { count: state.count + 1, last, lastFailover: last, moves, askingFrom: null }
}

function left(state: FailoversState, { at, from, pool, to, why }: FactOf<'requestMoved'>, step: StepState): FailoversState {
  const last: Move = { from, to, pool, at, turn: step.turn ?? 0, step: step.step ?? 0, failure: null, confirmed: false, why }
  return { ...state, last, moves: state.moves + 1 }
}

/** Only the request that the move was made for confirms it; a later turn may use that route for other reasons. */
function confirmed(state: FailoversState, { route }: FactOf<'routed'>, step: StepState): FailoversState {
  const { last, lastFailover } = state
  if (last === null || last.confirmed || !sameRoute(last.to, route) || last.turn !== step.turn || last.step !== step.step) return state
  const now: Move = { ...last, confirmed: true }
  // Of the two, the one that was counted when it was planned is the same move.
  const both = last.failure !== null && lastFailover !== null && state.askingFrom === null
  return { ...state, last: now, ...both ? { lastFailover: { ...lastFailover, confirmed: true } } : {} }
}

function answered(state: FailoversState, fact: FactOf<'answered'>, step: StepState): FailoversState {
  const { askingFrom, last } = state
  if (askingFrom === null) return state
  const by = fact.route ?? step.route
  const now = { ...state, askingFrom: null }
  if (last === null || last.failure === null || !sameRoute(by, last.to) || sameRoute(by, askingFrom)) return now
  return { ...now, count: state.count + 1, lastFailover: { ...last, failure: last.failure, from: askingFrom } }
}

/**
 * Fold one fact into the moves.
 *
 * @param state - the moves so far.
 * @param fact - what happened.
 * @param step - where the session's loop stood before the fact.
 * @param out - whether the session was out of allowance before the fact.
 * @returns the moves now; the same reference when the fact does not concern them.
 */
export function evolveFailovers(state: FailoversState, fact: Fact, step: StepState, out: boolean): FailoversState {
  switch (fact.type) {
    case 'movePlanned':
      return moved(state, fact, step, out)
    case 'requestMoved':
      return left(state, fact, step)
    case 'routed':
      return confirmed(state, fact, step)
    case 'answered':
      return answered(state, fact, step)
    default:
      return state
  }
}
