import type { Route } from './route.ts'

/**
 * Our mark in the harness's own retry records.
 *
 * A wait or a move is written as the standard `llm/retry` / `llm/retry-started` pair, so that every client draws it and
 * every build of the harness can load the log. The record's `policyKey` is the one field in it that belongs to the
 * policy that wrote it, and so carries what the standard fields cannot say.
 */

/** First element of each of our policy keys; also the package's row id. */
export const POLICY = 'llm-quota-retry'

/**
 * Why an attempt is planned for its time. Absent in a key means the plain interval. Those of
 * {@link EARLY_CAUSES} end a wait before its time: the log then holds a second record of the same attempt, due at once,
 * that says why.
 */
export const WAIT_CAUSES = [
  /** The configured interval. */
  'interval',
  /** The backoff after a failure that passes. */
  'backoff',
  /** The reset time that the provider named. */
  'hint',
  /** A short look after a reset time that did not hold. */
  'second-try',
  /** A throttle of the provider. */
  'throttle',
  /** The refusal may mean something else than a spent allowance. */
  'uncertain',
  /** The route fails otherwise while its allowance is waited for: it is not back yet. */
  'outage',
  /** The longest wait allowed. */
  'limit',
  /** Another route of the pool, whose mark lapses or whose time comes first. */
  'other-route',
  /** Another session asks for all that wait on the route. */
  'shared',
  /** The provider answers again; those who waited follow one after another. */
  'ramp',
  /** The person asked for it now. */
  'asked',
  /** The person sent a message. */
  'message',
  /** A balance reading shows allowance. */
  'reading',
  /** The provider answered on another model. */
  'answer',
  /** The retry budget of the provider is used up for the moment. */
  'budget',
  /** The session that asked for all ended without an answer. */
  'relay',
  /** The same wait, written once more. */
  'restated',
] as const

/** Why an attempt is planned for its time. */
export type WaitCause = typeof WAIT_CAUSES[number]

const CAUSES: ReadonlySet<string> = new Set(WAIT_CAUSES)

/** Causes of a record that stands for an attempt which another record announced already. */
export const EARLY_CAUSES: ReadonlySet<WaitCause> = new Set(['ramp', 'asked', 'message', 'reading', 'answer', 'relay', 'restated'])

/** Causes by which a person ends a wait: they mean every route of the pool, whatever is known of it. */
export const PERSON_CAUSES: ReadonlySet<string> = new Set<WaitCause>(['asked', 'message'])

/** A wait as its policy key has it. */
export interface WaitPolicy {
  /** The configured interval, in ms. */
  readonly intervalMs: number
  readonly cause: WaitCause
  /** The route that is waited for, where it is not the one whose request failed last. */
  readonly on?: Route
}

/** What ended the wait before a move: the planned time, or what brought the attempt forward. */
export type MoveCause = WaitCause | 'due'

/** What a policy key of ours says. */
export type OurPolicy =
  | { readonly kind: 'wait' } & WaitPolicy
  | { readonly kind: 'backoff'; readonly cause: WaitCause }
  | { readonly kind: 'move'; readonly pool: string; readonly provider: string; readonly model: string; readonly afterWait?: MoveCause }

/**
 * The policy key of a wait. What is usual is left out, so that the usual key is the shortest.
 *
 * @param wait - the wait.
 */
export function waitKey({ intervalMs, cause, on }: WaitPolicy): string {
  const parts = [POLICY, 'wait', intervalMs]
  if (on !== undefined) return JSON.stringify([...parts, cause, on.provider, on.model])
  return JSON.stringify(cause === 'interval' ? parts : [...parts, cause])
}

/**
 * The policy key of one more try after a failure that passes. No setting stands in it: an edit in the middle of an outage
 * opens no new budget.
 *
 * @param cause - why the try is planned for its time.
 */
export const backoffKey = (cause: WaitCause): string =>
  JSON.stringify(cause === 'backoff' ? [POLICY, 'transient'] : [POLICY, 'transient', cause])

/**
 * The policy key of a move.
 *
 * @param pool - the pool that supplied the target.
 * @param provider - provider of the target.
 * @param model - model of the target.
 * @param afterWait - what ended the wait before it; none for a move that answers a refusal at once.
 */
export function moveKey(pool: string, provider: string, model: string, afterWait?: MoveCause): string {
  return JSON.stringify([POLICY, 'move', pool, provider, model, ...afterWait === undefined ? [] : [afterWait]])
}

/** A cause that a later version wrote is as good as none. */
const causeOf = (value: unknown, otherwise: WaitCause): WaitCause =>
  typeof value === 'string' && CAUSES.has(value) ? value as WaitCause : otherwise

const isName = (value: unknown): value is string => typeof value === 'string' && value.length > 0

/**
 * Read a policy key. Total: the key of another policy, and one of ours that makes no sense, are both `undefined`.
 *
 * @param key - the `policyKey` of an `llm/retry` record.
 */
export function readPolicyKey(key: unknown): OurPolicy | undefined {
  // Parsing is kept for keys that can be ours: other policies write theirs on every retry.
  if (typeof key !== 'string' || !key.startsWith(`["${POLICY}",`)) return undefined
  let parts: unknown
  try {
    parts = JSON.parse(key)
  } catch {
    return undefined
  }
  if (!Array.isArray(parts)) return undefined
  const [, kind, first, second, third, fourth] = parts as unknown[]
  if (kind === 'wait' && typeof first === 'number' && Number.isFinite(first) && first >= 0) {
    const cause = causeOf(second, 'interval')
    const on = typeof third === 'string' && typeof fourth === 'string' ? { on: { provider: third, model: fourth } } : {}
    return { kind: 'wait', intervalMs: first, cause, ...on }
  }
  if (kind === 'transient') return { kind: 'backoff', cause: causeOf(first, 'backoff') }
  if (kind === 'move' && isName(first) && isName(second) && isName(third)) {
    const afterWait = fourth === 'due' || (typeof fourth === 'string' && CAUSES.has(fourth)) ? { afterWait: fourth as MoveCause } : {}
    return { kind: 'move', pool: first, provider: second, model: third, ...afterWait }
  }
  return undefined
}
