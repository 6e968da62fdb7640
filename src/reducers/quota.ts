import { produce } from 'immer'
import type { Fact, FactOf } from '../events/facts.ts'
import { boundFailure, type Failure } from '../events/failure.ts'
import { EARLY_CAUSES, type WaitCause } from '../events/policy-key.ts'
import { type Route, routeName } from '../events/route.ts'
import { withinBounds } from './bounds.ts'
import { OWN_TIMES, type PlanMemory, remember } from './plans.ts'
import { isCutOff, refusedRoute, type StepState } from './step.ts'

/** A wait that is armed: its record in the log has no pair yet, and its turn is open. */
export interface Wait {
  readonly retryId: string
  readonly retry: number
  /** Epoch ms of the record. */
  readonly plannedAt: number
  /** Epoch ms of the planned attempt. */
  readonly nextAttemptAt: number
  /** The configured interval, in ms. */
  readonly intervalMs: number
  readonly cause: WaitCause
}

/**
 * The time in which a session is out of allowance: from the first wait to the next answer, across turns, cancels and
 * restarts.
 */
export interface Entry {
  /** Epoch ms of the first wait. */
  readonly enteredAt: number
  /** Attempts planned since, for this session or by another that asks for all; one that came early counts once. */
  readonly attempts: number
  /** Where the last refused request stood. */
  readonly provider: string
  readonly model: string | null
  readonly turn: number
  readonly step: number
  /** The last refusal; its text is bounded. */
  readonly failure: Failure
  /** Epoch ms of the first wait of the turn that waits, also when another carries its run on after a restart. */
  readonly since: number
  /** The armed wait; `null` while an attempt runs, and after the turn was cancelled or ended. */
  readonly wait: Wait | null
  /**
   * Set while the turn that waited was cut off by the end of its host (a crash, a stop, an unload) and nothing came
   * after: the run is to go on. Epoch ms of the attempt it waited for; when an attempt was under way, of the cut.
   */
  readonly cutOff: number | null
  /** The turn that the run is in: the one that waits, or the one that carries it on after a cut. */
  readonly heldBy: number
  /** The plans for each route that was refused since the entry opened, by its name. */
  readonly plans: Readonly<Record<string, PlanMemory>>
}

/** Why an entry ended. */
export type LeaveReason = 'recovered' | 'disabled'

/** An entry that is over. */
export interface ClosedEntry extends Omit<Entry, 'wait' | 'since' | 'cutOff' | 'heldBy' | 'plans'> {
  readonly leftAt: number
  readonly reason: LeaveReason
}

/** The session's open entry, and the last one that closed. */
export interface EntriesState {
  readonly open: Entry | null
  readonly lastClosed: ClosedEntry | null
  /** Entries that closed so far. */
  readonly closed: number
}

/** Never out of allowance. */
export const initialEntries: EntriesState = { open: null, lastClosed: null, closed: 0 }

function waitOf(fact: FactOf<'waitPlanned'>): Wait {
  return {
    retryId: fact.retryId,
    retry: fact.retry,
    plannedAt: fact.at,
    nextAttemptAt: fact.at + fact.delayMs,
    intervalMs: fact.intervalMs,
    cause: fact.cause,
  }
}

/** Whether the record ends an armed wait before its time: the same attempt, come earlier, with the reason why. */
const supersedes = (open: Entry | null, fact: FactOf<'waitPlanned'>): boolean =>
  open !== null && open.wait !== null && open.heldBy === fact.turn && EARLY_CAUSES.has(fact.cause)

/** Routes whose plans are kept: those of a pool. */
const MAX_PLANS = 64

/** The record of a wait tells when the refused route is asked again; of one that another route ends, only that it is not later. */
function withPlan(plans: Entry['plans'], fact: FactOf<'waitPlanned'>, route: Route | null): Entry['plans'] {
  if (route === null || EARLY_CAUSES.has(fact.cause) || fact.cause === 'shared') return plans
  const name = routeName(route)
  const own = OWN_TIMES.has(fact.cause)
  const plan = remember(plans[name], { at: fact.at, delayMs: own ? fact.delayMs : fact.intervalMs, cause: own ? fact.cause : 'interval' })
  return withinBounds({ ...plans, [name]: plan }, MAX_PLANS)
}

