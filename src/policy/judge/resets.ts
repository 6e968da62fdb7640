import { cutMessage } from './rules/facts.ts'
import { findTimes, type FoundTime } from './resets/find.ts'

/** What a message says about when the provider answers again. */
export interface ParsedReset {
  /** Epoch ms, unclamped; only when the message or the header leaves no doubt about the instant. */
  readonly resetsAt?: number
  /** The provider's own words, as written. Present also for times that cannot be resolved. */
  readonly hint?: string
}

/** What relative times count from, and what the provider's header said. */
export interface ResetContext {
  /** Epoch ms. */
  readonly now: number
  /** The provider's Retry-After, ms; zero, negative and absurd values are ignored. */
  readonly providerRetryAfterMs?: unknown
}

/** A sentence about a reset whose time is not given or is a rolling one: shown, never scheduled on. */
const VAGUE = [
  /\bwait (?:for|until) [^.;·\n]{0,60}(?:reset|renew|refresh|starts|begins)(?:[^.;·\n]|\.(?=\S)){0,60}/giu,
  /\b(?:your |the |its? )?(?:\w{1,20} )?(?:quota|limits?|usage|credits?|allowance|it) (?:will |to )?(?:be )?(?:reset|refresh|renew|replenish)(?:s|ed|es)?\b(?:[^.;·\n]|\.(?=\S)){0,80}/giu,
  /(?:您的|你的)?.{0,8}将(?:在|于|會)?[^。;；\n]{1,40}(?:重置|恢复|刷新)/gu,
  /\b(?:será|se) (?:redefinid|restablec|reinici)\w{0,4}[^.;\n]{0,60}/giu,
]

const vagueHint = (text: string): string | undefined => {
  for (const pattern of VAGUE) {
    const last = [...text.matchAll(pattern)].at(-1)
    if (last !== undefined) return last[0].trim()
  }
  return undefined
}

/** No date of JavaScript lies beyond, epoch ms. */
const LAST_MS = 8.64e15

/** The last statement wins: a log may repeat an older refusal before the newest one. */
const lastOf = (found: readonly FoundTime[]): FoundTime | undefined =>
  found.reduce<FoundTime | undefined>((best, time) => (best === undefined || time.index >= best.index ? time : best), undefined)

/**
 * Reads the reset time of one failure. Total; never guesses: a time without a zone, a bare date and a rolling
 * window come back as a hint only.
 * @param message the failure's text; anything but a string reads as empty
 */
export const parseReset = (message: unknown, { now, providerRetryAfterMs }: ResetContext): ParsedReset => {
  const text = cutMessage(message)
  const found = lastOf(findTimes(text, now))
  const afterHeader = typeof providerRetryAfterMs === 'number' && Number.isFinite(providerRetryAfterMs) && providerRetryAfterMs > 0
    ? now + providerRetryAfterMs
    : undefined
  const resetsAt = afterHeader ?? found?.at
  const hint = found?.hint ?? vagueHint(text)
  return {
    ...(resetsAt !== undefined && Math.abs(resetsAt) <= LAST_MS ? { resetsAt } : {}),
    ...(hint !== undefined && hint !== '' ? { hint } : {}),
  }
}
