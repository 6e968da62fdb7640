import { randomUUID } from 'node:crypto'
import type { Session } from '@deepseek-ai/dsh-session'
import { boundFailure, type Failure, readFailure } from '../events/failure.ts'
import { noteId, type RouteNote, writeRouteNote } from '../events/route-notes.ts'
import { type SettingChange, writeSettingCommand } from '../events/settings.ts'
import { chainOf, type StepState } from '../reducers/step.ts'

/**
 * The only code that writes to a session's log, in the harness's own vocabulary: a type of our own would make the log
 * unloadable.
 */

type AppendAny = (type: string, data: unknown) => unknown

const append = (session: Session, type: string, data: unknown): void => {
  ;(session.append as unknown as AppendAny).call(session, type, data)
}

/** A planned retry as it stands in the log, to be paired when the attempt begins. */
export interface PlannedRecord {
  readonly retryId: string
  readonly retry: number
  readonly turn: number
  readonly step: number
}

/** What a planned retry is made of. */
export interface RetryPlan {
  readonly turn: number
  readonly step: number
  /** Provider of the failed request. */
  readonly provider: string
  readonly policyKey: string
  /** Time to the attempt, in ms. */
  readonly delayMs: number
  readonly failure: unknown
  /** How many tries the chain may have, at least 1; none for no limit. */
  readonly maxRetries?: number
}

/**
 * Record a planned attempt.
 *
 * @param session - the session.
 * @param step - where its loop stands; the numbers of a chain go on without a gap.
 * @param plan - the attempt.
 * @returns what {@link recordStarted} needs.
 * @throws what the session's `append` throws.
 */
export function recordPlanned(session: Session, step: StepState, plan: RetryPlan): PlannedRecord {
  // The harness logs the whole refusal once; a text of a megabyte must not stand in every wait as well.
  const failure: Failure = boundFailure(readFailure(plan.failure))
  const chain = chainOf(step, plan.provider, plan.policyKey)
  const retryId = chain?.retryId ?? randomUUID()
  const retry = (chain?.retry ?? 0) + 1
  const { turn, step: stepNumber, provider, policyKey, delayMs, maxRetries } = plan
  // A chain that has come further than its limit (an edit in the middle of it) is one without a limit to its readers.
  const mode = maxRetries === undefined || maxRetries < retry ? { mode: 'always' } : { mode: 'normal', maxRetries }
  append(session, 'llm/retry', { retryId, turn, step: stepNumber, provider, ...mode, policyKey, retry, delayMs, failure })
  return { retryId, retry, turn, step: stepNumber }
}

/**
 * Record that a planned attempt begins.
 *
 * @param session - the session.
 * @param planned - what {@link recordPlanned} returned.
 */
export function recordStarted(session: Session, planned: PlannedRecord): void {
  append(session, 'llm/retry-started', planned)
}

/**
 * Record a setting that was not typed: made by another plugin, or taken over from an ancestor.
 *
 * @param session - the session.
 * @param change - the setting.
 * @param text - what the transcript says of it.
 */
export function recordSetting(session: Session, change: SettingChange, text: string): void {
  const commandId = randomUUID()
  append(session, 'command/run', { commandId, ...writeSettingCommand(change), source: { kind: 'user' } })
  append(session, 'command/done', { commandId, kind: 'success', text })
}

/**
 * Record where requests go, where the harness's own events do not say it.
 *
 * @param session - the session.
 * @param note - the note.
 * @param text - what the transcript says of it.
 */
export function recordNote(session: Session, note: RouteNote, text: string): void {
  const commandId = noteId(randomUUID())
  append(session, 'command/run', { commandId, ...writeRouteNote(note), source: { kind: 'user' } })
  append(session, 'command/done', { commandId, kind: 'success', text })
}
