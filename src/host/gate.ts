import type { WaitCause } from '../events/policy-key.ts'
import type { Route } from '../events/route.ts'
import type { PlanMemory } from '../policy/quota/wait.ts'

/** What ended a wait. */
export type Wake =
  /** Ask again: on `route`, or where the pool's order says when there is none. `due` is the planned time. */
  | { readonly kind: 'go'; readonly cause: WaitCause | 'due'; readonly route?: Route }
  /** The switch went off. */
  | { readonly kind: 'disabled' }
  /** The turn was cancelled, or the plugin goes away. */
  | { readonly kind: 'aborted' }

/** One wait, as whoever holds it describes it. */
export interface WaitRequest {
  /** Id of the session that waits, open or not. */
  readonly session: string
  /** The routes that may end it, the one that refused last first. */
  readonly routes: readonly Route[]
  /** Epoch ms of the attempt that was announced. */
  readonly nextAttemptAt: number
  /** Epoch ms at which one last attempt is made whatever the routes say; none when absent. */
  readonly limitAt?: number | undefined
  /** Ends the wait at once when it aborts. */
  readonly signal: AbortSignal
  /** Told of a new time when another session asked and was refused; no request was sent for this one. */
  rearm(nextAttemptAt: number, cause: WaitCause): void
}

/** A wait that is held open. */
export interface Waiter extends WaitRequest {
  nextAttemptAt: number
  readonly gates: Gate[]
  end(wake: Wake): void
  cancelAlarm(): void
}

/** One route that refused, and who waits for it. */
export interface Gate {
  readonly id: string
  readonly route: Route
  /** Who waits, the longest waiting first. */
  readonly waiters: Set<Waiter>
  /** Epoch ms of the next attempt. */
  nextAt: number
  cause: WaitCause | 'due'
  memory: PlanMemory | undefined
  /** The session whose request stands for all who wait. */
  probe: string | undefined
  /** Why it asks. */
  probeCause: WaitCause | 'due'
  /** Probes in a row that ended without an answer of either kind. */
  relays: number
  /** Epoch ms at which the newest of the refused requests was sent. */
  refusedAt: number
  /** Whether an answer on another model of the provider proved to say nothing about this one. */
  deaf: boolean
  cancelAlarm: () => void
}

/**
 * A gate that nobody waits at yet.
 *
 * @param id - its key.
 * @param route - the route that refused.
 */
export function newGate(id: string, { provider, model }: Route): Gate {
  return {
    id, route: { provider, model }, waiters: new Set(),
    nextAt: Number.POSITIVE_INFINITY, cause: 'due', memory: undefined, cancelAlarm: () => {},
    probe: undefined, probeCause: 'due', relays: 0, refusedAt: Number.NEGATIVE_INFINITY, deaf: false,
  }
}
