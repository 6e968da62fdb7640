/**
 * Refusals as real services word them, ready to hand to a loopback provider.
 * The wording matters: the pi-ai adapter passes on only a code and the text, so
 * what a policy can know about the cause is in these strings.
 */
import type { Refuse } from './provider.ts'

function refuse(status: number, error: Record<string, unknown>, headers?: Record<string, string>): Refuse {
  return { kind: 'refuse', status, body: { error }, ...(headers === undefined ? {} : { headers }) }
}

/**
 * A subscription window that is used up until a stated time.
 * @param resetAt - when the window opens again; printed as ISO 8601 without milliseconds.
 */
export function usageLimitUntil(resetAt: Date): Refuse {
  const iso = resetAt.toISOString().replace(/\.\d{3}Z$/, 'Z')
  const message = `You've reached your usage limit for this 5-hour window. Resets at ${iso}`
  return refuse(403, { message, type: 'permission_error', code: 'permission_error' })
}

/**
 * An ordinary throttle that names its own pause, in a header only: the pi-ai
 * adapter does not pass that on.
 * @param retryAfter - value of the `retry-after` header (seconds, or an HTTP date).
 */
export function rateLimitedFor(retryAfter: string | number): Refuse {
  return refuse(
    429,
    { message: 'Rate limit reached for requests per min', type: 'requests', code: 'rate_limit_exceeded' },
    { 'retry-after': String(retryAfter), 'x-request-id': 'req-1' },
  )
}

/** Refusals that need no argument, by name. */
export const refusals = {
  /** A prepaid account with nothing left. */
  insufficientBalance: refuse(402, { message: 'Insufficient Balance', type: 'unknown_error', param: null, code: 'invalid_request_error' }),
  /** A used-up subscription window with a reset time far ahead; see also {@link usageLimitUntil}. */
  usageLimit: usageLimitUntil(new Date('2099-01-01T00:00:00Z')),
  /** A used-up token plan: the status of a throttle, the cause only in Chinese text. */
  tokenPlan: refuse(429, { message: '已达到 Token Plan 用量上限，请等待重置', type: 'rate_limit_error', code: '1308' }),
  /** A spent quota that shares its status with a throttle. */
  insufficientQuota: refuse(429, {
    message: 'You exceeded your current quota, please check your plan and billing details.',
    type: 'insufficient_quota',
    param: null,
    code: 'insufficient_quota',
  }),
  /** A wrong key. */
  unauthorized: refuse(401, { message: 'Authentication Fails (invalid api key)', type: 'authentication_error', code: 'invalid_request_error' }),
  /** An ordinary throttle without a stated pause; see also {@link rateLimitedFor}. */
  rateLimited: refuse(429, { message: 'Rate limit reached for requests per min. Please retry', type: 'requests', code: 'rate_limit_exceeded' }),
  /** A service that is down for the moment. */
  overloaded: refuse(503, { message: 'The service is temporarily unavailable', type: 'server_error' }),
  /** A fault of the service. */
  serverError: refuse(500, { message: 'internal server error', type: 'server_error' }),
} as const satisfies Record<string, Refuse>
