import { isRecord } from './json.ts'

/**
 * What a failed model request said, in the shape that the log holds.
 *
 * The harness promises a code, a message and maybe a status; adapters, older logs and other plugins keep that promise
 * only mostly. `readFailure` makes any value into a failure that is safe to write back into the log, where the
 * `llm/retry` rules demand non-empty texts and a real HTTP status.
 */
export interface Failure {
  readonly code: string
  readonly message: string
  /** HTTP status, 100 to 599. */
  readonly status?: number
  /** How long the provider asked us to wait, in ms, always positive. */
  readonly providerRetryAfterMs?: number
  readonly requestId?: string
}

const text = (value: unknown, fallback: string): string =>
  typeof value === 'string' && value.length > 0 ? value : fallback

const isStatus = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599

const isDelay = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0

/**
 * Read a failure out of anything. Total: a value that is no failure becomes one that says so.
 *
 * @param value - a failure as the harness, an older log or another plugin has it.
 * @returns a failure whose fields obey the rules of `llm/retry` (absent rather than absurd).
 */
export function readFailure(value: unknown): Failure {
  const raw = isRecord(value) ? value : {}
  return {
    code: text(raw['code'], 'UNKNOWN'),
    message: text(raw['message'], 'the provider gave no message'),
    ...isStatus(raw['status']) ? { status: raw['status'] } : {},
    ...isDelay(raw['providerRetryAfterMs']) ? { providerRetryAfterMs: raw['providerRetryAfterMs'] } : {},
    ...typeof raw['requestId'] === 'string' && raw['requestId'].length > 0 ? { requestId: raw['requestId'] } : {},
  }
}

/** Longest failure text kept outside the log, in UTF-16 units. The log itself keeps the whole text. */
export const MAX_FAILURE_TEXT = 2_000

/**
 * Foreign text cut to a length, with a sign that something is missing and without half a character at its end.
 *
 * @param value - any text.
 * @param limit - longest result, in UTF-16 units.
 */
export function cutText(value: string, limit: number): string {
  if (value.length <= limit) return value
  const cut = value.slice(0, limit - 1)
  const last = cut.charCodeAt(cut.length - 1)
  return `${last >= 0xD800 && last <= 0xDBFF ? cut.slice(0, -1) : cut}…`
}

/**
 * The same failure with a bounded text, for state and journal.
 *
 * @param failure - the failure as the log has it.
 * @returns the failure, its message cut at {@link MAX_FAILURE_TEXT}.
 */
export const boundFailure = (failure: Failure): Failure =>
  failure.message.length <= MAX_FAILURE_TEXT ? failure : { ...failure, message: cutText(failure.message, MAX_FAILURE_TEXT) }
