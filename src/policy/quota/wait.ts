import type { WaitCause } from '../../events/policy-key.ts'
import { isRefuted, type PlanMemory } from '../../reducers/plans.ts'
import type { Entry } from '../../reducers/quota.ts'

/** What a refusal says that matters for the time of the next attempt. */
export interface RefusalTiming {
  /** Epoch ms of the reset that the provider named, when it could be resolved. */
  readonly resetsAt?: number
  /** Whether the refusal clearly is a per-minute throttle under an allowance code. */
  readonly throttle?: boolean
  /** How sure it is that an allowance is spent at all. */
  readonly confidence?: 'certain' | 'likely' | 'weak'
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
/** The wait after a refusal that names a per-minute throttle, or may be one, and no time. */
export const THROTTLE_DELAY_MS = 60_000
/**
 * Looks after a promised reset that brought another refusal, each so long after the one before, in ms. Providers are
 * seen to lag a few minutes, and some about ten, behind their own clocks; then the interval takes over.
 */
export const SECOND_TRIES_MS: readonly number[] = [120_000, 510_000]
/** Promised resets that did not hold, after which none within the interval is believed until the route answers. */
export const BROKEN_PROMISES = 3
/**
 * The shortest time to each further attempt that comes before the interval, in ms, whatever the refusals say: six in
 * the first hour, and after these none. A provider's texts must never drive it to be asked every few seconds.
 */
export const LEAST_MS: readonly number[] = [0, 60_000, 120_000, 240_000, 480_000, 960_000, 1_920_000]

/** Time to the next look while a route fails otherwise at its return, in ms: the first, its growth, and the most. */
const OUTAGE = { firstMs: 10_000, growth: 2, mostMs: 600_000 }
/** Time to the next attempt when whoever asked for all ended without an answer of either kind, in ms, and its growth. */
const RELAY = { firstMs: 10_000, growth: 6 }

/** Whether another promised reset within the interval is worth an attempt. */
function isBelieved(namedMs: number, last: PlanMemory | undefined, refuted: boolean): boolean {
  if (last === undefined) return true
  const broken = last.broken + (refuted && last.cause === 'hint' ? 1 : 0)
  // One that always names the next seconds would be asked every few of them, for hours.
  const near = last.secondTries >= SECOND_TRIES_MS.length && namedMs < (SECOND_TRIES_MS[0] ?? 0)
  return broken < BROKEN_PROMISES && !near
}

/** What the refusal makes of the next attempt, before the number of looks is thought of. */
function wished(now: number, last: PlanMemory | undefined, timing: RefusalTiming): PlannedWait | undefined {
  const until = timing.resetsAt === undefined ? Number.NaN : timing.resetsAt - now
  const named = until >= NEAREST_HINT_MS ? until + HINT_MARGIN_MS : undefined
  if (timing.throttle === true) return { delayMs: named ?? THROTTLE_DELAY_MS, cause: 'throttle' }
  const refuted = isRefuted(last, now)
  const again = SECOND_TRIES_MS[last?.secondTries ?? 0]
  if (named !== undefined && isBelieved(named, last, refuted)) {
    // A provider whose promise did not hold is looked at as after a promise that was refuted.
    return refuted && again !== undefined && again > named ? { delayMs: again, cause: 'second-try' } : { delayMs: named, cause: 'hint' }
  }
  if (again !== undefined && (refuted || until < NEAREST_HINT_MS)) return { delayMs: again, cause: 'second-try' }
  return timing.confidence === 'weak' ? { delayMs: THROTTLE_DELAY_MS, cause: 'uncertain' } : undefined
}

/**
 * Plan the next attempt on a route that refused for a spent allowance: the earliest of the configured interval and the
 * provider's own reset time. A hint never delays an attempt; one that lies in the past, is absurdly near or was just
 * refuted is worth a short second look or two, and then the interval. A refusal that may mean something else is worth
 * short looks that grow to the interval.
 *
 * @param now - epoch ms.
 * @param last - the plans for the route since its last answer, if it was refused before.
 * @param timing - what the refusal said about its end.
 * @param intervalMs - the configured interval, in ms.
 */
export function planAttempt(now: number, last: PlanMemory | undefined, timing: RefusalTiming, intervalMs: number): PlannedWait {
  const wish = wished(now, last, timing)
  const least = LEAST_MS[last?.looks ?? 0]
  if (wish === undefined || least === undefined) return { delayMs: intervalMs, cause: 'interval' }
  const delayMs = Math.max(wish.delayMs, least)
  if (delayMs < intervalMs) return { delayMs, cause: wish.cause === 'hint' && least > wish.delayMs ? 'second-try' : wish.cause }
  return { delayMs: intervalMs, cause: wish.cause === 'throttle' || wish.cause === 'uncertain' ? wish.cause : 'interval' }
}

/**
 * Plan the next attempt on a route that fails otherwise while its allowance is waited for: it is not back yet. An outage
 * at the return of an allowance must not end a run that waited for hours.
 *
 * @param last - the plans for the route since its last answer.
 * @param intervalMs - the configured interval, in ms.
 */
export function planLook(last: PlanMemory | undefined, intervalMs: number): PlannedWait {
  const grown = OUTAGE.firstMs * OUTAGE.growth ** Math.min(last?.outages ?? 0, 16)
  return { delayMs: Math.min(intervalMs, grown, OUTAGE.mostMs), cause: 'outage' }
}

/**
 * Time from a probe that ended without an answer of either kind to the next one, in ms.
 *
 * @param relays - how many in a row ended so before; an outage must not end those who wait one after another.
 * @param intervalMs - the configured interval, in ms.
 */
export const relayGapMs = (relays: number, intervalMs: number): number =>
  Math.min(intervalMs, RELAY.firstMs * RELAY.growth ** Math.min(relays, 16))

/** What the person does during a wait brings its attempt forward, but not closer to the last refusal than this, in ms. */
export const PERSON_GAP_MS = 10_000

/**
 * When a session asks that its person wants to ask now.
 *
 * @param now - epoch ms.
 * @param plannedAt - epoch ms of the last refusal.
 */
export const personAttemptAt = (now: number, plannedAt: number): number =>
  // A clock that was set back must not make the gap any longer.
  plannedAt > now ? now : Math.max(now, plannedAt + PERSON_GAP_MS)

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
  // A clock that was set back since must not make the wait any longer.
  return Math.min(now, entry !== null && entry.heldBy === turn ? entry.since : now) + maxWaitMs
}
