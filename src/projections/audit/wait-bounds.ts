import type { Config } from '../../policy/config.ts'
import { planAttempt, type RefusalTiming } from '../../policy/quota/wait.ts'
import { type PlanMemory, remember } from '../../reducers/plans.ts'

/** An outage that was waited out in one turn. */
export interface Episode {
  /** Epoch ms of its first refusal. */
  readonly startedAt: number
  /** What was refused in it, oldest first. */
  readonly refusals: { readonly at: number; readonly timing: RefusalTiming }[]
  /** Waits in the log. */
  attempts: number
}

/** How long the same outage would have been waited out. All in ms, from the first refusal to the answer. */
export interface WaitBounds {
  readonly loggedMs: number
  /** The first attempt that could have been answered: no refusal at or after it is known. */
  readonly earliestMs: number
  /** The first attempt that would have been answered for certain: the log shows an answer by then. */
  readonly latestMs: number
  readonly loggedAttempts: number
  readonly fewestAttempts: number
  readonly mostAttempts: number
  /** The longest wait would have been used up before that, after this long; `null` when not. */
  readonly givenUpAfterMs: number | null
}

/** Attempts that are replayed one by one; an interval of a second over a month is not worth more. */
const MOST_ATTEMPTS = 50_000

/** What the provider had said last by a time. */
function timingAt({ refusals }: Episode, at: number): RefusalTiming {
  let timing: RefusalTiming = {}
  for (const refusal of refusals) {
    if (refusal.at > at) break
    timing = refusal.timing
  }
  return timing
}

/**
 * Replay an outage under another configuration.
 *
 * Refused requests prove that there was no allowance up to the last of them, and the answer that there was from then
 * on; what lies between is not known.
 *
 * @param episode - the outage.
 * @param answeredAt - epoch ms of the answer that ended it.
 * @param config - the configuration.
 */
export function bounds(episode: Episode, answeredAt: number, config: Pick<Config, 'longTermDelayMs' | 'maxWaitMs'>): WaitBounds {
  const { startedAt } = episode
  const lastRefusal = episode.refusals.at(-1)?.at ?? startedAt
  const logged = { loggedMs: answeredAt - startedAt, loggedAttempts: episode.attempts }
  const limitAt = config.maxWaitMs === undefined ? Number.POSITIVE_INFINITY : startedAt + config.maxWaitMs
  let memory: PlanMemory | undefined
  let at = startedAt
  let earliest: { at: number; attempts: number } | undefined
  for (let attempts = 1; attempts <= MOST_ATTEMPTS; attempts += 1) {
    if (at >= limitAt) {
      const givenUp = { at, attempts: attempts - 1 }
      return { ...logged, ...spans(startedAt, earliest ?? givenUp, givenUp), givenUpAfterMs: at - startedAt }
    }
    const plan = planAttempt(at, memory, timingAt(episode, at), config.longTermDelayMs)
    memory = remember(memory, { at, ...plan })
    at = Math.min(at + plan.delayMs, limitAt)
    if (at > lastRefusal) earliest ??= { at, attempts }
    if (at >= answeredAt) return { ...logged, ...spans(startedAt, earliest ?? { at, attempts }, { at, attempts }), givenUpAfterMs: null }
  }
  const last = { at: answeredAt, attempts: MOST_ATTEMPTS }
  return { ...logged, ...spans(startedAt, earliest ?? last, last), givenUpAfterMs: null }
}

const spans = (from: number, earliest: { at: number; attempts: number }, latest: { at: number; attempts: number }) => ({
  earliestMs: earliest.at - from, latestMs: latest.at - from, fewestAttempts: earliest.attempts, mostAttempts: latest.attempts,
})
