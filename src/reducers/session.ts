import { decodeEvent } from '../events/decode.ts'
import type { Fact } from '../events/facts.ts'
import { type EntriesState, evolveEntries, initialEntries } from './quota.ts'
import { evolveFailovers, type FailoversState, initialFailovers } from './pool.ts'
import { evolvePicks, initialPicks, type PicksState } from './picks.ts'
import { evolveSettings, overruledByPick, initialSettings, type SettingsState } from './settings.ts'
import { evolveTransient, initialTransient, type TransientState } from './transient.ts'
import { evolveStep, initialStep, type StepState } from './step.ts'

/** Who the session is and whom it descends from. */
export interface Lineage {
  readonly id: string | null
  readonly parent: string | null
  /** How many leading events of its log came from its parent. */
  readonly seedLength: number
  /** Whether a turn began in the session's own history: what a child did not inherit by then, it does not any more. */
  readonly started: boolean
}

/** Everything that the log of one session says about its allowance. Plain JSON. */
export interface SessionState {
  readonly lineage: Lineage
  readonly settings: SettingsState
  readonly step: StepState
  readonly entries: EntriesState
  readonly failovers: FailoversState
  readonly picks: PicksState
  readonly transient: TransientState
}

/** The state of the empty log. */
export const initialState: SessionState = {
  lineage: { id: null, parent: null, seedLength: 0, started: false },
  settings: initialSettings,
  step: initialStep,
  entries: initialEntries,
  failovers: initialFailovers,
  picks: initialPicks,
  transient: initialTransient,
}

function evolveLineage(state: Lineage, fact: Fact): Lineage {
  switch (fact.type) {
    case 'sessionOpened':
      return { ...state, id: fact.id, parent: fact.parent ?? null, seedLength: fact.seedLength ?? 0 }
    case 'turnStarted':
      return state.started ? state : { ...state, started: true }
    default:
      return state
  }
}

/**
 * Whether the fact ends what a fork took over from its parent. Newer logs say so in the event; older ones only by
 * where it stands, the length of the seed being in their head: right behind the seed, or as its last event when the
 * parent's log already ended in one (the harness then writes no second).
 */
const endsParentHistory = (lineage: Lineage, fact: Fact): boolean =>
  fact.type === 'seedEnded' && (fact.inherited
    || (lineage.parent !== null && lineage.seedLength > 0
      && (fact.seq === lineage.seedLength || fact.seq === lineage.seedLength - 1)))

/** A fork keeps its parent's settings as inherited ones, and may still take over newer ones. */
const asInherited = (state: SettingsState): SettingsState => ({
  ...state,
  retry: state.retry === null ? null : { ...state.retry, source: 'inherited' },
  failures: state.failures === null ? null : { ...state.failures, source: 'inherited' },
  pool: state.pool === null ? null : { ...state.pool, source: 'inherited' },
  assigned: false,
  assignedRequest: false,
  touched: false,
})

function beginOwnHistory(state: SessionState): SessionState {
  return {
    ...state,
    lineage: { ...state.lineage, started: false },
    settings: asInherited(state.settings),
    entries: initialEntries,
    failovers: initialFailovers,
    transient: initialTransient,
  }
}

/**
 * Fold one fact into the state of its session.
 *
 * @param state - the state so far; never mutated.
 * @param fact - what happened.
 * @returns the state now; the same reference when the fact changes nothing.
 */
export function evolve(state: SessionState, fact: Fact): SessionState {
  const lineage = evolveLineage(state.lineage, fact)
  const picks = evolvePicks(state.picks, fact, state.step)
  // A header may show that the person picked: they did so after they chose the pool.
  const pickedNow = fact.type === 'routed' && picks.picked !== null && picks.picked !== state.picks.picked
  const settings = pickedNow ? overruledByPick(state.settings) : evolveSettings(state.settings, fact)
  const switchedOff = settings.retry?.value === 'off' && settings.retry !== state.settings.retry
  const entries = evolveEntries(state.entries, fact, state.step, switchedOff)
  const failovers = evolveFailovers(state.failovers, fact, state.step, state.entries.open !== null)
  const retriesOff = settings.failures?.value === 'off' && settings.failures !== state.settings.failures
  const transient = evolveTransient(state.transient, fact, state.step, retriesOff)
  const step = evolveStep(state.step, fact)
  const unchanged = lineage === state.lineage && settings === state.settings && entries === state.entries
    && failovers === state.failovers && picks === state.picks && transient === state.transient && step === state.step
  const next: SessionState = unchanged ? state : { lineage, settings, step, entries, failovers, picks, transient }
  return endsParentHistory(lineage, fact) ? beginOwnHistory(next) : next
}

/**
 * Fold one raw event into the state of its session.
 *
 * @param state - the state so far; never mutated.
 * @param event - an event of the log, of any version, or anything else.
 * @returns the state now; the same reference for an event that is not ours. Never throws.
 */
export function evolveEvent(state: SessionState, event: unknown): SessionState {
  const fact = decodeEvent(event)
  return fact === undefined ? state : evolve(state, fact)
}

/**
 * Fold a whole log.
 *
 * @param events - the log's rows in order; a head line may come first.
 * @param from - the state to start from, for the tail of a log.
 */
export function foldSession(events: Iterable<unknown>, from: SessionState = initialState): SessionState {
  let state = from
  for (const event of events) state = evolveEvent(state, event)
  return state
}
