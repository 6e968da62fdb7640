import type { WaitCause } from '../../events/policy-key.ts'
import type { Entry } from '../../reducers/quota.ts'

/** What a refusal says that matters for the time of the next attempt. */
export interface RefusalTiming {
  /** Epoch ms of the reset that the provider named, when it could be resolved. */
  readonly resetsAt?: number
  /** Whether the refusal clearly is a per-minute throttle under an allowance code. */
  readonly throttle?: boolean
}

/** When to ask again, and why then. */
export interface PlannedWait {
  /** Time from now to the attempt, in ms, at least 1. */
  readonly delayMs: number
  readonly cause: WaitCause
}

/** What the last plan for a route was, and how many looks followed a promise that did not hold. */
export interface PlanMemory {
  readonly cause: WaitCause
  readonly secondTries: number
  /** Throttles in a row. */
  readonly throttles: number
}

/** Added to a provider's own reset time: its clock and ours differ, and asking a second early costs a whole interval. */
export const HINT_MARGIN_MS = 5_000
/** A reset closer than this is not believed: the refusal was made with the same clock. */
export const NEAREST_HINT_MS = 1_000
/** The wait after a refusal that names a per-minute throttle and no time. */
export const THROTTLE_DELAY_MS = 60_000
/**
 * Looks after a promised reset that brought another refusal, each so long after the one before, in ms. Providers are
 * seen to lag a few minutes, and some about ten, behind their own clocks; then the interval takes over.
 */
export const SECOND_TRIES_MS: readonly number[] = [120_000, 510_000]

const byPromise = (cause: WaitCause): boolean => cause === 'hint' || cause === 'second-try'

/**
 * The shortest delay of an attempt at a promised time, in ms. A provider whose promises did not hold is looked at as
 * after a promise that was refuted; then another near one is not believed: it would be asked every few seconds for hours.
 */
function leastAfter(last: PlanMemory | undefined, promisedMs: number, intervalMs: number): number {
  if (last === undefined || (!byPromise(last.cause) && last.secondTries === 0)) return 0
  return SECOND_TRIES_MS[last.secondTries] ?? (promisedMs < (SECOND_TRIES_MS[0] ?? 0) ? intervalMs : 0)
}

/**
 * Plan the next attempt on a route: the earliest of the configured interval and the provider's own reset time. A hint
 * never delays an attempt; one that lies in the past, is absurdly near or was just refuted is worth a short second look
 * or two, and then the interval.
 *
 * @param now - epoch ms.
 * @param last - the last plan for the route, if it was refused before.
 * @param timing - what the refusal said about its end.
 * @param intervalMs - the configured interval, in ms.
 */
export function planAttempt(now: number, last: PlanMemory | undefined, timing: RefusalTiming, intervalMs: number): PlannedWait {
  const until = timing.resetsAt === undefined ? undefined : timing.resetsAt - now
  if (timing.throttle === true) {
    // One that goes on is no matter of a minute; and the next second, named again and again, would be asked every few.
    const again = last === undefined || last.throttles === 0 ? 0 : THROTTLE_DELAY_MS * 2 ** (last.throttles - 1)
    const named = until !== undefined && until >= NEAREST_HINT_MS ? until + HINT_MARGIN_MS : THROTTLE_DELAY_MS
    return { delayMs: Math.min(intervalMs, Math.max(named, again)), cause: 'throttle' }
  }
  const refuted = last !== undefined && byPromise(last.cause)
  if (until !== undefined && until >= NEAREST_HINT_MS) {
    const promised = until + HINT_MARGIN_MS
    const delayMs = Math.max(promised, leastAfter(last, promised, intervalMs))
    return delayMs < intervalMs ? { delayMs, cause: promised < delayMs ? 'second-try' : 'hint' } : { delayMs: intervalMs, cause: 'interval' }
  }
  const second = until !== undefined && until < NEAREST_HINT_MS
  const delayMs = refuted || second ? SECOND_TRIES_MS[last?.secondTries ?? 0] : undefined
  return delayMs !== undefined && delayMs < intervalMs ? { delayMs, cause: 'second-try' } : { delayMs: intervalMs, cause: 'interval' }
}

/**
 * What to remember of a plan until the route answers or refuses again.
 *
 * @param last - what was remembered before.
 * @param plan - the new plan.
 */
export function rememberPlan(last: PlanMemory | undefined, plan: PlannedWait): PlanMemory {
  return {
    cause: plan.cause,
    secondTries: plan.cause === 'second-try' ? (last?.secondTries ?? 0) + 1 : last?.secondTries ?? 0,
    throttles: plan.cause === 'throttle' ? (last?.throttles ?? 0) + 1 : 0,
  }
}

/**
 * When the longest wait of a turn ends. Each turn has its own, for a person who sends a new message wants it tried; a turn
 * that carries a run on after a restart has that of the run.
 *
 * @param now - epoch ms.
 * @param turn - the turn of the refused request.
 * @param entry - the session's open entry, if any.
 * @param maxWaitMs - the longest wait, in ms; none when absent.
 * @returns epoch ms, or `undefined` for no end.
 */
export function waitLimit(now: number, turn: number, entry: Entry | null, maxWaitMs: number | undefined): number | undefined {
  if (maxWaitMs === undefined) return undefined
  return (entry !== null && entry.heldBy === turn ? entry.since : now) + maxWaitMs
}
