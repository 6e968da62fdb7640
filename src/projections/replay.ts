import type { Fact } from '../events/facts.ts'
import { foldJournal, type JournalState } from '../reducers/journal.ts'
import type { ClosedEntry, Entry } from '../reducers/quota.ts'
import type { Move } from '../reducers/pool.ts'
import { initialState, type SessionState } from '../reducers/session.ts'
import type { SettingsState } from '../reducers/settings.ts'
import { transitions } from '../reducers/transitions.ts'
import type { Route } from '../events/route.ts'
import { type Advance, advance, beginsOwnHistory, isInherited } from './audit/advance.ts'

/** One thing that happened, and the state of the session after it. */
export interface Moment {
  readonly fact: Fact
  readonly state: SessionState
}

/** The whole history of one session, as its log tells it. */
export interface Replay {
  readonly session: string | null
  readonly settings: SettingsState
  /** The route of the last request. */
  readonly route: Route | null
  /** Every entry of the session's own history, oldest first; the last may still be open. */
  readonly entries: readonly (ClosedEntry | Entry)[]
  /** Every move of the session's own history, oldest first. */
  readonly failovers: readonly Move[]
  /** Requests that failed and answers that were committed, in the session's own history. */
  readonly failures: number
  readonly answers: number
  /** Every fact in order, with the state after it. */
  readonly moments: readonly Moment[]
  /** Index of the first moment that is the session's own: a fork's log begins with what happened in its parent. */
  readonly ownFrom: number
  /** The folded state at the end of the log. */
  readonly state: SessionState
  /** The folded journal. */
  readonly journal: JournalState
}

/** Moves in order; a later header confirms the last one in place. */
function collectFailover(found: Move[], before: SessionState, after: SessionState): void {
  const { last, moves } = after.failovers
  if (last === null || last === before.failovers.last) return
  if (moves > before.failovers.moves) found.push(last)
  else found[found.length - 1] = last
}

interface History {
  readonly entries: (ClosedEntry | Entry)[]
  readonly failovers: Move[]
  failures: number
  answers: number
}

const emptyHistory = (): History => ({ entries: [], failovers: [], failures: 0, answers: 0 })

function collect(own: History, { fact, before, after }: Advance): void {
  if (fact.type === 'requestFailed') own.failures += 1
  if (fact.type === 'answered') own.answers += 1
  for (const transition of transitions(before, after)) {
    if (transition.type === 'left') own.entries.push(transition.entry)
  }
  collectFailover(own.failovers, before, after)
}

/**
 * Replay a session: the very reducers of the live plugin over its log.
 *
 * @param events - the log's rows in order, as the harness holds or stores them; a head line may come first, foreign and
 *   damaged rows are passed over.
 * @param journal - records of the journal, when there are any.
 * @returns the whole history. Never throws on what the rows hold.
 */
export function replay(events: Iterable<unknown>, journal: Iterable<unknown> = []): Replay {
  let state = initialState
  const moments: Moment[] = []
  let own = emptyHistory()
  let ownFrom = 0
  for (const event of events) {
    const step = advance(state, event)
    if (step === undefined) continue
    state = step.after
    moments.push({ fact: step.fact, state })
    if (isInherited(step) || beginsOwnHistory(step)) {
      own = emptyHistory()
      ownFrom = moments.length
    } else collect(own, step)
  }
  const { open } = state.entries
  return {
    session: state.lineage.id,
    settings: state.settings,
    route: state.step.route,
    ...own,
    // A log that ends within what it took over has no history of its own yet.
    entries: open === null || (ownFrom > 0 && ownFrom === moments.length) ? own.entries : [...own.entries, open],
    moments,
    ownFrom,
    state,
    journal: foldJournal(journal),
  }
}
