import type { Rule } from './types.ts'
import { COUNTED, EXCEEDED, LONG_WINDOW, LONG_WINDOW_GONE, NOT_GONE, PAY, PAY_TO_GO_ON, RATE, SUSPENDED_FOR_MONEY } from './words.ts'

/** A provider that says to come back this late, ms, speaks of an allowance: a throttle is over in minutes. */
const LATE_MS = 20 * 60_000
/** And one that says to come back this soon of a throttle, unless it names a longer window. */
export const SOON_MS = 120_000

const anyOf = (...codes: string[]): RegExp => new RegExp(codes.join('|'), 'u')

/** Codes that name a spent allowance whatever the sentence beside them says. */
export const SPENT_CODES: readonly Rule[] = [
  {
    id: 'spent-code-balance', kind: 'spent-allowance', confidence: 'certain',
    why: "the provider's code says the balance or credit is used up",
    code: anyOf(
      'insufficient_?(?:user_?)?(?:quota|balance|credits?|funds)', 'not_?enough_?(?:balance|credits?)', 'arrear', 'overdue',
      'creditserror', 'credits?_(?:exhausted|depleted|limit)', 'credits_depleted', 'out_of_credits', 'pre_consume_token_quota',
      'payment_required', 'billing_(?:hard_limit|not_active)', 'budget_exceeded', 'spend(?:ing)?_?limit',
    ),
  },
  {
    id: 'spent-code-window', kind: 'spent-allowance', confidence: 'certain',
    why: "the provider's code says the usage limit of a plan is reached",
    code: anyOf(
      'exceeded_current_quota', 'usage_?limit_?(?:reached|exceeded|error)', 'freeusagelimit', 'gousagelimit',
      '(?:monthly|weekly|daily)_?(?:spend_?)?(?:limit|request|quota|free)', 'quota_(?:user_)?(?:daily|monthly)',
      'accountquotaexceeded', 'setlimitexceeded', String.raw`resourcepack\w{0,30}exhausted`, 'freetieronly', 'usage_not_included',
      'plan_?limit', 'token_quota_exceeded', 'quota_exhausted',
    ),
  },
]

/** How far the credit still goes, which no code says. Before all others: the remedy may be a smaller output. */
export const AFFORD: readonly Rule[] = [
  {
    id: 'cannot-afford-any', kind: 'spent-allowance', confidence: 'certain',
    why: 'the remaining credit covers no output at all',
    text: /can (?:only afford|afford only) 0(?!\d|[,.]\d)/,
  },
  {
    id: 'can-afford-less', kind: 'spent-allowance', confidence: 'certain',
    why: 'the remaining credit covers only {1} output tokens; a smaller output may pass',
    text: /can (?:only afford|afford only) (\d{1,3}(?:[,.]\d{3}){1,3}|\d{1,12})/,
  },
]

