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
  /**
   * Messages that the end of a host dropped, and that have neither come back nor entered the conversation since, oldest
   * first. The harness empties the queue when it ends and when the person removes a message, in the same words; only
   * after the former is nothing else written by that process.
   */
  readonly dropped: readonly DroppedMessage[]
  /** Whether the log is in the life of the process that dropped them, where anything it still writes tells that it lived on. */
  readonly sameLife: boolean
}

/** An empty queue. */
export const initialInbox: InboxState = { pending: { 'next-turn': [], 'next-step': [] }, dropped: [], sameLife: true }

function spliced(state: InboxState, fact: Extract<InboxFact, { type: 'spliced' }>): InboxState {
  const list = [...state.pending[fact.queue]]
  const removed = list.splice(fact.start, fact.removed, ...fact.inserted)
  // A queue that is still used is that of a process that lived on.
  const earlier = state.sameLife && !fact.dropped ? [] : state.dropped
  const back = new Set(fact.inserted.map(({ id }) => id))
  const dropped = fact.dropped ? removed.filter(({ id }) => !back.has(id)).map(message => ({ message, queue: fact.queue, seq: fact.seq })) : []
  return {
    ...state,
    pending: { ...state.pending, [fact.queue]: list },
    dropped: [...earlier.filter(({ message }) => !back.has(message.id)), ...dropped],
  }
}

/**
 * Fold one fact into the queue.
 *
 * @param state - the queue so far.
 * @param fact - what happened.
 */
export function evolveInbox(state: InboxState, fact: InboxFact): InboxState {
  switch (fact.type) {
    case 'spliced':
      return spliced(state, fact)
    case 'entered':
      return { ...state, dropped: state.dropped.filter(({ message }) => message.id !== fact.id) }
    case 'reopened':
      return { ...state, sameLife: false }
    case 'turnBegan':
      // The run goes on, with or without us: what is not back by now does not come back.
      return { ...state, dropped: [], sameLife: true }
    case 'livedOn':
      return state.sameLife && state.dropped.length > 0 ? { ...state, dropped: [] } : state
  }
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
