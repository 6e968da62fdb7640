import type { FailedTry } from '../../reducers/transient.ts'

/** How often a failure has to repeat itself. */
const REPEATS = 3
/** Failures that come at once are those of a provider that is down; only one that takes its time is cut off by a clock. */
const LEAST_MS = 5_000
/** How far the times may lie apart, as a part of the longest. */
const SPREAD = 0.1

/**
 * Whether a step fails on a setting of its own and no outage: the same failure, after the same time, again and again. A
 * timeout that is too short for the request ends every try alike, however long one waits in between.
 *
 * @param failed - the failed tries of the step, oldest first.
 */
export function isSetting(failed: readonly FailedTry[]): boolean {
  const last = failed.slice(-REPEATS)
  const [first] = last
  if (first === undefined || last.length < REPEATS || last.some(({ code }) => code !== first.code)) return false
  const times = last.map(({ durationMs }) => durationMs)
  const longest = Math.max(...times)
  const shortest = Math.min(...times)
  return shortest >= LEAST_MS && longest - shortest <= longest * SPREAD
}
