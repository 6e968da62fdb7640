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
  /**
   * Messages that the turn took out of the queue and that have not entered the conversation yet. The harness does that in
   * two writes: a host that is killed between them leaves a message in neither.
   */
  readonly claimed: readonly DroppedMessage[]
  /** Whether the log is in the life of the process that dropped them, where anything it still writes tells that it lived on. */
  readonly sameLife: boolean
}

/** An empty queue. */
export const initialInbox: InboxState = { pending: { 'next-turn': [], 'next-step': [] }, dropped: [], claimed: [], sameLife: true }

const isOneOf = (ids: ReadonlySet<string>) => ({ message }: DroppedMessage): boolean => ids.has(message.id)

function spliced(state: InboxState, fact: Extract<InboxFact, { type: 'spliced' }>): InboxState {
  const list = [...state.pending[fact.queue]]
  const removed = list.splice(fact.start, fact.removed, ...fact.inserted)
  const isBack = isOneOf(new Set(fact.inserted.map(({ id }) => id)))
  const gone = removed.map(message => ({ message, queue: fact.queue, seq: fact.seq })).filter(one => !isBack(one))
  // A queue that is still used is that of a process that lived on.
  const earlier = state.sameLife && !fact.dropped ? [] : state.dropped
  return {
    ...state,
    pending: { ...state.pending, [fact.queue]: list },
    dropped: [...earlier.filter(one => !isBack(one)), ...fact.dropped ? gone : []],
    claimed: [...state.claimed.filter(one => !isBack(one)), ...fact.dropped ? [] : gone],
  }
}

function entered(state: InboxState, { id, typed }: Extract<InboxFact, { type: 'entered' }>): InboxState {
  const isIt = isOneOf(new Set([id]))
  const known = state.claimed.some(isIt)
  // A listener may have put another message in the place of the one that was taken.
  const claimed = typed && !known ? [] : state.claimed.filter(one => !isIt(one))
  return { ...state, dropped: state.dropped.filter(one => !isIt(one)), claimed }
}

/** What was taken for a turn that was cut off is as lost as what was dropped with it, and older. */
const turnOver = (state: InboxState, cut: boolean): InboxState => state.claimed.length === 0
  ? state
  : { ...state, dropped: cut ? [...state.claimed, ...state.dropped] : state.dropped, claimed: [] }

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
      return entered(state, fact)
    case 'reopened':
      return { ...state, sameLife: false }
    case 'turnBegan':
      // The run goes on, with or without us: what is not back by now does not come back.
      return { ...state, dropped: [], claimed: [], sameLife: true }
    case 'turnOver':
      return turnOver(state, fact.cut)
    case 'livedOn': {
      const dropped = state.sameLife ? [] : state.dropped
      const claimed = fact.asked ? [] : state.claimed
      return dropped.length === state.dropped.length && claimed.length === state.claimed.length ? state : { ...state, dropped, claimed }
    }
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
