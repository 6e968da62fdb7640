import type { Entry } from '../reducers/entries.ts'
import type { SessionState } from '../reducers/session.ts'

/** A session's open entry, as other plugins read it from the service. */
export interface RetrySnapshot {
  /** Whether a wait is armed right now. */
  readonly pending: boolean
  /** Waits planned since the entry opened. */
  readonly attempts: number
  /** Epoch ms the entry opened. */
  readonly enteredAt: number
  /** Epoch ms since which the session waits in this turn. */
  readonly since: number
  /** Epoch ms of the armed attempt; absent while none is armed. */
  readonly nextAttemptAt?: number
  /** Where the last refused request stood. */
  readonly provider: string
  readonly model: string | null
  readonly turn: number
  readonly step: number
  /** What the provider said. */
  readonly reason: string
}

/**
 * The open entry of a session, for other plugins.
 *
 * @param state - the folded session.
 * @returns a frozen snapshot, or `undefined` while the session has allowance.
 */
export function retrySnapshot(state: SessionState): RetrySnapshot | undefined {
  const entry: Entry | null = state.entries.open
  if (entry === null) return undefined
  return Object.freeze({
    pending: entry.wait !== null,
    attempts: entry.attempts,
    enteredAt: entry.enteredAt,
    since: entry.since,
    ...entry.wait === null ? {} : { nextAttemptAt: entry.wait.nextAttemptAt },
    provider: entry.provider,
    model: entry.model,
    turn: entry.turn,
    step: entry.step,
    reason: entry.failure.message,
  })
}