function planned(state: EntriesState, fact: FactOf<'waitPlanned'>, step: StepState): EntriesState {
  const { open } = state
  const refused = fact.on ?? refusedRoute(step, fact.provider)
  // A route that fails otherwise at its return is not back yet: what was refused stays what is waited for.
  const outage = fact.cause === 'outage' && open !== null
  const sameTurn = open !== null && open.heldBy === fact.turn
  const entry: Entry = {
    enteredAt: open?.enteredAt ?? fact.at,
    attempts: (open?.attempts ?? 0) + (supersedes(open, fact) ? 0 : 1),
    provider: outage ? open.provider : refused?.provider ?? fact.provider,
    model: outage ? open.model : refused?.model ?? null,
    turn: fact.turn,
    step: fact.step,
    failure: outage ? open.failure : boundFailure(fact.failure),
    since: sameTurn ? open.since : fact.at,
    // A record that stands outside its turn (a damaged log) is a wait that was planned, and none that anybody holds.
    wait: step.turn === fact.turn ? waitOf(fact) : null,
    cutOff: null,
    heldBy: fact.turn,
    plans: withPlan(open?.plans ?? {}, fact, refused),
  }
  return { ...state, open: entry }
}

function close(state: EntriesState, reason: LeaveReason, at: number): EntriesState {
  if (state.open === null) return state
  const { wait: _wait, since: _since, cutOff: _cutOff, heldBy: _heldBy, plans: _plans, ...entry } = state.open
  return { open: null, lastClosed: { ...entry, reason, leftAt: at }, closed: state.closed + 1 }
}

const disarm = (state: EntriesState): EntriesState =>
  state.open === null || state.open.wait === null
    ? state
    : produce(state, (draft) => { if (draft.open !== null) draft.open.wait = null })

/** Whether the end of a turn was the end of its host, and not of the run. */
function isCut({ open }: EntriesState, fact: FactOf<'turnEnded'>): boolean {
  if (open === null || open.heldBy !== fact.turn) return false
  if (isCutOff(fact)) return true
  // A wait that was given up without an attempt: the plugin was unloaded in it.
  return fact.outcome === 'error' && open.wait !== null
}

function cut(state: EntriesState, at: number): EntriesState {
  const { open } = state
  return open === null ? state : { ...state, open: { ...open, wait: null, cutOff: open.wait?.nextAttemptAt ?? at } }
}

/** A turn that begins after a cut carries the run on. */
function carryOn(state: EntriesState, turn: number): EntriesState {
  const { open } = state
  return open === null || open.cutOff === null ? disarm(state) : { ...state, open: { ...open, wait: null, cutOff: null, heldBy: turn } }
}

/**
 * Fold one fact into the entries.
 *
 * @param state - the entries so far.
 * @param fact - what happened.
 * @param step - where the session's loop stood before the fact; it knows the model that a refusal does not name.
 * @param switchedOff - whether the fact turned the session's switch off.
 * @returns the entries now; the same reference when the fact does not concern them.
 */
export function evolveEntries(state: EntriesState, fact: Fact, step: StepState, switchedOff: boolean): EntriesState {
  switch (fact.type) {
    case 'waitPlanned':
      return planned(state, fact, step)
    case 'attemptStarted':
      return state.open?.wait?.retryId === fact.retryId && state.open.wait.retry === fact.retry ? disarm(state) : state
    case 'requestFailed':
    case 'movePlanned':
    case 'backoffPlanned':
    case 'otherRetryPlanned':
      // The loop goes on although the wait has no pair: it was given up, as when the plugin was unloaded in it.
      return disarm(state)
    case 'turnStarted':
      return carryOn(state, fact.turn)
    case 'turnEnded':
      // Cancelling ends the wait and keeps the entry: the allowance is as spent as it was.
      return isCut(state, fact) ? cut(state, fact.at) : disarm(state)
    case 'seedEnded':
      // A switch that the person turned off just before the host ended is off.
      return switchedOff ? close(state, 'disabled', fact.at) : disarm(state)
    case 'answered':
      return close(state, 'recovered', fact.at)
    case 'commandSettled':
      return switchedOff ? close(state, 'disabled', fact.at) : state
    default:
      return state
  }
}
