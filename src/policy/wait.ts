import type { WaitCause } from '../events/policy-key.ts'
import type { Entry } from '../reducers/entries.ts'
import type { Config } from './config.ts'

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

/** Added to a provider's own reset time: its clock and ours differ, and asking a second early costs a whole interval. */
export const HINT_MARGIN_MS = 5_000
/** A reset closer than this is not believed: the refusal was made with the same clock. */
export const NEAREST_HINT_MS = 1_000
/** The wait after a refusal that names a per-minute throttle. */
export const THROTTLE_DELAY_MS = 60_000
/** After a promised reset brought another refusal, one early second look: providers lag behind their own clocks. */
export const SECOND_TRY_MS = 120_000

/** Whether the wait that just ended was planned for the provider's own reset time, and so was refuted. */
const refuted = (entry: Entry | null, turn: number): boolean =>
  entry !== null && entry.turn === turn && entry.lastCause === 'hint'

function bestTime(now: number, interval: number, timing: RefusalTiming, afterHint: boolean): PlannedWait {
  if (timing.throttle === true) return { delayMs: Math.min(interval, THROTTLE_DELAY_MS), cause: 'throttle' }
  if (timing.resetsAt !== undefined) {
    const until = timing.resetsAt - now
    // A provider that promises "in two seconds" again and again would otherwise be asked every few seconds for hours.
    const delayMs = Math.max(until + HINT_MARGIN_MS, afterHint ? SECOND_TRY_MS : 0)
    if (until >= NEAREST_HINT_MS && delayMs < interval) return { delayMs, cause: 'hint' }
  }
  if (afterHint && SECOND_TRY_MS < interval) return { delayMs: SECOND_TRY_MS, cause: 'second-try' }
  return { delayMs: interval, cause: 'interval' }
}

/**
 * Plan the next attempt after a refusal for which no route is left: the earliest of the configured interval, the
 * provider's own reset time and the end of the longest wait allowed. A hint never delays an attempt.
 *
 * @param now - epoch ms.
 * @param turn - the turn of the refused request.
 * @param entry - the session's open entry, if any.
 * @param timing - what the refusal said about its end.
 * @param config - the interval and the longest wait, in ms.
 * @returns the wait, or `undefined` when the longest wait is used up and the failure should stand.
 */
export function planWait(
  now: number,
  turn: number,
  entry: Entry | null,
  timing: RefusalTiming,
  config: Pick<Config, 'longTermDelayMs' | 'maxWaitMs'>,
): PlannedWait | undefined {
  const best = bestTime(now, config.longTermDelayMs, timing, refuted(entry, turn))
  if (config.maxWaitMs === undefined) return best
  // Each turn has its own longest wait: a person who sends a new message wants it tried.
  const since = entry !== null && entry.turn === turn ? entry.since : now
  const left = since + config.maxWaitMs - now
  if (left <= 0) return undefined
  return left < best.delayMs ? { delayMs: left, cause: 'limit' } : best
}
