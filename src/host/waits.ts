import type { WaitCause } from '../events/policy-key.ts'
import type { Route } from '../events/route.ts'
import type { Scheduler } from './scheduler.ts'

/** The policies that hold a step while they wait. */
export type WaitingPolicy = 'quota' | 'transient'

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
  readonly policy: WaitingPolicy
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
  end(wake: Wake): void
  cancelAlarm(): void
}

/** The waits that are held open: one for each session at most. */
export class Waits {
  private readonly scheduler: Scheduler
  private readonly onEnd: (waiter: Waiter) => void
  private readonly open = new Map<string, Waiter>()
  private closed = false

  /**
   * @param scheduler - rings at the times of single waits; those of whole gates are the gates' own.
   * @param onEnd - told of each wait that is over, before whoever holds it is.
   */
  constructor(scheduler: Scheduler, onEnd: (waiter: Waiter) => void) {
    this.scheduler = scheduler
    this.onEnd = onEnd
  }

  /** Ids of the sessions that wait. */
  get sessions(): string[] {
    return [...this.open.keys()]
  }

  /** How many wait. */
  get size(): number {
    return this.open.size
  }

  /**
   * Hold a wait open.
   *
   * @param request - the wait; an older one of the same session ends as aborted.
   * @param onOpen - told of the wait once it stands; not where it is over before it began.
   * @returns what ended it. Never rejects.
   */
  hold(request: WaitRequest, onOpen: (waiter: Waiter) => void = () => {}): Promise<Wake> {
    const { limitAt, session, signal } = request
    this.end(session, { kind: 'aborted' })
    if (this.closed || signal.aborted) return Promise.resolve({ kind: 'aborted' })
    return new Promise((resolve) => {
      const onAbort = (): void => { waiter.end({ kind: 'aborted' }) }
      const waiter: Waiter = {
        ...request,
        cancelAlarm: limitAt === undefined ? () => {} : this.alarm(session, limitAt, 'limit'),
        end: (wake) => {
          if (this.open.get(session) !== waiter) return
          this.open.delete(session)
          waiter.cancelAlarm()
          signal.removeEventListener('abort', onAbort)
          this.onEnd(waiter)
          resolve(wake)
        },
      }
      this.open.set(session, waiter)
      signal.addEventListener('abort', onAbort, { once: true })
      onOpen(waiter)
    })
  }

  /**
   * End the wait of one session.
   *
   * @param session - its id.
   * @param wake - what ends it.
   * @returns whether there was one.
   */
  end(session: string, wake: Wake): boolean {
    const waiter = this.open.get(session)
    waiter?.end(wake)
    return waiter !== undefined
  }

  /**
   * Have one session ask earlier than planned; a later time changes nothing.
   *
   * @param session - its id.
   * @param at - epoch ms.
   * @param cause - why.
   */
  bringForward(session: string, at: number, cause: WaitCause): void {
    const waiter = this.open.get(session)
    if (waiter === undefined || at >= waiter.nextAttemptAt) return
    waiter.nextAttemptAt = at
    waiter.cancelAlarm()
    waiter.cancelAlarm = this.alarm(session, at, cause)
  }

  /**
   * Have a wait written to the log again as it is.
   *
   * @param session - id of the session.
   */
  restate(session: string): void {
    const waiter = this.open.get(session)
    waiter?.rearm(waiter.nextAttemptAt, 'restated')
  }

  /** End every wait as aborted, also those that would begin later. */
  close(): void {
    this.closed = true
    for (const waiter of [...this.open.values()]) waiter.end({ kind: 'aborted' })
  }

  private alarm(session: string, at: number, cause: WaitCause): () => void {
    return this.scheduler.at(at, () => { this.end(session, { kind: 'go', cause }) })
  }
}
