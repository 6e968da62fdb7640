import type { WaitCause } from '../events/policy-key.ts'

/**
 * What the plans for one route were since its last answer: what the next one may still believe. A fold over plans, so
 * that a gate that many sessions share and the log of one of them tell it alike.
 */
export interface PlanMemory {
  /** Why the last attempt was planned for its time. */
  readonly cause: WaitCause
  /** Epoch ms of the attempt that was planned last. */
  readonly dueAt: number
  /** Attempts that came before the interval was over, so far. */
  readonly looks: number
  /** Looks after a promised reset that did not hold. */
  readonly secondTries: number
  /** Promised resets that came and brought another refusal. */
  readonly broken: number
  /** Failures in a row that say nothing about an allowance. */
  readonly outages: number
}

/** One plan, as a memory counts it. */
export interface Plan {
  /** Epoch ms of the refusal. */
  readonly at: number
  /** Time to the attempt, in ms. */
  readonly delayMs: number
  readonly cause: WaitCause
}

/** Plans that rest on a reset that the provider named. */
const BY_PROMISE: ReadonlySet<WaitCause> = new Set(['hint', 'second-try'])
/** Plans that tell when the refused route itself is asked again. */
export const OWN_TIMES: ReadonlySet<WaitCause> = new Set(['interval', 'hint', 'second-try', 'throttle', 'uncertain', 'outage'])
/** Plans that come before the interval, and are worth that only so often. */
const LOOKS: ReadonlySet<WaitCause> = new Set(['hint', 'second-try', 'throttle', 'uncertain'])

/** A refusal this much before the planned attempt, in ms, is another request's: the plan was not put to the test. */
const EARLY_MS = 500

/** Whether the attempt that was planned last has been made by now. */
const isTested = (memory: PlanMemory, now: number): boolean => now >= memory.dueAt - EARLY_MS

/**
 * Whether a refusal now shows that a promised reset did not hold.
 *
 * @param memory - the plans so far.
 * @param now - epoch ms of the refusal.
 */
export const isRefuted = (memory: PlanMemory | undefined, now: number): boolean =>
  memory !== undefined && BY_PROMISE.has(memory.cause) && isTested(memory, now)

/**
 * Count one more plan for a route.
 *
 * @param memory - the plans since its last answer; none for the first.
 * @param plan - the new plan.
 */
export function remember(memory: PlanMemory | undefined, { at, cause, delayMs }: Plan): PlanMemory {
  const dueAt = at + delayMs
  const outages = cause === 'outage' || cause === 'backoff' ? (memory?.outages ?? 0) + 1 : 0
  // A plan that is made anew before its time takes the place of the last one, and costs no look of its own.
  const again = memory !== undefined && LOOKS.has(memory.cause) && !isTested(memory, at)
  return {
    cause, dueAt, outages,
    looks: (memory?.looks ?? 0) + (LOOKS.has(cause) && !again ? 1 : 0),
    secondTries: (memory?.secondTries ?? 0) + (cause === 'second-try' && !again ? 1 : 0),
    broken: (memory?.broken ?? 0) + (memory?.cause === 'hint' && isTested(memory, at) ? 1 : 0),
  }
}
