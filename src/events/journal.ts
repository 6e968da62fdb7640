import { z } from 'zod'

/**
 * The journal: what concerns more than one session and so stands in no session's log. A record is a small past-tense
 * event with its own time; state is folded from records and never stored.
 */

// The one string that is no safe key of a plain object.
const name = z.string().min(1).max(500).refine(value => value !== '__proto__')
const epochMs = z.number().nonnegative()

/** A provider refused a request because its allowance is spent. */
export const ProviderMarked = z.object({
  type: z.literal('providerMarked'),
  provider: name,
  /** Epoch ms of the refusal. */
  at: epochMs,
  /** Epoch ms at which the mark lapses by itself. */
  until: epochMs,
  /** The classification rule that recognised the refusal. */
  rule: z.string().max(200),
  /** What the provider said, cut. */
  message: z.string().max(2_000),
  /** The provider's own words on when it resets, when it gave any. */
  resetHint: z.string().max(500).optional(),
  /** Epoch ms of the reset that the provider named, when it could be resolved. */
  resetsAt: epochMs.optional(),
})

/**
 * A provider refused a request because the allowance of one of its models is spent; the others may answer. A record of
 * its own: an older version, which does not know it, must not take it for a mark of the whole provider.
 */
export const RouteMarked = ProviderMarked.extend({
  type: z.literal('routeMarked'),
  model: name,
})

/** A provider answered, or a reading showed allowance, so its mark is over. */
export const ProviderLifted = z.object({
  type: z.literal('providerLifted'),
  provider: name,
  /** Epoch ms: of an answer, when its request was sent; of a reading, when it was taken. */
  at: epochMs,
  by: z.enum(['answer', 'reading', 'person']),
  /** Epoch ms at which it was heard. A mark that was made later than this was made by a clock that has been set back since. */
  heardAt: epochMs.optional(),
})

/** A model answered, so its own mark is over. */
export const RouteLifted = ProviderLifted.extend({
  type: z.literal('routeLifted'),
  model: name,
})

/** A session began to hold a wait. The index by which a restarted host finds it; its log is what counts. */
export const SessionWaiting = z.object({
  type: z.literal('sessionWaiting'),
  session: name,
  at: epochMs,
  /** Epoch ms of the planned attempt. */
  nextAttemptAt: epochMs,
  provider: name,
  /** The turn that waits: where the end of the log was lost in a crash, its turn must still be this one. */
  turn: z.number().int().nonnegative().optional(),
  /** How many entries of the session closed before this one: a log that holds as many has not lost it. */
  closed: z.number().int().nonnegative().optional(),
})

/** A session holds no wait any more. */
export const SessionReleased = z.object({
  type: z.literal('sessionReleased'),
  session: name,
  at: epochMs,
  /** The turn whose wait ended, where that is known: a later one of the session is another. */
  turn: z.number().int().nonnegative().optional(),
})

/** A request was moved to another route before it was sent, because its provider was marked. */
export const RequestMoved = z.object({
  type: z.literal('requestMoved'),
  session: name,
  at: epochMs,
  pool: name,
  from: z.object({ provider: name, model: name }),
  to: z.object({ provider: name, model: name }),
  why: z.string().max(500),
})

/** Any record of the journal. */
export const JournalRecord = z.discriminatedUnion('type', [
  ProviderMarked, ProviderLifted, RouteMarked, RouteLifted, SessionWaiting, SessionReleased, RequestMoved,
])

/** Any record of the journal. */
export type JournalRecord = z.infer<typeof JournalRecord>
/** A record of one type. */
export type JournalRecordOf<T extends JournalRecord['type']> = Extract<JournalRecord, { type: T }>

/**
 * Read one stored record. Total: what a newer version or a damaged file holds is no record, and is kept as it is by
 * whoever stores it.
 *
 * @param value - the stored value.
 * @returns the record, or `undefined`.
 */
export function readJournalRecord(value: unknown): JournalRecord | undefined {
  const parsed = JournalRecord.safeParse(value)
  return parsed.success ? parsed.data : undefined
}
