import { NUMBERED_RULES } from './numbered.ts'
import { AFFORD, PAY_WORDS, SOON_MS, SPENT_CODES, SPENT_WORDS } from './spent.ts'
import type { Rule } from './types.ts'
import {
  ACCESS, AUTH, BURST, CAPACITY, CARD, CONTENT, CONTEXT, EMPTY_ANSWER, EXCEEDED, FOREIGN_HISTORY, LONG_WINDOW, NOT_FOUND, RATE, RESETS, SERVER, SETTLING,
  STORAGE, TIMEOUT, TRANSPORT,
} from './words.ts'

/** Failures of this machine or of this very request: no other account would do better. */
const LOCAL: readonly Rule[] = [
  { id: 'storage-quota', kind: 'other', confidence: 'certain', why: 'the quota is one of disk or file storage, not of model use', text: STORAGE },
  {
    id: 'storage-quota-code', kind: 'other', confidence: 'certain',
    why: 'the quota is one of disk or file storage, not of model use',
    code: /^(?:edquot|enospc|quotaexceedederror|storage_?quota\w{0,20}|\S{0,40}filequotaexceeded)$/,
  },
  {
    id: 'local-failure', kind: 'other', confidence: 'likely', why: 'a tool or a program on this machine failed, not a request',
    text: /^.{0,60}\b(?:tool (?:call|execution|use)|assertion|build|compilation|type ?check|unit test|lint|hook|script) (?:failed|error)\b/,
  },
  { id: 'card-declined', kind: 'other', confidence: 'certain', why: 'a payment was declined; that says nothing about the allowance', text: CARD },
  { id: 'timeout', kind: 'server', passes: 'timeout', confidence: 'certain', why: 'the request timed out', host: /^TIMEOUT$/ },
  { id: 'timeout-words', kind: 'server', passes: 'timeout', confidence: 'certain', why: 'the request timed out', text: TIMEOUT },
  {
    id: 'transport-code', kind: 'server', passes: 'transport', confidence: 'certain', why: 'the connection failed',
    host: /^(?:TRANSPORT|STREAM_\w{1,20}|NETWORK\w{0,10}|CONNECTION\w{0,10})$/,
  },
  {
    id: 'empty-answer-code', kind: 'server', passes: 'empty-answer', confidence: 'certain', why: 'the provider answered with nothing',
    code: /^(?:empty_?(?:response|answer|completion|output)|no_?(?:content|choices|output))$/,
  },
  {
    id: 'content-code', kind: 'refused-content', confidence: 'certain', why: 'the content is refused by a policy of the provider',
    code: /^(?:content_?(?:filter|policy)\w{0,24}|data_?inspection_?failed|\w{0,40}datainspectionfailed|internalerror\.algo\.datainspectionfailed|responsibleaipolicyviolation|sensitivecontent\w{0,20}|illegal_prompt|moderation_\w{1,20}|safety_\w{1,20}|prohibited_content|cyber_policy)$/,
  },
  {
    id: 'content-words', kind: 'refused-content', confidence: 'likely', why: 'the content is refused by a policy of the provider',
    text: CONTENT, notGone: ['money', 'plan', 'usage', 'quota', 'limit'], without: /access (?:has been |was )?terminated|account.{0,24}(?:terminated|suspended|banned|disabled)/,
  },
  {
    id: 'file-too-large', kind: 'other', confidence: 'likely', why: 'a file is too large to be read',
    text: /\bfile (?:content|size|contents)\b.{0,40}(?:exceeds|too large)/,
  },
  // A 402 that holds credit for what is under way; the harness may call it a quota.
  {
    id: 'host-quota-settling', kind: 'spent-allowance', confidence: 'likely', throttle: true,
    why: 'the harness reports a quota, the text a charge that is under way', host: /QUOTA$/, text: SETTLING,
  },
  { id: 'settling', kind: 'rate-limit', confidence: 'likely', why: 'a charge or a request under way holds the credit', text: SETTLING, status: [402] },
  // openrouter.ai: a prompt checked against the remaining credit, worded like a context limit.
  {
    id: 'prompt-over-credit', kind: 'spent-allowance', confidence: 'certain',
    why: 'the remaining credit does not cover this prompt; a smaller request may pass',
    text: /prompt tokens limit exceeded: \d{1,12} > \d{1,12}/,
  },
  {
    id: 'context-code', kind: 'context', confidence: 'certain',
    why: 'the request is longer than the model takes',
    code: /^(?:context[_ ]?length[_ ]?exceeded|context_window\w{0,20}|request_too_large|tokens_too_long|characters_too_long|string_above_max_length)$/,
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
    text: /公平使用|fair[ -]use policy|fair usage policy/, notGone: ['usage', 'limit'],
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

/** help.aliyun.com: the compatible mode words a throttle of tokens per minute like a spent quota, and links to its page. */
const TOKEN_LIMIT_PAGE = /(?:aliyun|alibabacloud)\.com\S{0,120}#(?:token-limit|rate-limit)/

/** help.aliyun.com: with a window or "free" in front, the allocated quota is no throttle. */
const LONG_OR_FREE = new RegExp(`${LONG_WINDOW.source}|free allocated`, 'u')

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
    host: /QUOTA$/, text: BURST, notGone: ['money'],
  },
  {
    id: 'host-quota-throttle', kind: 'spent-allowance', confidence: 'likely', throttle: true,
    why: 'the harness reports a quota, the code or the page named a throttle',
    host: /QUOTA$/, anyCode: /^throttling(?:\.|$)/, orRaw: TOKEN_LIMIT_PAGE, without: LONG_OR_FREE,
  },
  {
    id: 'host-quota-token-limit', kind: 'spent-allowance', confidence: 'likely', throttle: true,
    why: 'the harness reports a quota, the provider means its tokens per minute',
    host: /QUOTA$/, text: /allocated quota exceeded/, without: /(?:free|hour|day|week|month) allocated quota/,
  },
  {
    id: 'host-quota-rate-code', kind: 'spent-allowance', confidence: 'likely', throttle: true,
    why: "the harness reports a quota, the provider's code too many requests or no room",
    host: /QUOTA$/, code: /^(?:rate_limit_(?:exceeded|error)|overloaded(?:_error)?|engine_overloaded\w{0,20})$/, without: LONG_WINDOW,
  },
  { id: 'host-quota', kind: 'spent-allowance', confidence: 'certain', why: 'the harness reports a spent quota', host: /QUOTA$/ },
]

