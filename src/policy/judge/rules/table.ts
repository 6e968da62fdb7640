import { NUMBERED_RULES } from './numbered.ts'
import { AFFORD, SPENT_CODES, SPENT_WORDS } from './spent.ts'
import type { Rule } from './types.ts'
import {
  AUTH, BALANCE, BURST, CAPACITY, CARD, CONTEXT, EXCEEDED, FOREIGN_HISTORY, LONG_WINDOW, NOT_FOUND, RATE, SERVER, STORAGE, TIMEOUT,
  USAGE_LIMIT,
} from './words.ts'

/** Failures of this machine or of this very request: no other account would do better. */
const LOCAL: readonly Rule[] = [
  { id: 'storage-quota', kind: 'other', confidence: 'certain', why: 'the quota is one of disk or file storage, not of model use', text: STORAGE },
  {
    id: 'storage-quota-code', kind: 'other', confidence: 'certain',
    why: 'the quota is one of disk or file storage, not of model use',
    code: /^(?:edquot|enospc|quotaexceedederror|storage_?quota\w{0,20}|\S{0,40}filequotaexceeded)$/,
  },
  { id: 'card-declined', kind: 'other', confidence: 'certain', why: 'a payment was declined; that says nothing about the allowance', text: CARD },
  { id: 'timeout', kind: 'server', confidence: 'certain', why: 'the request timed out', host: /^TIMEOUT$/ },
  { id: 'timeout-words', kind: 'server', confidence: 'certain', why: 'the request timed out', text: TIMEOUT },
  // openrouter.ai: a prompt checked against the remaining credit, worded like a context limit.
  {
    id: 'prompt-over-credit', kind: 'spent-allowance', confidence: 'certain',
    why: 'the remaining credit does not cover this prompt; a smaller request may pass',
    text: /prompt tokens limit exceeded: \d+ > \d+/,
  },
  {
    id: 'context-code', kind: 'context', confidence: 'certain',
    why: 'the request is longer than the model takes',
    code: /^(?:context[_ ]?length[_ ]?exceeded|context_window\w*|request_too_large|tokens_too_long|characters_too_long|string_above_max_length)$/,
  },
  {
    id: 'context-words', kind: 'context', confidence: 'certain',
    why: 'the request is longer than the model or the per-request limit takes',
    text: CONTEXT,
  },
  {
    id: 'foreign-history', kind: 'other', confidence: 'likely',
    why: 'the conversation holds what this model does not take from another',
    text: FOREIGN_HISTORY,
  },
  {
    id: 'fair-use', kind: 'other', confidence: 'likely',
    why: 'the way of use is refused by a fair-use rule',
    text: /公平使用|fair[ -]use policy|fair usage policy/, without: USAGE_LIMIT,
  },
  {
    id: 'trial-abuse', kind: 'other', confidence: 'likely',
    why: 'the account is refused as one of too many trials',
    text: /too many free (?:trial )?accounts|free trial accounts used/,
  },
  {
    id: 'membership-unverified', kind: 'auth', confidence: 'certain',
    why: 'the membership could not be verified',
    text: /(?:unable|failed) to verify.{0,30}(?:membership|subscription)|verify your membership/,
  },
]

/** The harness has already read a spent quota from a structured answer. */
const HOST: readonly Rule[] = [
  {
    id: 'host-quota-minute', kind: 'spent-allowance', confidence: 'likely', throttle: true,
    why: 'the harness reports a quota, the text a short throttle',
    host: /QUOTA$/, window: 'minute',
  },
  {
    id: 'host-quota-burst', kind: 'spent-allowance', confidence: 'likely', throttle: true,
    why: 'the harness reports a quota, the text too much at once',
    host: /QUOTA$/, text: BURST, without: BALANCE,
  },
  {
    id: 'host-quota-token-limit', kind: 'spent-allowance', confidence: 'likely', throttle: true,
    why: 'the harness reports a quota, the provider means its tokens per minute',
    host: /QUOTA$/, text: /allocated quota exceeded/, without: /(?:free|hour|day|week|month) allocated quota/,
  },
  {
    id: 'host-quota-rate-code', kind: 'spent-allowance', confidence: 'likely', throttle: true,
    why: "the harness reports a quota, the provider's code too many requests or no room",
    host: /QUOTA$/, code: /^(?:rate_limit_(?:exceeded|error)|overloaded(?:_error)?|engine_overloaded\w*)$/, without: LONG_WINDOW,
  },
  { id: 'host-quota', kind: 'spent-allowance', confidence: 'certain', why: 'the harness reports a spent quota', host: /QUOTA$/ },
]

