import type { Fact } from '../events/facts.ts'
import { foldJournal, type JournalState } from '../reducers/journal.ts'
import type { ClosedEntry, Entry } from '../reducers/entries.ts'
import type { Failover } from '../reducers/failovers.ts'
import { initialState, type SessionState } from '../reducers/session.ts'
import type { SettingsState } from '../reducers/settings.ts'
import { transitions } from '../reducers/transitions.ts'
import type { Route } from '../events/route.ts'
import { advance } from './audit/advance.ts'

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
  /** Every entry, oldest first; the last may still be open. */
  readonly entries: readonly (ClosedEntry | Entry)[]
  /** Every move, oldest first. */
  readonly failovers: readonly Failover[]
  /** Requests that failed and answers that were committed. */
  readonly failures: number
  readonly answers: number
  /** Every fact in order, with the state after it. */
  readonly moments: readonly Moment[]
  /** The folded state at the end of the log. */
  readonly state: SessionState
  /** The folded journal. */
  readonly journal: JournalState
}

/** Moves in order; a later header confirms the last one in place. */
function collectFailover(found: Failover[], before: SessionState, after: SessionState): void {
  const { last, count } = after.failovers
  if (last === null || last === before.failovers.last) return
  if (count > before.failovers.count) found.push(last)
  else found[found.length - 1] = last
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
  const entries: (ClosedEntry | Entry)[] = []
  const failovers: Failover[] = []
  const moments: Moment[] = []
  let failures = 0
  let answers = 0
  for (const event of events) {
    const step = advance(state, event)
    if (step === undefined) continue
    const { fact, before } = step
    state = step.after
    if (fact.type === 'requestFailed') failures += 1
    if (fact.type === 'answered') answers += 1
    for (const transition of transitions(before, state)) {
      if (transition.type === 'left') entries.push(transition.entry)
    }
    collectFailover(failovers, before, state)
    moments.push({ fact, state })
  }
  return {
    session: state.lineage.id,
    settings: state.settings,
    route: state.step.route,
    entries: state.entries.open === null ? entries : [...entries, state.entries.open],
    failovers,
    failures,
    answers,
    moments,
    state,
    journal: foldJournal(journal),
  }
}
