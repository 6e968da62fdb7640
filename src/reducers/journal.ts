import { type JournalRecord, readJournalRecord } from '../events/journal.ts'
import { evolveMarks, initialMarks, lifts, type LiftRecord, type Mark, markKey, type MarksState } from './marks.ts'
import { evolveWaiting, foldWaiting, initialWaiting, type WaitingState } from './waiting.ts'

/** What the journal says: marks of providers and routes, and which sessions wait. Plain JSON. */
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
  const readable = [...records].map(readJournalRecord).filter(record => record !== undefined)
  return {
    marks: readable.reduce(evolveMarks, initialMarks),
    waiting: foldWaiting(readable),
  }
}

/** Moves before sending are kept for the audit; this many, newest first. */
export const KEPT_MOVES = 100

/** Of several lifts, what decides whether any of them ends a mark. */
type Lifts = Pick<LiftRecord, 'at' | 'heardAt'>

const together = ({ at, heardAt }: Lifts, others: Lifts | undefined): Lifts => ({
  at: Math.max(at, others?.at ?? at), heardAt: Math.min(heardAt ?? Number.POSITIVE_INFINITY, others?.heardAt ?? Number.POSITIVE_INFINITY),
})

const isLifted = (mark: Pick<Mark, 'at'>, later: Lifts | undefined): boolean => later !== undefined && lifts(mark, later)

/**
 * The records that can still matter: without the others the fold stays the same.
 *
 * @param records - records in order.
 * @returns those that matter, in order: the holding mark of each provider and route, the wait of each session, the last moves.
 */
export function liveRecords(records: readonly JournalRecord[]): JournalRecord[] {
  const decided = new Set<string>()
  const lifted = new Map<string, Lifts>()
  const kept: JournalRecord[] = []
  let moves = 0
  // From the newest to the oldest: the first word on a session is the last one said of it.
  for (const record of records.toReversed()) {
    switch (record.type) {
      case 'requestMoved':
        moves += 1
        if (moves <= KEPT_MOVES) kept.push(record)
        break
      case 'providerLifted':
      case 'routeLifted':
        lifted.set(markKey(record), together(record, lifted.get(markKey(record))))
        break
      case 'providerMarked':
      case 'routeMarked':
        // An answer from before the refusal lifts nothing, as in the fold.
        if (!decided.has(`mark ${markKey(record)}`) && !isLifted(record, lifted.get(markKey(record)))) kept.push(record)
        decided.add(`mark ${markKey(record)}`)
        break
      case 'sessionWaiting':
      case 'sessionReleased':
        if (!decided.has(`session ${record.session}`) && record.type === 'sessionWaiting') kept.push(record)
        decided.add(`session ${record.session}`)
    }
  }
  return kept.reverse()
}

/**
 * Drop what can no longer change the fold, so that the journal stays small for as long as it is used.
 *
 * @param records - stored values in order, foreign ones included.
 * @returns the values that still matter, in order: the same fold, and every value that is no record known here.
 */
export function pruneJournal(records: readonly unknown[]): unknown[] {
  const read = records.map(readJournalRecord)
  const live = new Set(liveRecords(read.filter(record => record !== undefined)))
  return records.filter((_value, index) => {
    const record = read[index]
    return record === undefined || live.has(record)
  })
}