/** The provider's sentences. */
export const SPENT_WORDS: readonly Rule[] = [
  {
    id: 'pre-charge', kind: 'spent-allowance', confidence: 'certain',
    why: 'the remaining quota does not cover the amount held in advance; a smaller request may pass',
    text: /预扣费额度失败|preconsumedquota|need quota/,
  },
  // help.aliyun.com: without a window in front, "allocated quota" is the one of tokens per minute.
  {
    id: 'dashscope-allocated-quota', kind: 'rate-limit', confidence: 'likely',
    why: 'the allocated quota is one of tokens per minute',
    text: /allocated quota exceeded/, without: /(?:free|hour|day|week|month) allocated quota/,
  },
  // ai.google.dev: the short form without a quota id comes from shared capacity, not from a plan.
  {
    id: 'google-check-quota', kind: 'rate-limit', confidence: 'likely',
    why: 'the provider says only that a resource is exhausted',
    text: /resource has been exhausted \(e\.g\. check quota\)/,
  },
  // cloudcode-pa.googleapis.com: the same sentence serves a quota of hours and a throttle of seconds.
  {
    id: 'resets-in-seconds', kind: 'rate-limit', confidence: 'likely',
    why: 'the quota is back within a minute',
    text: /quota will reset after \d{1,2}(?:\.\d{1,9})?s\b/,
  },
  { id: 'balance-words', kind: 'spent-allowance', confidence: 'certain', why: 'the balance or credit is used up or overdue', gone: ['money'] },
  {
    id: 'suspended-for-money', kind: 'spent-allowance', confidence: 'certain',
    why: 'the account is suspended over a spending limit or an unpaid bill',
    text: SUSPENDED_FOR_MONEY,
  },
  { id: 'plan-expired', kind: 'spent-allowance', confidence: 'certain', why: 'the plan, package or trial has ended', gone: ['plan'] },
  {
    id: 'usage-limit-words', kind: 'spent-allowance', confidence: 'certain',
    why: 'the usage limit of a plan or a longer window is reached',
    gone: ['usage'],
  },
  {
    id: 'long-window', kind: 'spent-allowance', confidence: 'likely',
    why: 'the limit is one of hours, a day or longer',
    window: 'long', text: LONG_WINDOW_GONE, with: COUNTED, without: NOT_GONE,
  },
  {
    id: 'long-retry', kind: 'spent-allowance', confidence: 'likely',
    why: 'the provider itself says to come back much later',
    waitAtLeastMs: LATE_MS, text: EXCEEDED,
  },
  {
    id: 'long-retry-rate', kind: 'spent-allowance', confidence: 'likely',
    why: 'the provider itself says to come back much later',
    waitAtLeastMs: LATE_MS, text: RATE,
  },
  {
    id: 'long-retry-status', kind: 'spent-allowance', confidence: 'likely',
    why: 'too many requests, and the provider itself says to come back much later',
    waitAtLeastMs: LATE_MS, status: [429],
  },
  {
    id: 'long-retry-host', kind: 'spent-allowance', confidence: 'likely',
    why: 'a rate limit, and the provider itself says to come back much later',
    waitAtLeastMs: LATE_MS, host: /^RATE_LIMIT$/,
  },
  {
    id: 'quota-back-soon', kind: 'rate-limit', confidence: 'likely', why: 'a quota is used up that the provider says is back within minutes',
    gone: ['quota'], without: LONG_WINDOW, waitAtMostMs: SOON_MS,
  },
  // cloud.google.com/vertex-ai/docs/quotas: these metrics are per minute even where their name does not say so.
  {
    id: 'vertex-quota', kind: 'rate-limit', confidence: 'likely',
    why: 'the quota is one of requests or tokens per minute',
    text: /aiplatform\.googleapis\.com|online prediction (?:request )?quota/, gone: ['quota'],
  },
  { id: 'quota-words', kind: 'spent-allowance', confidence: 'likely', why: 'a quota is used up and no shorter window is named', gone: ['quota'] },
  {
    id: 'limit-words', kind: 'spent-allowance', confidence: 'likely', why: 'a limit is reached that is none of speed or size',
    gone: ['limit'], notCode: /rate_?limit|throttl|too_?many/,
  },
  { id: 'counted-words', kind: 'spent-allowance', confidence: 'likely', why: 'none of what the plan counts is left', gone: ['counted'] },
]

/** The remedy named is money: less sure than what says that something is gone, and than what says who may not have it. */
export const PAY_WORDS: readonly Rule[] = [
  {
    id: 'pay-to-continue', kind: 'spent-allowance', confidence: 'likely',
    why: 'the remedy named is to pay or to take a bigger plan',
    text: PAY, without: RATE, status: [400, 402, 403, 412, 429],
  },
  {
    id: 'pay-after-limit', kind: 'spent-allowance', confidence: 'likely',
    why: 'a limit is reached and the remedy named is to pay',
    text: PAY, with: EXCEEDED, without: RATE,
  },
  {
    id: 'pay-to-go-on', kind: 'spent-allowance', confidence: 'likely',
    why: 'the remedy named is to add money so as to go on',
    text: PAY_TO_GO_ON, without: RATE,
  },
]
