import { decodeInboxEvent, type InboxFact, type QueuedMessage, type QueueName } from '../events/inbox.ts'

/** A message that was dropped from the queue, and where in the log that stands. */
export interface DroppedMessage {
  readonly message: QueuedMessage
  readonly queue: QueueName
  readonly seq: number
}

/** The session's queue. */
export interface InboxState {
  readonly pending: Readonly<Record<QueueName, readonly QueuedMessage[]>>
  /** Messages that were dropped and have neither come back nor entered the conversation since, oldest first. */
  readonly dropped: readonly DroppedMessage[]
}

/** An empty queue. */
export const initialInbox: InboxState = { pending: { 'next-turn': [], 'next-step': [] }, dropped: [] }

function spliced(state: InboxState, fact: Extract<InboxFact, { type: 'spliced' }>): InboxState {
  const list = [...state.pending[fact.queue]]
  const removed = list.splice(fact.start, fact.removed, ...fact.inserted)
  const back = new Set(fact.inserted.map(({ id }) => id))
  const dropped = fact.dropped ? removed.filter(({ id }) => !back.has(id)).map(message => ({ message, queue: fact.queue, seq: fact.seq })) : []
  return {
    pending: { ...state.pending, [fact.queue]: list },
    dropped: [...state.dropped.filter(({ message }) => !back.has(message.id)), ...dropped],
  }
}

/**
 * Fold one fact into the queue.
 *
 * @param state - the queue so far.
 * @param fact - what happened.
 */
export function evolveInbox(state: InboxState, fact: InboxFact): InboxState {
  if (fact.type === 'spliced') return spliced(state, fact)
  return state.dropped.some(({ message }) => message.id === fact.id)
    ? { ...state, dropped: state.dropped.filter(({ message }) => message.id !== fact.id) }
    : state
}

/**
 * Fold the queue out of a whole log.
 *
 * @param events - the log's rows in order.
 * @param ownFrom - position of the first event that is the session's own: a fork does not take over its parent's queue.
 */
export function foldInbox(events: Iterable<unknown>, ownFrom = 0): InboxState {
  let state = initialInbox
  for (const event of events) {
    const fact = decodeInboxEvent(event)
    if (fact !== undefined && fact.seq >= ownFrom) state = evolveInbox(state, fact)
  }
  return state
}
