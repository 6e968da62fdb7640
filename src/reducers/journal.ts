import { type JournalRecord, readJournalRecord } from '../events/journal.ts'
import { evolveMarks, initialMarks, type MarksState } from './marks.ts'
import { evolveWaiting, initialWaiting, type WaitingState } from './waiting.ts'

/** What the journal says: marks of providers, and which sessions wait. Plain JSON. */
export interface JournalState {
  readonly marks: MarksState
  readonly waiting: WaitingState
}

/** The state of the empty journal. */
export const initialJournal: JournalState = { marks: initialMarks, waiting: initialWaiting }

/**
 * Fold one record into the state of the journal.
 *
 * @param state - the state so far; never mutated.
 * @param record - what happened.
 * @returns the state now; the same reference when the record changes nothing.
 */
export function evolveJournal(state: JournalState, record: JournalRecord): JournalState {
  const marks = evolveMarks(state.marks, record)
  const waiting = evolveWaiting(state.waiting, record)
  return marks === state.marks && waiting === state.waiting ? state : { marks, waiting }
}

/**
 * Fold a whole journal.
 *
 * @param records - stored records in order; what is none is passed over.
 */
export function foldJournal(records: Iterable<unknown>): JournalState {
  let state = initialJournal
  for (const value of records) {
    const record = readJournalRecord(value)
    if (record !== undefined) state = evolveJournal(state, record)
  }
  return state
}

/** The subject that a record is about: of one subject only the last records can still matter. */
function subject(record: JournalRecord): string {
  switch (record.type) {
    case 'providerMarked':
    case 'providerLifted':
      return `provider ${record.provider}`
    case 'sessionWaiting':
    case 'sessionReleased':
      return `session ${record.session}`
    case 'requestMoved':
      return `moves ${record.session}`
  }
}

/** Moves before sending are kept for the audit; this many, newest first. */
export const KEPT_MOVES = 100

/**
 * Drop what can no longer change the fold, so that the journal stays small for as long as it is used.
 *
 * @param records - the records in order, foreign ones included.
 * @returns the records that still matter, in order: the same fold, and every record that is not known here.
 */
export function pruneJournal(records: readonly unknown[]): unknown[] {
  const state = foldJournal(records)
  const live = new Set<string>([
    ...Object.keys(state.marks).map(provider => `provider ${provider}`),
    ...Object.keys(state.waiting).map(session => `session ${session}`),
  ])
  const seen = new Set<string>()
  let moves = 0
  const kept: unknown[] = []
  for (let index = records.length - 1; index >= 0; index -= 1) {
    const record = readJournalRecord(records[index])
    if (record === undefined) {
      kept.push(records[index])
    } else if (record.type === 'requestMoved') {
      moves += 1
      if (moves <= KEPT_MOVES) kept.push(records[index])
    } else if (opens(record) && live.has(subject(record)) && !seen.has(subject(record))) {
      seen.add(subject(record))
      kept.push(records[index])
    }
  }
  return kept.reverse()
}

/** Whether a record begins what its counterpart ends. The last of these is what the fold of its subject is. */
const opens = (record: JournalRecord): boolean =>
  record.type === 'providerMarked' || record.type === 'sessionWaiting'
