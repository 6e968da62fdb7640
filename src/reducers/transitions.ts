import type { ClosedEntry, Entry } from './quota.ts'
import type { Failover } from './pool.ts'
import type { SessionState } from './session.ts'

/** What changed in a session's allowance from one event to the next. Announced by the host, collected by a replay. */
export type Transition =
  | { readonly type: 'entered'; readonly entry: Entry }
  | { readonly type: 'left'; readonly entry: ClosedEntry }
  | { readonly type: 'movePlanned'; readonly failover: Failover }

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
  if (after.failovers.count > before.failovers.count && after.failovers.last !== null) {
    found.push({ type: 'movePlanned', failover: after.failovers.last })
  }
  if (before.entries.open === null && after.entries.open !== null) {
    found.push({ type: 'entered', entry: after.entries.open })
  }
  return found
}
