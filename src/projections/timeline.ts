import { initialState } from '../reducers/session.ts'
import { describe } from './audit/describe.ts'
import type { Replay } from './replay.ts'
import { clockText } from './text.ts'

/** One line of a timeline. */
export interface TimelineRow {
  /** Epoch ms. */
  readonly at: number
  readonly what: string
}

/**
 * The history of a session as a person reads it.
 *
 * @param history - a replayed session.
 * @returns one row for each fact that matters, in order; of a fork only what is its own, behind its head.
 */
export function timeline(history: Replay): TimelineRow[] {
  const rows: TimelineRow[] = []
  let before = initialState
  for (const [index, { fact, state }] of history.moments.entries()) {
    const shown = index >= history.ownFrom || fact.type === 'sessionOpened'
    const what = shown ? describe({ fact, before, after: state }) : undefined
    if (what !== undefined) rows.push({ at: fact.at, what })
    before = state
  }
  return rows
}

/**
 * A timeline as text, one line a row.
 *
 * @param rows - the rows.
 * @param timeZone - an IANA zone; the host's own when absent.
 */
export function timelineText(rows: readonly TimelineRow[], timeZone?: string): string {
  return rows.map(row => `${clockText(row.at, timeZone)}  ${row.what}`).join('\n')
}
