/** Time as the host half uses it; tests pass one of their own. */
export interface Clock {
  /** Epoch ms of the wall clock, which may step. */
  now(): number
  /** Ms on a clock that nobody sets; it may stand still while the machine sleeps. */
  ticks(): number
  /**
   * Run something once, later.
   *
   * @param run - what to run.
   * @param delayMs - delay in ms.
   * @returns a function that cancels it.
   */
  after(run: () => void, delayMs: number): () => void
}

/** The platform's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  after(run, delayMs) {
    const timer = setTimeout(run, delayMs)
    return () => { clearTimeout(timer) }
  },
}

/** Ms on a clock that no one sets and that stands still while the machine sleeps. */
export const uptimeMs = (): number => Number(process.hrtime.bigint()) / 1e6
