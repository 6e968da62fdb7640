import { type LineText, type LogEvent, nameOf, policyOf, retryOf, saidIn, type TurnOutcome, untilOf } from './chain.ts'

/** A whole wait of one step: every planned attempt, whatever it came from. */
export interface WaitLine {
  readonly kind: 'wait'
  /** Where its newest attempt stands in the log, and so the line. */
  readonly seq: number
  /** Epoch ms of the first refusal. */
  readonly since: number
  /** The route that is waited for. */
  readonly provider: string
  readonly model: string | null
  /** Ids of our chains: a start does not say whose it is. */
  readonly ids: readonly string[]
  /** Attempts that began. */
  readonly checks: number
  /** Epoch ms of the planned attempt. */
  readonly nextAttemptAt: number
  /** Epoch ms at which the planned attempt began; `null` before. */
  readonly startedAt: number | null
  /** Why the last attempt came before its time. */
  readonly why: string | null
  readonly said: string
  readonly until: number | null
}

/** What is known of a step before anything of ours stands in it. */
export interface Step {
  readonly kind: 'step'
  /** Route of the last request before, for a refusal does not name its model. */
  readonly provider: unknown
  readonly model: unknown
}

/** Causes that end a wait before its time. */
const EARLY: ReadonlySet<string> = new Set(['asked', 'message', 'reading', 'answer', 'ramp', 'relay'])

const placeOf = (turn: unknown, step: unknown): string | undefined =>
  typeof turn === 'number' && typeof step === 'number' ? `${turn}.${step}` : undefined

/**
 * Which step an event belongs to: each has one wait at most.
 *
 * @param event - any event of the log.
 * @returns its place; `null` for an event that tells nothing of a wait. A start of an attempt does not say whose it is.
 */
export function waitPlace(event: LogEvent): { id: string; role: 'start' | 'update' } | null {
  const { step, turn } = retryOf(event)
  const id = placeOf(turn, step)
  if (event.type === 'step/start') return id === undefined ? null : { id, role: 'start' }
  // The first request of a session stands behind the start of its step.
  if (event.type === 'request/header') return (event.data as { reason?: unknown } | null)?.reason === 'initial' ? { id: '1.1', role: 'update' } : null
  if (id === undefined) return null
  if (event.type === 'llm/retry-started') return { id, role: 'update' }
  const policy = policyOf(event)
  return policy?.kind === 'wait' || (policy?.kind === 'move' && policy.afterWait !== undefined) ? { id, role: 'update' } : null
}

const modelOf = (before: WaitLine | Step, provider: string): string | null =>
  before.provider === provider && typeof before.model === 'string' ? before.model : null

/**
 * Fold an event of a step into its wait.
 *
 * @param before - the wait so far, or the step.
 * @param event - the event.
 */
export function evolveWait(before: WaitLine | Step, event: LogEvent): WaitLine | Step {
  const retry = retryOf(event)
  if (event.type === 'llm/retry-started') {
    if (before.kind !== 'wait' || !before.ids.includes(String(retry.retryId)) || before.startedAt !== null) return before
    return { ...before, startedAt: event.time, checks: before.checks + 1 }
  }
  const policy = policyOf(event)
  // The attempt that follows a wait may go to another route; the wait says where it went.
  if (policy?.kind === 'move') return before.kind === 'wait' ? { ...before, provider: policy.provider, model: policy.model } : before
  const { delayMs, provider, retryId } = retry
  if (policy?.kind !== 'wait' || typeof provider !== 'string') return before
  const delay = typeof delayMs === 'number' && Number.isFinite(delayMs) ? delayMs : 0
  const early = EARLY.has(policy.cause)
  const on = policy.on ?? { provider, model: modelOf(before, provider) }
  const known = before.kind === 'wait' ? before : undefined
  return {
    kind: 'wait', seq: event.seq, since: known?.since ?? event.time, ...on,
    ids: [...new Set([...known?.ids ?? [], String(retryId)])],
    checks: known?.checks ?? 0,
    nextAttemptAt: event.time + delay, startedAt: null, why: early ? policy.cause : null,
    said: saidIn(retry), until: untilOf(retry, event.time),
  }
}

/**
 * What the line of a wait says: its last state.
 *
 * @param wait - the wait.
 * @param turn - how far its turn has come.
 * @param next - epoch ms of the attempt that the session waits for now, `null` when it waits for none.
 */
export function waitText(wait: WaitLine, turn: TurnOutcome, next: number | null): LineText {
  const { checks, nextAttemptAt, since, startedAt, until, why } = wait
  const values = { route: nameOf(wait), count: checks }
  const early = why === null ? {} : { why: `why.${why}` }
  if (startedAt === null && turn === 'open' && next === nextAttemptAt) return { key: checks > 0 ? 'line.waiting.many' : 'line.waiting', values, next, until }
  if (startedAt === null && turn === 'cancelled') return { key: 'line.stopped', values }
  return { key: checks > 1 ? 'line.waited.many' : 'line.waited', values, took: Math.max(0, (startedAt ?? nextAttemptAt) - since), ...early }
}
