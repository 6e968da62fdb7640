/** Tries that a provider may be sent in one go before an answer earns new ones. */
export const CAPACITY = 20
/** Tries that an answer earns. */
export const PER_ANSWER = 1
/** Time in which one try comes back by itself, in ms: an empty budget delays, and fails nothing. */
export const REFILL_MS = 3_000

/**
 * What all sessions together may still ask of a provider that fails. A layer of retries over many sessions must not be
 * what keeps a provider down (the retry budgets of the Google SRE book, gRPC's retry throttling).
 */
export interface BudgetState {
  /** Tries left; below zero are those that wait for theirs. */
  readonly tokens: number
  /** When that was, in ms on the clock that nobody sets. */
  readonly at: number
}

/** How much is left now. */
function filled({ at, tokens }: BudgetState, now: number): number {
  return Math.min(CAPACITY, tokens + Math.max(0, now - at) / REFILL_MS)
}

/**
 * Take one try.
 *
 * @param state - what was left; none for a provider that was not asked yet.
 * @param now - ms on the clock that nobody sets.
 * @returns what is left, and how long the try has to wait, in whole ms.
 */
export function take(state: BudgetState | undefined, now: number): { readonly state: BudgetState; readonly delayMs: number } {
  const tokens = (state === undefined ? CAPACITY : filled(state, now)) - 1
  return { state: { tokens, at: now }, delayMs: tokens >= 0 ? 0 : Math.ceil(-tokens * REFILL_MS) }
}

/**
 * An answer earns further tries.
 *
 * @param state - what was left.
 * @param now - ms on the clock that nobody sets.
 */
export const earn = (state: BudgetState, now: number): BudgetState => ({ tokens: Math.min(CAPACITY, filled(state, now) + PER_ANSWER), at: now })
