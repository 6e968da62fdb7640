import type { Fact } from '../events/facts.ts'
import type { QueuedMessage, QueueName } from '../events/inbox.ts'
import type { Route } from '../events/route.ts'
import { isSourceOf } from '../events/source.ts'
import type { InboxState } from '../reducers/inbox.ts'
import { type HoldPolicy, holdOf } from '../reducers/hold.ts'
import type { SessionState } from '../reducers/session.ts'
import { settledSettings, type SettingsState } from '../reducers/settings.ts'
import { refusedRoute } from '../reducers/step.ts'
import type { Waiting } from '../reducers/waiting.ts'
import type { Config } from './config.ts'
import { type LadderSwitch, resolveLadder, resolveSwitch } from './settings.ts'

/**
 * What a session's run waits for, while it is in the turn that waits (or that carries it on), or was cut off in it.
 *
 * @param state - the folded session.
 * @returns the attempt it waits for, epoch ms, and the provider; `undefined` when nothing is to be taken up after a restart.
 */
export function heldWait(state: SessionState): Pick<Waiting, 'nextAttemptAt' | 'provider' | 'turn' | 'closed'> | undefined {
  const hold = holdOf(state)
  return hold === undefined ? undefined : { nextAttemptAt: hold.at, provider: hold.provider, turn: hold.turn, closed: state.entries.closed }
}

/** The switch of the policy that holds a session. */
const isOn = (policy: HoldPolicy, settings: SettingsState, config: Switches): boolean =>
  policy === 'quota' ? resolveSwitch(settings, config).enabled : resolveLadder(settings, config).enabled

/** What decides whether a hold goes on after a restart. */
type Switches = Pick<Config, 'defaultEnabled'> & LadderSwitch

/**
 * When a run that the end of its host cut off goes on by itself.
 *
 * @param state - the folded session.
 * @param config - the deployment.
 * @returns epoch ms, which may have passed; `undefined` where nothing was cut off, or nobody takes it up: a delegated
 *   session lives and ends with its parent's turn.
 */
export function goesOnAt(state: SessionState, config: Switches & Pick<Config, 'resumeOnStart'>): number | undefined {
  const hold = holdOf(state)
  const takenUp = config.resumeOnStart && state.lineage.parent === null && hold?.cut === true && isOn(hold.policy, state.settings, config)
  return takenUp ? hold.at : undefined
}

/**
 * The next attempt of a session that is held: of its armed wait, or of a run that goes on by itself.
 *
 * @param state - the folded session.
 * @param config - the deployment.
 * @returns epoch ms; `undefined` where none is planned.
 */
export const nextAttemptOf = (state: SessionState, config: Switches & Pick<Config, 'resumeOnStart'>): number | undefined =>
  holdOf(state)?.wait?.nextAttemptAt ?? goesOnAt(state, config)

/** What the index of waiting sessions has to learn. */
export type IndexChange =
  | { readonly type: 'waiting'; readonly held: NonNullable<ReturnType<typeof heldWait>> }
  /** The session waits no more; `stored` when the index may say so only once the log on the disk does. */
  | { readonly type: 'released'; readonly when: 'now' | 'stored' }

/**
 * What the index has to learn of a fact: a session is in it from its first wait until its run is answered, stopped or
 * off.
 *
 * Log and index reach the disk one after the other, and the host may be killed in between. So a session leaves the
 * index only when the log that says why is on the disk; but at once where a person ended the wait, whose word would
 * otherwise be lost with the end of the log.
 *
 * @param fact - what happened.
 * @param before - the session before it.
 * @param after - the session after it.
 * @returns `undefined` when the index is right as it is.
 */
export function indexChange(fact: Fact, before: SessionState, after: SessionState): IndexChange | undefined {
  const was = heldWait(before)
  const held = heldWait(after)
  if (held !== undefined) return held.nextAttemptAt !== was?.nextAttemptAt || held.turn !== was.turn ? { type: 'waiting', held } : undefined
  if (was === undefined) return undefined
  const byPerson = fact.type === 'commandSettled' || (fact.type === 'turnEnded' && fact.outcome === 'aborted')
  return { type: 'released', when: byPerson ? 'now' : 'stored' }
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
  readonly waiting: Waiting
  readonly state: SessionState
  readonly archived: boolean
  /** Whether the session is a delegated one, which lives and ends with its parent's turn. */
  readonly child: boolean
  /** Epoch ms. */
  readonly now: number
}

/**
 * Whether a crash took the end of the log, and with it the wait that the index knows of: the log then ends in the very
 * turn that waited, or in one that was to carry it on, each cut off, and says nothing of how that wait went on.
 */
function lostItsEnd({ waiting, state }: Suspended): boolean {
  const { entries, step } = state
  const { closed, turn } = waiting
  if (turn === undefined || heldWait(state) !== undefined) return false
  // An entry of the same turn may have closed before the lost one opened.
  if (closed === undefined ? entries.open !== null || entries.lastClosed?.turn === turn : entries.closed > closed) return false
  return step.turn === turn || (step.cut !== null && step.cut.from <= turn && turn <= step.cut.to)
}

/**
 * Decide whether a session goes on after a restart. Its log decides; the index only said where to look.
 *
 * @param session - the session.
 * @param config - the deployment.
 */
export function decideResume(session: Suspended, config: Switches): ResumeDecision {
  const { archived, child, now, state, waiting } = session
  const { settings, step } = state
  const hold = holdOf(state)
  const open = hold ?? quotaOf(state)
  const lost = lostItsEnd(session)
  if (open === undefined && !lost) return { kind: 'stay', why: 'recovered' }
  if (archived) return { kind: 'stay', why: 'archived' }
  if (child) return { kind: 'stay', why: 'a-child' }
  // Of a log that nobody has opened since: what was typed last may not have been answered.
  if (!isOn(open?.policy ?? 'quota', settledSettings(settings, now), config)) return { kind: 'stay', why: 'switched-off' }
  if (lost || open === undefined) {
    const model = refusedRoute(step, waiting.provider)?.model ?? ''
    return { kind: 'continue', at: waiting.nextAttemptAt, route: { provider: waiting.provider, model } }
  }
  if (hold === undefined) return { kind: 'stay', why: 'not-cut-off' }
  // A log that nobody has opened since the crash still ends inside its turn.
  const at = hold.cut ? hold.at : hold.wait?.nextAttemptAt ?? now
  return { kind: 'continue', at, route: { provider: hold.provider, model: hold.model ?? '' } }
}

/** The entry that is open although nothing holds the session: its turn was cancelled or ended. */
const quotaOf = ({ entries: { open } }: SessionState): { readonly policy: HoldPolicy } | undefined =>
  open === null ? undefined : { policy: 'quota' }

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
 * @param plugin - the name that our messages carry.
 */
export function deliveryFor(inbox: InboxState, plugin: string): Delivery {
  const isOurs = ({ source }: QueuedMessage): boolean => isSourceOf(source, plugin)
  return {
    restore: inbox.dropped.filter(({ message }) => !isOurs(message)),
    superseded: [...inbox.pending['next-step'], ...inbox.pending['next-turn']].filter(isOurs).map(({ id }) => id),
  }
}
