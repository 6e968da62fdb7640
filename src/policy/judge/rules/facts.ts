import { type Gone, readGone } from '../allowance/read.ts'
import { LONG_WINDOW, MINUTE } from './words.ts'

/** A failed request as the host hands it over. Every field may be missing, null or absurd. */
export interface FailureInput {
  /** The harness's own code ("QUOTA", "RATE_LIMIT") or the provider's ("1113", "insufficient_quota"). */
  readonly code?: unknown
  readonly message?: unknown
  /** HTTP status; often only a prefix of the message. */
  readonly status?: unknown
  /** Provider id or name as configured. */
  readonly provider?: unknown
  /** The provider's Retry-After, ms. */
  readonly providerRetryAfterMs?: unknown
}

/** What the rules look at. Strings are lower case. */
export interface Facts {
  /** The message without addresses, plus the words of every code ("account quota exceeded"). */
  readonly text: string
  /** The cut message with its addresses: an anchor such as `#token-limit` can be the only difference. */
  readonly raw: string
  /** Every code found: the failure's own and those inside the text. */
  readonly codes: readonly string[]
  /** The failure's own code as given, upper case only where the harness writes it so. */
  readonly hostCode: string
  readonly status: number | undefined
  readonly provider: string
  /** The window the refusal names first. */
  readonly window: 'minute' | 'long' | undefined
  /** What of an allowance is said to be gone, the surest first; read when it is first asked for. */
  readonly gone: readonly Gone[]
}

/** A longer message is read at both ends: the refusal comes first, the reset or the nested body last. */
const HEAD = 6_000
const TAIL = 2_000
const MAX_CODES = 32

/** The part of a message that is looked at, at most 8,001 characters. */
export const cutMessage = (message: unknown): string => {
  const text = typeof message === 'string' ? message : ''
  return text.length <= HEAD + TAIL ? text : `${text.slice(0, HEAD)}\n${text.slice(-TAIL)}`
}

const asCode = (code: unknown): string =>
  typeof code === 'string' ? code.trim().slice(0, 200) : typeof code === 'number' && Number.isFinite(code) ? String(code) : ''

/** One character may stand for eighteen, so the normal form is cut once more. */
const normalise = (text: string): string => cutMessage(text.normalize('NFKC')).toLowerCase().replace(/[’‘`´]/g, "'").replace(/(?<!\\)\\{1,16}(["'n])/g, '$1').replace(/\s+/g, ' ')

const withoutAddresses = (text: string): string => text.replace(/https?:\/\/[!-~]{1,300}/g, address => (/["'<>){}\]]/.exec(address) ? address.slice(address.search(/["'<>){}\]]/)) : ' '))

/** Names of the fields of a body: what stands in one is a statement of its own, and they are no words of it. */
const FIELD = /\\{0,8}["'](?:messages?|msg|error|errors|err|type|code|status|param|request|request_?id|details?|metadata|reason|title|description|statustext|event|data|object|id|name|value|text|content|response|body|success|domain|service|model|provider|url|docs?|help|info|cause|source|timestamp|raw|upstream|errcode|errmsg)\\{0,8}["']\s?[:=]/g

/** Names under which a code travels inside a body, with or without quotes. */
const NAMED_CODE = /(?:code|type|reason|status|quotaid|error|err_?code|错误码|statustext)["']?\s{0,2}[:=]\s{0,2}["']?([a-z][\w.-]{2,80}|\d{1,6})\b/g
/** "(1113)", "[1308]" at any place: the way gateways append a provider's number. */
const BRACKETED_CODE = /[([](\d{4,6})[)\]]/g

const embeddedCodes = (text: string): string[] => {
  const found: string[] = []
  for (const pattern of [NAMED_CODE, BRACKETED_CODE])
    for (const match of text.matchAll(pattern)) {
      if (found.length >= MAX_CODES) return found
      if (match[1] !== undefined) found.push(match[1])
    }
  return found
}

const STATUS_IN_TEXT = [
  /^\W{0,3}(?:api )?(?:error[: ]{1,2})?(?:http[ /]{0,2})?(?:error )?([1-5]\d\d)(?![\d.])/,
  /\bhttp(?:\/[\d.]{1,3})?[ _:]{1,2}(?:status|error|code)?[ :]{0,2}\(?([1-5]\d\d)\b/,
  /\b(?:status|error|오류|错误|エラー)[ _-]{0,2}(?:code|코드|码|コード)?["']?[ :=(]{0,3}([1-5]\d\d)(?![\d.])/,
  /\breturned (?:http )?([1-5]\d\d)\b/, /\b([45]\d\d) status code\b/, /\(([45]\d\d)\)/, /"?code"?: ?"?([45]\d\d)\b/,
]

const readStatus = (status: unknown, code: string, text: string): number | undefined => {
  const given = typeof status === 'string' && /^\d{3}$/.test(status.trim()) ? Number(status) : status
  if (typeof given === 'number' && Number.isInteger(given) && given >= 100 && given <= 599) return given
  const inCode = /^(?:http[ _-]?)?([1-5]\d\d)$/i.exec(code)
  const found = inCode ?? STATUS_IN_TEXT.map(pattern => pattern.exec(text)).find(match => match !== null)
  return found?.[1] === undefined ? undefined : Number(found[1])
}

/** "AccountQuotaExceeded" and "account_quota_exceeded" both read "account quota exceeded". */
const wordsOf = (code: string): string => code.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/[_.;=-]+/g, ' ').toLowerCase()

/** Codes written as one word inside a sentence: "SetLimitExceeded", "balance_depleted"; not the name of a field. */
const compoundsIn = (message: string): string[] => (message.match(/\b[A-Za-z][A-Za-z_]{4,80}\b(?!\\{0,4}["'`](?:\s{0,2}:| must))/g) ?? []).filter(word => /[a-z][A-Z]|[A-Za-z]_[A-Za-z]/.test(word)).slice(0, MAX_CODES)

