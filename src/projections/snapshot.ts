import type { Config } from '../policy/config.ts'
import type { LadderSwitch } from '../policy/settings.ts'
import { nextAttemptOf } from '../policy/resume.ts'
import type { Entry } from '../reducers/quota.ts'
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
  /** Epoch ms of the next attempt, also of a run that was cut off by the end of the host; absent while none is planned. */
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
 * @param config - the deployment.
 * @returns a frozen snapshot, or `undefined` while the session has allowance.
 */
export function retrySnapshot(state: SessionState, config: Pick<Config, 'defaultEnabled' | 'resumeOnStart'> & LadderSwitch): RetrySnapshot | undefined {
  const entry: Entry | null = state.entries.open
  if (entry === null) return undefined
  const nextAttemptAt = nextAttemptOf(state, config)
  return Object.freeze({
    pending: entry.wait !== null,
    attempts: entry.attempts,
    enteredAt: entry.enteredAt,
    since: entry.since,
    ...nextAttemptAt === undefined ? {} : { nextAttemptAt },
    provider: entry.provider,
    model: entry.model,
    turn: entry.turn,
    step: entry.step,
    reason: entry.failure.message,
  })
}
