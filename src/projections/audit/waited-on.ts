/** A route as the log names it in a wait. */
interface Named {
  readonly provider: string
  readonly model: string | null
}

/** Routes of which one outage is kept account; a pool has fewer. */
const MOST = 256

/**
 * How long one outage was waited for on each route. Where the last refused request stood says little: on the way out of
 * an outage of hours another route of the pool is asked for a moment.
 */
export class WaitedOn {
  private readonly waits = new Map<string, { readonly on: Named; ms: number }>()

  /**
   * Count a wait.
   *
   * @param on - the route that it was for.
   * @param ms - how long it was kept.
   */
  add(on: Named, ms: number): void {
    const key = JSON.stringify([on.provider, on.model])
    const waited = this.waits.get(key)
    if (waited !== undefined) waited.ms += ms
    else if (this.waits.size < MOST) this.waits.set(key, { on, ms })
  }

  /**
   * The route that the outage was about, and the end of the account.
   *
   * @param last - where the last refused request stood; it counts where nothing was waited longer for.
   */
  take(last: Named): Named {
    const lastMs = this.waits.get(JSON.stringify([last.provider, last.model]))?.ms ?? 0
    const longest = [...this.waits.values()].reduce<{ on: Named; ms: number }>((most, wait) => wait.ms > most.ms ? wait : most, { on: last, ms: lastMs })
    this.clear()
    return longest.on
  }

  /** Nothing was waited for yet. */
  clear(): void {
    this.waits.clear()
  }
}
