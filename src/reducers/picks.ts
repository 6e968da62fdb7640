import type { Fact, FactOf } from '../events/facts.ts'
import { cutText, type Failure } from '../events/failure.ts'
import type { MovedWhy } from '../events/route-notes.ts'
import { type Route, sameRoute } from '../events/route.ts'
import { refusedRoute, type StepState } from './step.ts'

/** A route that the session was moved off since its person last said where to go. */
export interface LeftRoute {
  readonly route: Route
  /** The refusal that made it leave; `null` where the request was moved before it was sent. */
  readonly failure: Failure | null
}

/** Where requests go instead of where the harness would send them. */
export interface MovedTo extends Route {
  /** The pool of the move; its configuration says the effort. */
  readonly pool: string | null
  /** Of a pick, which names its own. */
  readonly reasoningEffort?: string
}

/** A place in the session's loop. */
export interface Place {
  readonly turn: number | null
  readonly step: number | null
}

/** What the log says of where the session's requests go, and at whose word. */
export interface PicksState {
  /** The route that the harness used, or would have, for the last request; `null` when that is not known: at first, and after a restart. */
  readonly base: Route | null
  /** Where requests go instead, while the harness would still use `base`. */
  readonly to: MovedTo | null
  /** Whether the harness was seen to go on using `base` in a later step than that of the move: then its person picked it. */
  readonly stands: boolean
  /** The route that the person picked; used although its provider is marked, until a refusal moves the session. */
  readonly picked: Route | null
  /** Whether the session was put in a pool after what the person picked last. */
  readonly overruled: boolean
  /** Where the last move was made, and the route that its request left. */
  readonly moved: Place & { readonly from: Route; readonly beforeSending: boolean; readonly why: MovedWhy | null } | null
  /** Where the last request was made. */
  readonly asked: Place
  /** What the session was moved off, the oldest first. */
  readonly left: readonly LeftRoute[]
  /** The pool that the person put the session in, since when every route of it is one to go back to. */
  readonly put: string | null
}

/** Nothing said. */
export const initialPicks: PicksState = {
  base: null, to: null, stands: false, picked: null, overruled: false, moved: null, asked: { turn: null, step: null }, left: [], put: null,
}

/** Routes left that are kept: those of a pool. */
const MAX_LEFT = 32
/** Longest text of a refusal that is kept here; what it was about is told by less. */
const LEFT_TEXT = 400

/**
 * Whether the person picked a model to which no request has gone yet.
 *
 * @param picks - the fold.
 */
export const isPending = ({ picked, to }: PicksState): boolean => to !== null && sameRoute(to, picked)

const samePlace = (a: Place, b: Place): boolean => a.turn === b.turn && a.step === b.step

function withLeft(left: PicksState['left'], route: Route | null, failure: Failure | null): PicksState['left'] {
  if (route === null) return left
  const { provider, model } = route
  const bounded = failure === null ? null : { ...failure, message: cutText(failure.message, LEFT_TEXT) }
  return [...left.filter(other => !sameRoute(other.route, route)).slice(1 - MAX_LEFT), { route: { provider, model }, failure: bounded }]
}

const askedAt = (state: PicksState, { turn, step }: Place): PicksState =>
  samePlace(state.asked, { turn, step }) ? state : { ...state, asked: { turn, step } }

/** A request was sent. The harness takes up a logged route by itself; that it did not would have been noted. */
function asked(state: PicksState, place: Place, step: StepState): PicksState {
  const here = askedAt(state, place)
  const { moved, stands, to } = state
  const tookUp = to !== null && !stands && moved !== null && sameRoute(to, step.route) && !samePlace(moved, place)
  return tookUp ? { ...here, base: step.route, to: null } : here
}

function answered(state: PicksState, fact: FactOf<'answered'>, step: StepState): PicksState {
  const now = asked(state, fact, step)
  // A move that its request did not follow, as when the plugin was not there: the session is where it was answered.
  const elsewhere = now.to !== null && !isPending(now) && !sameRoute(now.to, step.route)
  return elsewhere ? { ...now, base: step.route, to: null, stands: false } : now
}

