import { decodeEvent } from '../../events/decode.ts'
import type { Fact } from '../../events/facts.ts'
import { evolve, type SessionState } from '../../reducers/session.ts'

/** One fact of a log, and the session before and after it: what every reader of a history is built upon. */
export interface Advance {
  readonly fact: Fact
  readonly before: SessionState
  readonly after: SessionState
}

/**
 * Take one row of a log.
 *
 * @param state - the session so far.
 * @param event - the row, of any version, or anything else.
 * @returns the step that it makes, or `undefined` for a row that is no fact.
 */
export function advance(state: SessionState, event: unknown): Advance | undefined {
  const fact = decodeEvent(event)
  return fact === undefined ? undefined : { fact, before: state, after: evolve(state, fact) }
}

/**
 * Whether a fact was taken over from the parent of a fork, and so happened in another session.
 *
 * @param step - the step.
 */
export function isInherited({ fact, after }: Advance): boolean {
  return fact.type !== 'sessionOpened' && after.lineage.parent !== null && fact.seq >= 0 && fact.seq < after.lineage.seedLength
}
