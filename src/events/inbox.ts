/**
 * The session's queue of messages, as far as a restart has to know it: which messages were put into it and taken out,
 * and whether they were dropped. Read apart from the other facts, since it holds whole messages.
 */

/** A message of the queue. Only its id and source are looked at; the rest is handed back as it was. */
export interface QueuedMessage {
  readonly id: string
  readonly source?: { readonly kind?: unknown; readonly plugin?: unknown }
}

/** The two lists of the queue. */
export type QueueName = 'next-turn' | 'next-step'

/** What happened to the queue. */
export type InboxFact =
  | { readonly type: 'spliced'; readonly seq: number; readonly queue: QueueName; readonly start: number; readonly removed: number; readonly inserted: readonly QueuedMessage[]; readonly dropped: boolean }
  /** A message entered the conversation. */
  | { readonly type: 'entered'; readonly seq: number; readonly id: string }
  /** The process that wrote the log so far is over; another begins. */
  | { readonly type: 'reopened'; readonly seq: number }
  /** A turn began. */
  | { readonly type: 'turnBegan'; readonly seq: number }
  /** Something else was written: the process that dropped a message lived on. */
  | { readonly type: 'livedOn'; readonly seq: number }

/** What is written when a process ends, or by the next one about it. */
const CLOSING: ReadonlySet<unknown> = new Set(['step/end', 'turn/end'])

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isMessage = (value: unknown): value is QueuedMessage => isRecord(value) && typeof value['id'] === 'string' && value['id'] !== ''

/**
 * Read one row of a session log as a fact of its queue. Total.
 *
 * @param event - an event, or anything else.
 * @returns the fact, or `undefined`.
 */
export function decodeInboxEvent(event: unknown): InboxFact | undefined {
  if (!isRecord(event) || !isRecord(event['data'])) return undefined
  const { data } = event as { data: Record<string, unknown> }
  const seq = isCount(event['seq']) ? event['seq'] : -1
  if (event['type'] === 'user/message') return isMessage(data) ? { type: 'entered', seq, id: data.id } : undefined
  if (event['type'] === 'session/end-seed') return { type: 'reopened', seq }
  if (event['type'] === 'turn/start') return { type: 'turnBegan', seq }
  if (event['type'] !== 'agent/inbox/spliced') return CLOSING.has(event['type']) ? undefined : { type: 'livedOn', seq }
  const queue = data['target']
  if ((queue !== 'next-turn' && queue !== 'next-step') || !isCount(data['start'])) return undefined
  const inserted = Array.isArray(data['inserted']) ? data['inserted'].filter(isMessage) : []
  return {
    type: 'spliced', seq, queue, start: data['start'], removed: isCount(data['removedCount']) ? data['removedCount'] : 0,
    inserted, dropped: data['outcome'] === 'canceled',
  }
}
