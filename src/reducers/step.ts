import type { Fact, FactOf, PlannedRetry } from '../events/facts.ts'
import { boundFailure, type Failure } from '../events/failure.ts'
import { PERSON_CAUSES } from '../events/policy-key.ts'
import { type Route, sameRoute } from '../events/route.ts'
import { withinBounds } from './bounds.ts'

/**
 * Chains of one step: fifty routes, each moved to and waited for from each other, in every way in which a wait may end,
 * are 65,000. A number that is in use must not begin anew, or the harness's own companion ends the turn.
 */
const MAX_CHAINS = 65_536
/** Chains that are copied with every record; more are put away together, so that no log makes the fold slow. */
const MAX_RECENT = 64
/** Routes that refuse in one step: those of a pool. */
const MAX_REFUSED = 64

/** A chain of planned retries: one policy, one provider, one step. */
export interface Chain {
  readonly retryId: string
  /** Number of the last planned retry, from 1. */
  readonly retry: number
}

/** Chains by {@link chainKey}: `recent` ones come before those that were put away. */
export interface Chains {
  readonly recent: Readonly<Record<string, Chain>>
  readonly earlier: Readonly<Record<string, Chain>>
}

/** A route that refused, and what it said. */
export interface RefusedRoute {
  readonly route: Route
  readonly failure: Failure
}

/** Where the session's loop stands, and on which route. */
export interface StepState {
  /** The open turn, or `null` between turns. */
  readonly turn: number | null
  /** The open step of the turn, or `null` between steps. */
  readonly step: number | null
  /** The turns that the ends of their hosts cut off one after another, up to the last one that ended; `null` after any other end, and after an answer. */
  readonly cut: { readonly from: number; readonly to: number } | null
  /** The route of the last request, as logged. */
  readonly route: Route | null
  readonly reasoningEffort: string | null
  /** Our planned retries of the open step; their numbers must go on without a gap. Those of other policies are theirs. */
  readonly chains: Chains
  /** What refused a request of this step since it began or since its last wait, in order; not to be asked again without one. */
  readonly refused: readonly RefusedRoute[]
  /** Whether the last wait of this step ended because its person asked: then every route of the pool is asked once, marked or not. */
  readonly asking: boolean
}

const noChains: Chains = { recent: {}, earlier: {} }

/** Nothing open, no route used. */
export const initialStep: StepState = { turn: null, step: null, cut: null, route: null, reasoningEffort: null, chains: noChains, refused: [], asking: false }

const chainKey = (provider: string, policyKey: string): string => JSON.stringify([provider, policyKey])

/**
 * The chain that the next record of a policy goes on with.
 *
 * @param step - where the session's loop stands.
 * @param provider - provider of the failed request.
 * @param policyKey - the policy's key.
 * @returns `undefined` where the record begins a chain.
 */
export function chainOf({ chains }: Pick<StepState, 'chains'>, provider: string, policyKey: string): Chain | undefined {
  const key = chainKey(provider, policyKey)
  return chains.recent[key] ?? chains.earlier[key]
}

/**
 * The route of a request that a provider refused: a record names the provider alone.
 *
 * @param step - where the session's loop stood.
 * @param provider - the provider.
 * @returns `null` where the log does not name the model.
 */
export const refusedRoute = ({ route }: Pick<StepState, 'route'>, provider: string): Route | null => route?.provider === provider ? route : null

const isEmpty = (map: object): boolean => Object.keys(map).length === 0

const closed = (state: StepState): StepState =>
  state.turn === null && state.step === null && state.refused.length === 0 && !state.asking && isEmpty(state.chains.recent) && isEmpty(state.chains.earlier)
    ? state
    : { ...state, turn: null, step: null, chains: noChains, refused: [], asking: false }

/**
 * Whether a turn was ended by the end of its host, and not by itself or a person.
 *
 * @param fact - the end of a turn.
 */
export const isCutOff = (fact: FactOf<'turnEnded'>): boolean =>
  fact.outcome === 'interrupted' || (fact.outcome === 'aborted' && fact.by === 'disposed')

/** Each route once, in the order of their first failures; of several failures of one the newest is what counts. */
function withRefusal(refused: StepState['refused'], route: Route, failure: Failure): RefusedRoute[] {
  return refused.some(other => sameRoute(other.route, route))
    ? refused.map(other => sameRoute(other.route, route) ? { route, failure } : other)
    : [...refused.slice(1 - MAX_REFUSED), { route, failure }]
}

function withChain({ recent, earlier }: Chains, { policyKey, provider, retry, retryId }: PlannedRetry): Chains {
  const all = { ...recent, [chainKey(provider, policyKey)]: { retryId, retry } }
  return Object.keys(all).length <= MAX_RECENT
    ? { recent: all, earlier }
    : { recent: {}, earlier: withinBounds({ ...earlier, ...all }, MAX_CHAINS) }
}

/**
 * Fold one fact into the place of the session's loop.
 *
 * @param state - the place so far.
 * @param fact - what happened.
 * @returns the place now; the same reference when the fact does not concern it.
 */
export function evolveStep(state: StepState, fact: Fact): StepState {
  switch (fact.type) {
    case 'turnStarted':
      return { ...state, turn: fact.turn, step: null, chains: noChains, refused: [], asking: false }
    case 'stepStarted':
      return { ...state, turn: fact.turn, step: fact.step, chains: noChains, refused: [], asking: false }
    case 'stepEnded':
      return { ...state, step: null, chains: noChains, refused: [], asking: false }
    case 'turnEnded':
      return { ...closed(state), cut: isCutOff(fact) ? { from: state.cut?.from ?? fact.turn, to: fact.turn } : null }
    case 'seedEnded':
      return closed(state)
    case 'answered':
      return state.cut === null ? state : { ...state, cut: null }
    case 'routed': {
      // A header is logged also for other changes than that of the route.
      const reasoningEffort = fact.reasoningEffort ?? null
      return sameRoute(state.route, fact.route) && state.reasoningEffort === reasoningEffort
        ? state
        : { ...state, route: fact.route, reasoningEffort }
    }
    case 'requestFailed':
      return state.route === null ? state : { ...state, refused: withRefusal(state.refused, state.route, boundFailure(fact.failure)) }
    case 'waitPlanned':
      // A wait opens a new round: after it every route may be asked once more.
      return { ...state, chains: withChain(state.chains, fact), refused: [], asking: PERSON_CAUSES.has(fact.cause) }
    case 'movePlanned':
    case 'backoffPlanned':
      return { ...state, chains: withChain(state.chains, fact) }
    default:
      return state
  }
}
