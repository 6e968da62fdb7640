import { z } from 'zod'
import { cutText } from '../events/failure.ts'
import { EARLY_CAUSES } from '../events/policy-key.ts'
import { MOVED_WHYS } from '../events/route-notes.ts'
import type { Config } from '../policy/config.ts'
import { type FirstOut, firstWayOut } from '../policy/pool/after-wait.ts'
import { classifyFailure } from '../policy/judge/classify.ts'
import { nextAttemptOf } from '../policy/resume.ts'
import { type LadderSwitch, resolvePool, resolveSwitch } from '../policy/settings.ts'
import type { Entry } from '../reducers/quota.ts'
import type { SessionState } from '../reducers/session.ts'

/** Longest refusal text on the wire, in UTF-16 units; the log has the whole. */
const MAX_REASON = 500

const LiveWait = z.object({
  /** Epoch ms since which the session waits, in this turn. */
  since: z.number(),
  /** Epoch ms of the next attempt; `null` while an attempt runs or none is planned. */
  nextAttemptAt: z.number().nullable(),
  /** Whether a wait is armed right now. One that was cut off by the end of the host is not, until the run goes on at its time. */
  pending: z.boolean(),
  /** Waits planned since the session ran out of allowance. */
  attempts: z.number(),
  provider: z.string(),
  model: z.string().nullable(),
  /** What the provider said, cut. */
  reason: z.string(),
  /** Epoch ms at which the provider said that its allowance is back, or `null`. */
  resetsAt: z.number().nullable(),
  /** The pool of which every route is out of allowance, or `null`. */
  pool: z.string().nullable(),
  /** The route whose time comes first, which need not be the one that refused last; `null` where that is not known. */
  next: z.object({ provider: z.string(), model: z.string() }).nullable(),
})

const Move = z.object({
  from: z.object({ provider: z.string(), model: z.string() }).nullable(),
  to: z.object({ provider: z.string(), model: z.string() }),
  pool: z.string(),
  /** Epoch ms of the decision. */
  at: z.number(),
  turn: z.number(),
  /** `refused`: it answered a refusal; else why the request left its route before it was sent. */
  why: z.enum(['refused', ...MOVED_WHYS]),
})

/** The `quotaRetry` value: the settings as they hold, and what the session waits for. */
export const QuotaRetryFacts = z.object({
  /** Version of this shape; a reader that knows another leaves the value alone. */
  version: z.literal(1),
  enabled: z.boolean(),
  defaultEnabled: z.boolean(),
  source: z.enum(['default', 'session', 'inherited']),
  pool: z.string().nullable(),
  poolSource: z.enum(['default', 'session', 'inherited', 'off']),
  pools: z.array(z.string()),
  /** The open entry, or `null` while the session has allowance. */
  wait: LiveWait.nullable(),
  /** The last move of this session to another route of its pool, or `null`. */
  lastMove: Move.nullable(),
})

/** The `quotaRetry` value. */
export type QuotaRetryFacts = z.infer<typeof QuotaRetryFacts>
/** What a session waits for. */
export type LiveWait = z.infer<typeof LiveWait>

/** When the provider's own words named a reset: epoch ms, or `null`. */
function resetOf({ enteredAt, failure, provider, wait }: Entry): number | null {
  const read = (now: number): number | null => classifyFailure({ ...failure, provider }, { now }).resetsAt ?? null
  const at = read(wait?.plannedAt ?? enteredAt)
  // "In three hours" counts from the refusal, and a wait may be written down again long after it.
  const counts = at !== null && read((wait?.plannedAt ?? enteredAt) + 60_000) !== at
  return counts && wait !== null && AGAIN.has(wait.cause) ? null : at
}

/** Causes of a record that no refusal of this session stands right before. */
const AGAIN: ReadonlySet<string> = new Set(['shared', ...EARLY_CAUSES])

const knownResets = new WeakMap<object, number | null>()

/** The same, read once for each refusal: a session's value is asked for at every event. */
function knownReset(entry: Entry): number | null {
  const known = knownResets.get(entry.failure)
  if (known !== undefined) return known
  const at = resetOf(entry)
  knownResets.set(entry.failure, at)
  return at
}

function liveWait(entry: Entry, nextAttemptAt: number | undefined, first: FirstOut | undefined): LiveWait {
  return {
    since: entry.since,
    nextAttemptAt: nextAttemptAt ?? null,
    pending: entry.wait !== null,
    attempts: entry.attempts,
    provider: entry.provider,
    model: entry.model,
    reason: cutText(entry.failure.message, MAX_REASON),
    pool: first?.pool ?? null,
    next: first?.route ?? null,
    resetsAt: knownReset(entry),
  }
}

/**
 * What other plugins and the browser see of a session.
 *
 * @param state - the folded session.
 * @param config - the deployment.
 * @returns the value of the `quotaRetry` projection; plain JSON.
 */
export function quotaRetryFacts(state: SessionState, config: Pick<Config, 'defaultEnabled' | 'pools' | 'resumeOnStart'> & LadderSwitch): QuotaRetryFacts {
  const effective = resolveSwitch(state.settings, config)
  const pool = resolvePool(state.settings, state.step.route, config)
  const { open } = state.entries
  const move = state.failovers.last
  return {
    version: 1,
    enabled: effective.enabled,
    defaultEnabled: config.defaultEnabled,
    source: effective.source,
    pool: pool.pool,
    poolSource: pool.source,
    pools: Object.keys(config.pools),
    wait: open === null ? null : liveWait(open, nextAttemptOf(state, config), firstWayOut(state, config)),
    lastMove: move === null ? null : { from: move.from, to: move.to, pool: move.pool, at: move.at, turn: move.turn, why: move.why ?? 'refused' },
  }
}
