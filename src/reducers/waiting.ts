import type { JournalRecord, JournalRecordOf } from '../events/journal.ts'

/** A session that holds a wait, as the journal's index has it. */
export type Waiting = Omit<JournalRecordOf<'sessionWaiting'>, 'type'>

type Indexed = JournalRecordOf<'sessionWaiting'> | JournalRecordOf<'sessionReleased'>

/** The sessions that hold a wait, by id. */
export type WaitingState = Readonly<Record<string, Waiting>>

/** No session waits. */
export const initialWaiting: WaitingState = {}

/** The one rule of the index, on a map that may be written to. */
function record(index: Map<string, Waiting>, fact: Indexed): void {
  if (fact.type === 'sessionReleased') {
    index.delete(fact.session)
    return
  }
  const { type: _type, ...waiting } = fact
  index.set(fact.session, waiting)
}

const INDEXED: ReadonlySet<string> = new Set(['sessionWaiting', 'sessionReleased'])
const isOurs = (fact: JournalRecord): fact is Indexed => INDEXED.has(fact.type)

/**
 * Fold many records into the index at once: ten thousand sessions may wait, and copying the index for each is slow.
 *
 * @param records - records in order.
 * @param state - the index so far.
 */
export function foldWaiting(records: Iterable<JournalRecord>, state: WaitingState = initialWaiting): WaitingState {
  const index = new Map(Object.entries(state))
  for (const fact of records) if (isOurs(fact)) record(index, fact)
  return Object.fromEntries(index)
}

/**
 * Fold one journal record into the index of waiting sessions.
 *
 * @param state - the index so far.
 * @param fact - what happened.
 * @returns the index now; the same reference when the record does not concern it.
 */
export function evolveWaiting(state: WaitingState, fact: JournalRecord): WaitingState {
  if (!isOurs(fact) || (fact.type !== 'sessionWaiting' && !Object.hasOwn(state, fact.session))) return state
  return foldWaiting([fact], state)
}
