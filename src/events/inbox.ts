import { isRecord } from './json.ts'

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
  /** A message entered the conversation; `typed` when it is a person's. */
  | { readonly type: 'entered'; readonly seq: number; readonly id: string; readonly typed: boolean }
  /** The process that wrote the log so far is over; another begins. */
  | { readonly type: 'reopened'; readonly seq: number }
  /** A turn began. */
  | { readonly type: 'turnBegan'; readonly seq: number }
  /** A turn ended; `cut` when that was the end of its process. */
  | { readonly type: 'turnOver'; readonly seq: number; readonly cut: boolean }
  /** Something else was written: the process that dropped a message lived on. `asked` once a request of the step was made. */
  | { readonly type: 'livedOn'; readonly seq: number; readonly asked: boolean }

/** What follows the messages of a step: by then each of them has entered the conversation, or never will. */
const ASKED: ReadonlySet<unknown> = new Set(['request/header', 'assistant/chunk', 'assistant/attempt', 'assistant/message'])

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const kindOf = (value: unknown): unknown => isRecord(value) ? value['kind'] : undefined
const isMessage = (value: unknown): value is QueuedMessage => isRecord(value) && typeof value['id'] === 'string' && value['id'] !== ''

/** Whether the end of a process ended a turn: it was killed, or it took its agents down. */
function isCut(reason: unknown): boolean {
  return kindOf(reason) === 'interrupted' || (isRecord(reason) && reason['kind'] === 'aborted' && kindOf(reason['reason']) === 'disposed')
}

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
  switch (event['type']) {
    case 'user/message':
      return isMessage(data) ? { type: 'entered', seq, id: data.id, typed: kindOf(data.source) === 'user' } : undefined
    case 'session/end-seed':
      return { type: 'reopened', seq }
    case 'turn/start':
      return { type: 'turnBegan', seq }
    case 'turn/end':
      return { type: 'turnOver', seq, cut: isCut(data['reason']) }
    case 'step/end':
      return undefined
    case 'agent/inbox/spliced':
      return spliced(data, seq)
    default:
      return { type: 'livedOn', seq, asked: ASKED.has(event['type']) }
  }
}

function spliced(data: Record<string, unknown>, seq: number): InboxFact | undefined {
  const queue = data['target']
  if ((queue !== 'next-turn' && queue !== 'next-step') || !isCount(data['start'])) return undefined
  const inserted = Array.isArray(data['inserted']) ? data['inserted'].filter(isMessage) : []
  return {
    type: 'spliced', seq, queue, start: data['start'], removed: isCount(data['removedCount']) ? data['removedCount'] : 0,
    inserted, dropped: data['outcome'] === 'canceled',
  }
}
