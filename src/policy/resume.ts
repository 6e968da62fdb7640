import type { QueuedMessage, QueueName } from '../events/inbox.ts'
import type { Route } from '../events/route.ts'
import type { InboxState } from '../reducers/inbox.ts'
import type { SessionState } from '../reducers/session.ts'
import type { Waiting } from '../reducers/waiting.ts'
import type { Config } from './config.ts'
import { resolveSwitch } from './settings.ts'

/**
 * What a session's run waits for, while it is in the turn that waits (or that carries it on), or was cut off in it.
 *
 * @param state - the folded session.
 * @returns the attempt it waits for, epoch ms, and the provider; `undefined` when nothing is to be taken up after a restart.
 */
export function heldWait({ entries: { open }, step }: SessionState): { readonly nextAttemptAt: number; readonly provider: string } | undefined {
  if (open === null || (open.cutOff === null && step.turn !== open.heldBy)) return undefined
  return { nextAttemptAt: open.cutOff ?? open.wait?.nextAttemptAt ?? open.enteredAt, provider: open.provider }
}

/** Why a session that is in the index of waiting ones stays as it is. */
export type StayReason = 'recovered' | 'switched-off' | 'not-cut-off' | 'archived' | 'a-child'

/** Whether and how a session that waited goes on after a restart. */
export type ResumeDecision =
  | { readonly kind: 'stay'; readonly why: StayReason }
  | {
    readonly kind: 'continue'
    /** Epoch ms of the attempt it waited for; may have passed. */
    readonly at: number
    /** The route it waited for. */
    readonly route: Route
  }

/** A session that the index says waits, with what its own log says. */
export interface Suspended {
  readonly state: SessionState
  readonly archived: boolean
  /** Whether the session is a delegated one, which lives and ends with its parent's turn. */
  readonly child: boolean
  /** Epoch ms. */
  readonly now: number
}

/**
 * Decide whether a session goes on after a restart. Its log decides; the index only said where to look.
 *
 * @param session - the session.
 * @param config - the deployment.
 */
export function decideResume({ state, archived, child, now }: Suspended, config: Pick<Config, 'defaultEnabled'>): ResumeDecision {
  const { entries: { open }, settings, step } = state
  if (open === null) return { kind: 'stay', why: 'recovered' }
  if (archived) return { kind: 'stay', why: 'archived' }
  if (child) return { kind: 'stay', why: 'a-child' }
  if (!resolveSwitch(settings, config).enabled) return { kind: 'stay', why: 'switched-off' }
  // A log that nobody has opened since the crash still ends inside its turn.
  const stillOpen = step.turn !== null && step.turn === open.heldBy
  const at = open.cutOff ?? (stillOpen ? open.wait?.nextAttemptAt ?? now : undefined)
  if (at === undefined) return { kind: 'stay', why: 'not-cut-off' }
  return { kind: 'continue', at, route: { provider: open.provider, model: open.model ?? '' } }
}

/** What is put into the queue of a session that goes on. */
export interface Delivery {
  /** Messages of the person that the end of the host dropped, in order. */
  readonly restore: readonly { readonly message: QueuedMessage; readonly queue: QueueName }[]
  /** Our own continuation messages that an earlier start left in the queue: one is enough. */
  readonly superseded: readonly string[]
}

/**
 * What to put into a session's queue, given what is in it.
 *
 * @param inbox - the queue, folded from the log.
 * @param waiting - the index's record; it knows whether the host dropped the queue, or the person did.
 * @param plugin - the name that our messages carry.
 */
export function deliveryFor(inbox: InboxState, waiting: Pick<Waiting, 'suspendedFromSeq'>, plugin: string): Delivery {
  const isOurs = ({ source }: QueuedMessage): boolean => source?.kind === 'plugin' && source.plugin === plugin
  const from = waiting.suspendedFromSeq
  return {
    restore: from === undefined ? [] : inbox.dropped.filter(({ seq, message }) => seq >= from && !isOurs(message)),
    superseded: [...inbox.pending['next-step'], ...inbox.pending['next-turn']].filter(isOurs).map(({ id }) => id),
  }
}
