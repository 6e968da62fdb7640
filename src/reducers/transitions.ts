import type { ClosedEntry, Entry } from './quota.ts'
import type { Failover, Move } from './pool.ts'
import type { SessionState } from './session.ts'

/** What changed in a session's allowance from one event to the next. Announced by the host, collected by a replay. */
export type Transition =
  | { readonly type: 'entered'; readonly entry: Entry }
  | { readonly type: 'left'; readonly entry: ClosedEntry }
  | { readonly type: 'failover'; readonly failover: Failover }
  /** A request left its route before it was sent. */
  | { readonly type: 'moved'; readonly move: Move }

/**
 * Compare two states of one session.
 *
 * @param before - the state before an event.
 * @param after - the state after it.
 * @returns what happened in between, in order; most often nothing.
 */
export function transitions(before: SessionState, after: SessionState): Transition[] {
  if (before === after) return []
  const found: Transition[] = []
  if (after.entries.closed > before.entries.closed && after.entries.lastClosed !== null) {
    found.push({ type: 'left', entry: after.entries.lastClosed })
  }
  const { count, last, lastFailover, moves } = after.failovers
  if (count > before.failovers.count && lastFailover !== null) found.push({ type: 'failover', failover: lastFailover })
  if (moves > before.failovers.moves && last?.why !== undefined) found.push({ type: 'moved', move: last })
  if (before.entries.open === null && after.entries.open !== null) {
    found.push({ type: 'entered', entry: after.entries.open })
  }
  return found
}
