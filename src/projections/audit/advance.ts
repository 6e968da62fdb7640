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
 * Whether the fact ends what a fork took over from its parent: the reducer begins the fork's own history behind it.
 * It alone gives a session another lineage at that kind of fact.
 *
 * @param step - the step.
 */
export const beginsOwnHistory = ({ fact, before, after }: Advance): boolean =>
  fact.type === 'seedEnded' && before.lineage !== after.lineage

/**
 * Whether the record of a wait only moves the attempt that was planned before it, and so is no wait of its own.
 *
 * @param step - the step.
 */
export function sameAttempt({ fact, before, after }: Advance): boolean {
  const was = before.entries.open
  return fact.type === 'waitPlanned' && was !== null && was.wait !== null && was.attempts === after.entries.open?.attempts
}

/**
 * Whether the end of its host cut the run off at this fact.
 *
 * @param step - the step.
 */
export const isCutOff = ({ before, after }: Advance): boolean =>
  typeof after.entries.open?.cutOff === 'number' && before.entries.open?.cutOff === null

/**
 * The attempt that a run waited for when its host ended, where this fact carries the run on.
 *
 * @param step - the step.
 * @returns the turn that does, the one that was cut off, and epoch ms of the attempt; or `undefined`.
 */
export function continuationOf({ fact, before }: Advance): { readonly turn: number; readonly ofTurn: number; readonly dueAt: number } | undefined {
  const open = before.entries.open
  return fact.type !== 'turnStarted' || open === null || open.cutOff === null ? undefined : { turn: fact.turn, ofTurn: open.heldBy, dueAt: open.cutOff }
}

/**
 * Whether a fact was taken over from the parent of a fork, and so happened in another session.
 *
 * @param step - the step.
 */
export function isInherited({ fact, after }: Advance): boolean {
  return fact.type !== 'sessionOpened' && after.lineage.parent !== null && fact.seq >= 0 && fact.seq < after.lineage.seedLength
}
