import type { JournalRecord, JournalRecordOf } from '../events/journal.ts'

/** A provider that refused a request because its allowance is spent. */
export type Mark = Omit<JournalRecordOf<'providerMarked'>, 'type'>

/** The last mark of each provider that was not lifted since. A lapsed one is still here: time is asked of the reader. */
export type MarksState = Readonly<Record<string, Mark>>

/** No provider is marked. */
export const initialMarks: MarksState = {}

function without(state: MarksState, provider: string): MarksState {
  const { [provider]: _lifted, ...rest } = state
  return rest
}

/**
 * Fold one journal record into the marks.
 *
 * @param state - the marks so far.
 * @param record - what happened.
 * @returns the marks now; the same reference when the record does not concern them.
 */
export function evolveMarks(state: MarksState, record: JournalRecord): MarksState {
  switch (record.type) {
    case 'providerMarked': {
      const { type: _type, ...mark } = record
      return { ...state, [record.provider]: mark }
    }
    case 'providerLifted': {
      const mark = Object.hasOwn(state, record.provider) ? state[record.provider] : undefined
      // An answer that was on its way when the refusal came says nothing about the time after it.
      return mark === undefined || record.at < mark.at ? state : without(state, record.provider)
    }
    default:
      return state
  }
}

/**
 * The mark that holds for a provider.
 *
 * @param marks - the folded marks.
 * @param provider - the provider.
 * @param now - epoch ms.
 * @returns the mark, or `undefined` when there is none or it lapsed.
 */
export function markOf(marks: MarksState, provider: string, now: number): Mark | undefined {
  const mark = Object.hasOwn(marks, provider) ? marks[provider] : undefined
  return mark === undefined || now >= mark.until ? undefined : mark
}