const firstWindow = (text: string): Facts['window'] => {
  // A quota id of the day next to one of the minute: the longer one is what keeps the request out.
  if (/perday|per_day|per day per /.test(text)) return 'long'
  const minute = text.search(MINUTE)
  const long = text.search(LONG_WINDOW)
  if (minute < 0) return long < 0 ? undefined : 'long'
  return long < 0 || minute < long ? 'minute' : 'long'
}

/** Reads the fields once; a hostile object (a throwing getter, a proxy) reads as empty. */
export const readFields = (input: unknown): FailureInput => {
  if (typeof input !== 'object' || input === null) return {}
  try {
    const { code, message, status, provider, providerRetryAfterMs } = input as FailureInput
    return { code, message, status, provider, providerRetryAfterMs }
  } catch {
    return {}
  }
}

/** Harness codes say what a host already guessed; their words must not count as the provider's. */
const HOST_CODES = /^(?:AUTH|RATE_LIMIT|PI_AI_ERROR|HTTP_\d{3}|INVALID_REQUEST|SERVER|TIMEOUT|QUOTA|ACCOUNT_QUOTA|INSUFFICIENT_QUOTA|TRANSPORT|STREAM_\w{1,20}|NETWORK_?ERROR|CONNECTION_?ERROR|CONTEXT\w*|UNKNOWN|ERROR)$/

/** Reads a failure without ever throwing; linear in the cut message. */
export const readFacts = (failure: FailureInput): Facts => {
  const own = asCode(failure.code)
  const host = HOST_CODES.test(own)
  const message = cutMessage(failure.message)
  const raw = normalise(message)
  const bare = withoutAddresses(raw)
  const inside = embeddedCodes(bare)
  const words = [host ? '' : own, ...compoundsIn(message), ...inside].map(wordsOf).join(' ; ')
  const text = `${bare.replace(FIELD, ' ; ')} ; ${words}`
  const codes = [...new Set([own, ...own.split(/[;\s=]+/), ...inside].map(code => code.toLowerCase()).filter(code => code !== ''))]
  let gone: readonly Gone[] | undefined
  return {
    get gone() { return gone ??= readGone(text) },
    text, raw, codes, hostCode: host ? own : '', status: readStatus(failure.status, own, bare),
    provider: typeof failure.provider === 'string' ? failure.provider.slice(0, 200).toLowerCase() : '',
    window: firstWindow(text),
  }
}
