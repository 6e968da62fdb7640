import type { JournalRecord, JournalRecordOf } from '../events/journal.ts'

/** A session that holds a wait, as the journal's index has it. */
export type Waiting = Omit<JournalRecordOf<'sessionWaiting'>, 'type'>

/** The sessions that hold a wait, by id. */
export type WaitingState = Readonly<Record<string, Waiting>>

/** No session waits. */
export const initialWaiting: WaitingState = {}

/**
 * Fold one journal record into the index of waiting sessions.
 *
 * @param state - the index so far.
 * @param record - what happened.
 * @returns the index now; the same reference when the record does not concern it.
 */
export function evolveWaiting(state: WaitingState, record: JournalRecord): WaitingState {
  switch (record.type) {
    case 'sessionWaiting': {
      const { type: _type, ...waiting } = record
      return { ...state, [record.session]: waiting }
    }
    case 'sessionReleased': {
      if (!Object.hasOwn(state, record.session)) return state
      const { [record.session]: _released, ...rest } = state
      return rest
    }
    default:
      return state
  }
}