function routed(state: PicksState, { route }: FactOf<'routed'>, step: StepState): PicksState {
  const here = askedAt(state, step)
  if (sameRoute(route, state.to)) return isPending(state) ? { ...here, base: route, to: null, stands: false, left: [], put: null } : here
  if (state.base === null) return { ...here, base: route, to: null, picked: sameRoute(route, state.picked) ? state.picked : null }
  if (sameRoute(route, step.route)) return here
  // Neither the route before nor one that we named: somebody picked it.
  return { ...here, base: route, to: null, stands: false, picked: route, overruled: false, left: [], put: null }
}

/** A step whose request left its route before it was sent is known by that, whatever followed in it. */
const isFirstOfStep = (moved: PicksState['moved'], place: Place): boolean => moved !== null && moved.beforeSending && samePlace(moved, place)

function moveTo(state: PicksState, fact: FactOf<'movePlanned'>, step: StepState): PicksState {
  const from = refusedRoute(step, fact.provider)
  const { provider, model } = fact.to
  // A model that the person picked while the request was on its way is where the next one goes.
  const to = isPending(state) ? {} : { to: { provider, model, pool: fact.pool }, picked: null }
  return {
    ...state, base: state.base ?? step.route, ...to,
    moved: from === null || isFirstOfStep(state.moved, fact) ? state.moved : { turn: fact.turn, step: fact.step, from, beforeSending: false, why: null },
    left: withLeft(state.left, from, fact.failure),
  }
}

function requestMoved(state: PicksState, { base, from, pool, to, why }: FactOf<'requestMoved'>, step: StepState): PicksState {
  const assigned = why === 'assigned'
  const { provider, model } = to
  // Within one step the harness keeps the route that the step began with.
  const later = state.moved === null || !samePlace(state.moved, step)
  return {
    ...state, base, to: { provider, model, pool }, stands: state.stands || (later && !sameRoute(base, from)), picked: null, overruled: state.overruled || assigned,
    moved: { turn: step.turn, step: step.step, from, beforeSending: true, why },
    left: assigned ? [] : why === 'marked' ? withLeft(state.left, from, null) : state.left.filter(other => !sameRoute(other.route, to)),
    put: assigned ? pool : state.put,
  }
}

function modelPicked(state: PicksState, { reasoningEffort, route }: FactOf<'modelPicked'>, step: StepState): PicksState {
  // Where the host lets us we show a move in the picker, and that reads the same.
  if (sameRoute(route, state.to) && !isPending(state) && !state.stands) return state
  const { provider, model } = route
  const picked = { provider, model }
  const effort = reasoningEffort === undefined ? {} : { reasoningEffort }
  const to = sameRoute(route, step.route) ? null : { ...picked, pool: null, ...effort }
  return { ...state, to, stands: false, picked, overruled: false, left: [], put: null, ...to === null ? { base: picked } : {} }
}

/**
 * Fold one fact into what is known of where requests go.
 *
 * @param state - what is known so far.
 * @param fact - what happened.
 * @param step - where the session's loop stood before the fact.
 * @returns what is known now; the same reference when the fact does not concern it.
 */
export function evolvePicks(state: PicksState, fact: Fact, step: StepState): PicksState {
  switch (fact.type) {
    case 'routed':
      return routed(state, fact, step)
    case 'answered':
      return answered(state, fact, step)
    case 'requestFailed':
      return asked(state, fact, step)
    case 'movePlanned':
      return moveTo(state, fact, step)
    case 'waitPlanned': {
      // A wait for another route than the one that failed leaves that one.
      if (fact.on === undefined || isPending(state) || sameRoute(fact.on, state.to)) return state
      const { provider, model } = fact.on
      return { ...state, base: state.base ?? step.route, to: { provider, model, pool: null }, picked: null }
    }
    case 'requestMoved':
      return requestMoved(state, fact, step)
    case 'modelPicked':
      return modelPicked(state, fact, step)
    case 'pickStands': {
      const { provider, model } = fact.route
      return { ...state, base: { provider, model }, stands: true }
    }
    case 'seedEnded':
      // What the host used is forgotten with it. What its person picked is not.
      return { ...state, base: null, to: isPending(state) ? state.to : null, stands: false, overruled: false, moved: null, asked: initialPicks.asked }
    default:
      return state
  }
}
