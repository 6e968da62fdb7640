/**
 * Our moves and waits in the transcript. They stand in the log as retries of the harness, which draws its own row for
 * each; what that row does not say is folded here: one line for each move, and one for a whole wait. Pure.
 */
import { type OurPolicy, readPolicyKey } from '../../src/events/policy-key.ts'
import { instantIn } from '../time.ts'

/** An event of the log as the page hands it over. */
export interface LogEvent {
  readonly type: string
  readonly seq: number
  readonly time: number
  readonly data?: unknown
}

/** How far the turn of a line has come: it goes on, it was cancelled, or it ended in another way. */
export type TurnOutcome = 'open' | 'cancelled' | 'done'

/** What a line says: a key of the texts and its values. */
export interface LineText {
  readonly key: string
  readonly values?: Readonly<Record<string, string | number>>
  /** Epoch ms of the next check. */
  readonly next?: number
  /** Epoch ms that the text ends with, where it is known. */
  readonly until?: number | null
  /** How long the wait took, in ms. */
  readonly took?: number
  /** A key whose text follows: why the last attempt came before its time. */
  readonly why?: string
}

/** A retry as the log has it. */
export interface Retry {
  readonly retryId?: unknown
  readonly retry?: unknown
  readonly policyKey?: unknown
  readonly provider?: unknown
  readonly turn?: unknown
  readonly step?: unknown
  readonly delayMs?: unknown
  readonly failure?: { readonly message?: unknown; readonly providerRetryAfterMs?: unknown } | null
}

/** The data of a retry, whatever it holds. */
export const retryOf = (event: LogEvent): Retry => typeof event.data === 'object' && event.data !== null ? event.data : {}

/** Whose retry an event plans; `undefined` where it plans none of ours. */
export const policyOf = (event: LogEvent): OurPolicy | undefined =>
  event.type === 'llm/retry' ? readPolicyKey(retryOf(event).policyKey) : undefined

/** What the provider said, whole. */
export const saidIn = ({ failure }: Retry): string => typeof failure?.message === 'string' ? failure.message : ''

/** A provider that names a later time than that, in ms, names none. */
const FARTHEST_MS = 400 * 24 * 3_600_000

/** When the provider said that its allowance comes back, where it left no doubt: epoch ms, or `null`. */
export function untilOf({ failure }: Retry, at: number): number | null {
  const after = failure?.providerRetryAfterMs
  if (typeof after === 'number' && after > 0 && after < FARTHEST_MS) return at + after
  const found = instantIn(saidIn({ failure: failure ?? null }))
  return found > at ? found : null
}

/** A route as people read it; the provider alone where the log does not name the model. */
export const nameOf = ({ model, provider }: { readonly provider: string; readonly model: string | null }): string =>
  model === null || model === '' ? provider : `${provider}/${model}`
