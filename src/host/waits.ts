import type { Scheduler } from './scheduler.ts'

/** What ended a wait. */
export type WakeReason =
  /** The planned time came. */
  | 'due'
  /** The person asked for it now. */
  | 'asked'
  /** The switch went off. */
  | 'disabled'
  /** The turn was cancelled, or the plugin goes away. */
  | 'aborted'

interface LiveWait {
  readonly end: (reason: WakeReason) => void
  bringForward(to: number): void
}

/** The waits that are held open right now, at most one for each session. */
export class Waits<K extends object> {
  private readonly live = new Map<K, LiveWait>()
  private readonly scheduler: Scheduler

  /**
   * @param scheduler - the plugin's one scheduler.
   */
  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler
  }

  /** Waits held open. */
  get size(): number {
    return this.live.size
  }

  /**
   * Hold a wait open.
   *
   * @param key - whose wait it is; an older one of the same key ends as aborted.
   * @param deadline - epoch ms of the planned attempt.
   * @param signal - ends the wait at once when it aborts.
   * @returns what ended it. Never rejects.
   */
  begin(key: K, deadline: number, signal: AbortSignal): Promise<WakeReason> {
    this.live.get(key)?.end('aborted')
    if (signal.aborted) return Promise.resolve('aborted')
    return new Promise((resolve) => {
      let wakeAt = deadline
      const end = (reason: WakeReason): void => {
        if (this.live.get(key) !== wait) return
        this.live.delete(key)
        cancel()
        signal.removeEventListener('abort', onAbort)
        resolve(reason)
      }
      const onAbort = (): void => { end('aborted') }
      const bringForward = (to: number): void => {
        if (to >= wakeAt) return
        wakeAt = to
        cancel()
        cancel = this.scheduler.at(to, () => { end('due') })
      }
      const wait: LiveWait = { end, bringForward }
      let cancel = this.scheduler.at(deadline, () => { end('due') })
      this.live.set(key, wait)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /**
   * End the wait of one session.
   *
   * @returns whether there was one.
   */
  end(key: K, reason: WakeReason): boolean {
    const wait = this.live.get(key)
    wait?.end(reason)
    return wait !== undefined
  }

  /**
   * Have an attempt made earlier than planned; a later time changes nothing.
   *
   * @param key - whose wait.
   * @param to - epoch ms.
   */
  bringForward(key: K, to: number): void {
    this.live.get(key)?.bringForward(to)
  }

  /** End every wait as aborted. */
  close(): void {
    for (const wait of [...this.live.values()]) wait.end('aborted')
  }
}