/** No room for anybody, or too much at once: other words in the same text do not count. */
const CAPACITY_AND_BURST: readonly Rule[] = [
  {
    id: 'capacity-code', kind: 'server', confidence: 'certain',
    why: 'the provider has no capacity left',
    code: /^(?:overloaded(?:_error)?|model_capacity_exhausted|serveroverloaded|queue_exceeded|insufficient_capacity|service_unavailable\w*|engine_overloaded\w*)$/,
  },
  // A daily quota named by id next to "please retry in 47 s": the id tells how long it lasts.
  {
    id: 'daily-quota-id', kind: 'spent-allowance', confidence: 'certain',
    why: 'the quota that refused is one of a day or longer',
    text: /per_?(?:day|week|month)|per day per (?:project|user)|free-models-per-day|userbymodelbyday/, with: EXCEEDED,
  },
  {
    id: 'no-free-tier', kind: 'spent-allowance', confidence: 'likely',
    why: 'the free tier holds nothing for this model',
    text: /quota exceeded for metric.{0,120}limit: 0\b/,
  },
  { id: 'minute-window', kind: 'rate-limit', confidence: 'certain', why: 'the limit is one of seconds or a minute', window: 'minute' },
  {
    id: 'capacity-words', kind: 'server', confidence: 'certain',
    why: 'the provider is overloaded or busy',
    text: CAPACITY, without: /exhausted your capacity/,
  },
  // help.aliyun.com, "#token-limit": the compatible mode words a per-minute throttle like a spent quota.
  {
    id: 'dashscope-token-limit', kind: 'rate-limit', confidence: 'certain',
    why: 'the link names a throttle of tokens per minute',
    raw: /aliyun\.com\S{0,120}#(?:token-limit|rate-limit)|alibabacloud\.com\S{0,120}#(?:token-limit|rate-limit)/,
  },
  {
    id: 'burst-words', kind: 'rate-limit', confidence: 'certain',
    why: 'too much at once: bursts, frequency or concurrency',
    text: BURST, without: BALANCE,
  },
]

/** What is left once allowances are ruled out. */
const REST: readonly Rule[] = [
  { id: 'not-found', kind: 'other', confidence: 'likely', why: 'the model or address does not exist', text: NOT_FOUND, status: [404] },
  { id: 'not-found-code', kind: 'other', confidence: 'likely', why: 'the model does not exist', code: /^model_not_found$/ },
  {
    id: 'rate-limit-of-zero', kind: 'auth', confidence: 'likely',
    why: 'the endpoint is switched off for this caller',
    text: /rate limit of 0(?!\.?\d)/,
  },
  { id: 'auth-words', kind: 'auth', confidence: 'certain', why: 'the key, the account or its permission is refused', text: AUTH, without: RATE },
  {
    id: 'auth-code', kind: 'auth', confidence: 'likely',
    why: "the provider's code refuses the key or the permission",
    code: /^(?:invalid_?api_?key|authentication_?error|permission_?(?:error|denied)|access_?denied\w*|access_terminated_error|modelnotopen|unauthorized\w*|appidnoautherror|\w*noautherror)$/,
  },
  { id: 'rate-words', kind: 'rate-limit', confidence: 'likely', why: 'too many requests', text: RATE },
  { id: 'status-402', kind: 'spent-allowance', confidence: 'likely', why: 'payment required', status: [402] },
  {
    id: 'resource-exhausted', kind: 'rate-limit', confidence: 'weak',
    why: 'the provider says only that a resource is exhausted',
    text: /resource[ _]?(?:has been )?exhausted/,
  },
  { id: 'status-429', kind: 'rate-limit', confidence: 'weak', why: 'the status says too many requests, the text nothing more', status: [429] },
  {
    id: 'host-rate-limit', kind: 'rate-limit', confidence: 'weak',
    why: 'the harness reports a rate limit, the text nothing more',
    host: /^RATE_LIMIT$/,
  },
  {
    id: 'request-limit-code', kind: 'rate-limit', confidence: 'likely',
    why: "the provider's code says too many requests",
    code: /limit_?exceeded|rate_?limit|throttl|too_?many/,
  },
  {
    id: 'server-words', kind: 'server', confidence: 'likely',
    why: 'the service or the connection failed',
    text: SERVER, without: /invalid[ _]request/,
  },
  { id: 'status-413', kind: 'context', confidence: 'likely', why: 'the request is too large', status: [413] },
  { id: 'status-401', kind: 'auth', confidence: 'weak', why: 'the status refuses the key or the permission', status: [401, 403, 407] },
  { id: 'host-auth', kind: 'auth', confidence: 'weak', why: 'the harness reports refused access, the text nothing more', host: /^AUTH$/ },
  { id: 'host-context', kind: 'context', confidence: 'weak', why: 'the harness reports a context overflow', host: /^CONTEXT/ },
  {
    id: 'status-5xx', kind: 'server', confidence: 'weak',
    why: 'the status says the service failed',
    status: [408, 500, 501, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530],
  },
  { id: 'host-server', kind: 'server', confidence: 'weak', why: 'the harness reports a failing service', host: /^SERVER$/ },
]

/** The whole table, in the order it is read. */
export const RULES: readonly Rule[] = [...LOCAL, ...AFFORD, ...HOST, ...NUMBERED_RULES, ...CAPACITY_AND_BURST, ...SPENT_CODES, ...SPENT_WORDS, ...REST]

/** When nothing fits. */
export const NO_RULE: Rule = { id: 'none', kind: 'other', confidence: 'weak', why: 'the failure says nothing about an allowance' }