/** No room for anybody, or too much at once: other words in the same text do not count. */
const CAPACITY_AND_BURST: readonly Rule[] = [
  {
    id: 'capacity-code', kind: 'server', confidence: 'certain',
    why: 'the provider has no capacity left',
    code: /^(?:overloaded(?:_error)?|model_capacity_exhausted|serveroverloaded|queue_exceeded|insufficient_capacity|service_unavailable\w{0,20}|engine_overloaded\w{0,20})$/,
  },
  { id: 'throttle-code', kind: 'rate-limit', confidence: 'certain', why: "the provider's code says throttling", code: /^throttling\.\w{1,40}$/, without: LONG_OR_FREE },
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
  // ai.google.dev/gemini-api/docs/rate-limits: the free tier has fewer than twenty a minute, and from twenty on a day.
  {
    id: 'google-free-daily', kind: 'spent-allowance', confidence: 'likely',
    why: 'the free requests of a day are used up',
    text: /free_tier_requests, limit: (?:[2-9]\d|\d{3,7})\b/,
  },
  { id: 'minute-window', kind: 'rate-limit', confidence: 'certain', why: 'the limit is one of seconds or a minute', window: 'minute' },
  {
    id: 'capacity-words', kind: 'server', confidence: 'certain',
    why: 'the provider is overloaded or busy',
    text: CAPACITY, without: /exhausted your capacity|due to (?:\w{1,20} )?rate[ -]?limit/,
  },
  {
    id: 'dashscope-token-limit', kind: 'rate-limit', confidence: 'certain',
    why: 'the link names a throttle of tokens per minute',
    raw: TOKEN_LIMIT_PAGE,
  },
  {
    id: 'burst-words', kind: 'rate-limit', confidence: 'certain',
    why: 'too much at once: bursts, frequency or concurrency',
    text: BURST, notGone: ['money'],
  },
]

/** What is left once allowances are ruled out. */
const ACCESS_AND_PAY: readonly Rule[] = [
  { id: 'access-words', kind: 'auth', confidence: 'likely', why: 'the model is not open to this account, plan or place', text: ACCESS, without: RATE },
  ...PAY_WORDS,
]

/** The words and the status alone. */
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
    code: /^(?:invalid_?api_?key|authentication_?error|permission_?(?:error|denied)|access_?denied\w{0,20}|access_terminated_error|modelnotopen|unauthorized\w{0,20}|appidnoautherror|\w{0,40}noautherror)$/,
  },
  { id: 'limit-resets', kind: 'spent-allowance', confidence: 'weak', why: 'the text says when an allowance is back', text: RESETS, without: RATE },
  { id: 'empty-answer', kind: 'server', passes: 'empty-answer', confidence: 'likely', why: 'the provider answered with nothing', text: EMPTY_ANSWER },
  { id: 'rate-words', kind: 'rate-limit', confidence: 'likely', why: 'too many requests', text: RATE },
  { id: 'status-402-soon', kind: 'rate-limit', confidence: 'weak', why: 'payment required, and the provider says to come back within minutes', status: [402], waitAtMostMs: SOON_MS },
  { id: 'status-402', kind: 'spent-allowance', confidence: 'weak', why: 'payment required', status: [402] },
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
    code: /limit_?exceeded|rate_?limit|throttl|too_?many|cool_?down/,
  },
  {
    id: 'transport-words', kind: 'server', passes: 'transport', confidence: 'likely',
    why: 'the connection failed',
    text: TRANSPORT, without: /invalid[ _]request/,
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
export const RULES: readonly Rule[] = [...LOCAL, ...AFFORD, ...HOST, ...NUMBERED_RULES, ...CAPACITY_AND_BURST, ...SPENT_CODES, ...SPENT_WORDS, ...ACCESS_AND_PAY, ...REST]

/** When nothing fits. */
export const NO_RULE: Rule = { id: 'none', kind: 'other', confidence: 'weak', why: 'the failure says nothing about an allowance' }
