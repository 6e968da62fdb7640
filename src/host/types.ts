import type { Agent } from '@deepseek-ai/dsh-agent'
import type { LlmFailure } from '@deepseek-ai/dsh-llm'
import type { Session } from '@deepseek-ai/dsh-session'
import type {} from '@deepseek-ai/dsh-session-projection/types'
import type { MoveCause } from '../events/policy-key.ts'
import type { MovedWhy } from '../events/route-notes.ts'
import type { Route } from '../events/route.ts'
import type { QuotaRetryFacts } from '../projections/facts.ts'
import type { RoutesReport } from '../projections/routes.ts'
import type { RetrySnapshot } from '../projections/snapshot.ts'
import type { LeaveReason } from '../reducers/quota.ts'

/** `llm-quota-retry/entered`: a session ran out of allowance, and its first wait is armed. */
export interface EnteredEvent {
  readonly session: Session
  /** The agent whose request failed. */
  readonly agent: Agent | undefined
  /** The failure that opened the entry. */
  readonly failure: LlmFailure
  readonly provider: string
  readonly turn: number
  readonly step: number
  /** Epoch ms the entry opened. */
  readonly enteredAt: number
  /** Epoch ms of the first attempt. */
  readonly nextAttemptAt: number
  /** 1 on entry. */
  readonly attempts: number
  readonly pending: true
  readonly retrying: true
}

/**
 * `llm-quota-retry/failover`: a failed request is retried at once on another route of the session's pool; or, after a
 * wait in which its routes were asked in turn, another than the one it was on answered.
 */
export interface FailoverEvent {
  readonly session: Session
  readonly agent: Agent | undefined
  /** The failure that triggered the move. */
  readonly failure: LlmFailure
  /** The route that failed. */
  readonly from: Route
  /** The route that the retry goes to. */
  readonly to: Route
  /** The pool that supplied it. */
  readonly pool: string
  /** Epoch ms of the decision. */
  readonly at: number
  /** What ended the wait before it; absent for a move that answers a refusal at once. */
  readonly afterWait?: MoveCause
}

/** `llm-quota-retry/moved`: a request left its route before it was sent; no request was refused. */
export interface MovedEvent {
  readonly session: Session
  readonly agent: Agent | undefined
  /** The route that the session was on. */
  readonly from: Route
  /** The route that its requests go to. */
  readonly to: Route
  /** The pool that holds it. */
  readonly pool: string
  /** Epoch ms of the decision. */
  readonly at: number
  /** `marked`: its provider is out of allowance; `assigned`: a person put it in the pool; `preferred`: back to a route that the pool prefers. */
  readonly why: MovedWhy
}

/** `llm-quota-retry/left`: an entry ended. */
export interface LeftEvent {
  readonly session: Session
  readonly reason: LeaveReason
  /** Where the last failed request stood. */
  readonly provider: string
  readonly turn: number
  readonly step: number
  /** Epoch ms the entry opened. */
  readonly enteredAt: number
  /** Epoch ms the entry ended. */
  readonly leftAt: number
  /** `leftAt - enteredAt`, in ms; 0 where the clock stepped back in between. */
  readonly durationMs: number
  /** Waits planned during the entry. */
  readonly attempts: number
}

/** The service `ctx.llmQuotaRetry`. */
export interface QuotaRetryService {
  /**
   * Whether a session is out of allowance: it waits, or was cancelled in a wait and has had no answer since.
   *
   * @param session - a live session.
   */
  isRetrying(session: Session): boolean
  /**
   * The open entry of a session.
   *
   * @param session - a live session.
   * @returns a frozen snapshot, or `undefined` when the session is not out of allowance.
   */
  stateOf(session: Session): RetrySnapshot | undefined
  /**
   * The settings of a session as they hold, and what it waits for: the value of the `quotaRetry` projection, also
   * where the host has no projections.
   *
   * @param session - a live session.
   */
  facts(session: Session): QuotaRetryFacts
  /**
   * Set the switch of a session; recorded in its log like the command.
   *
   * @param session - a live session.
   * @param enabled - on, off, or `null` for the deployment's default.
   */
  setEnabled(session: Session, enabled: boolean | null): void
  /**
   * Ask again now instead of at the planned time.
   *
   * @param session - a live session.
   * @returns whether the session was waiting.
   */
  retryNow(session: Session): boolean
  /**
   * Choose the route that a session which does not exist yet should start on. Reads the stale balances of that pool's
   * own providers first, and so may take as long as the slowest of their `timeoutMs`.
   *
   * @param pool - name of a configured pool.
   * @returns the route, or `undefined` when no pool of that name is configured.
   */
  pickRoute(pool: string): Promise<PickedRoute | undefined>
  /**
   * Put a session under one pool's care; its next request goes to a route of the pool. Recorded in its log like the
   * command.
   *
   * @param session - a live session.
   * @param pool - name of a configured pool, or `null` for never changing provider.
   * @returns false when no pool of that name is configured; then nothing changes.
   */
  setPool(session: Session, pool: string | null): boolean
  /**
   * Let the pool of a session follow the route it is on again.
   *
   * @param session - a live session.
   */
  clearPool(session: Session): void
  /**
   * The pool that governs a session now: the one it states, or the only one that holds its route.
   *
   * @param session - a live session.
   */
  poolOf(session: Session): string | undefined
  /** Every pool, route, reading and mark: what `/quota-routes` prints. Nothing is read for it. */
  report(): RoutesReport
}

/** A route chosen from a pool. */
export interface PickedRoute extends Route {
  readonly reasoningEffort?: string
}

declare module '@deepseek-ai/cordis' {
  interface Context {
    llmQuotaRetry: QuotaRetryService
  }
  interface Events {
    /**
     * A session ran out of allowance, and its first wait is armed. Once per entry.
     * @mode emit
     */
    'llm-quota-retry/entered'(payload: EnteredEvent): void
    /**
     * A failed request is retried at once on another route of the session's pool, or another route answered after a wait.
     * @mode emit
     */
    'llm-quota-retry/failover'(payload: FailoverEvent): void
    /**
     * A request left its route before it was sent.
     * @mode emit
     */
    'llm-quota-retry/moved'(payload: MovedEvent): void
    /**
     * An entry ended. Once per entry.
     * @mode emit
     */
    'llm-quota-retry/left'(payload: LeftEvent): void
  }
}

declare module '@deepseek-ai/dsh-session-projection/types' {
  interface SessionProjectionMap {
    quotaRetry: QuotaRetryFacts
  }
}
