import { CALENDAR_READERS } from './calendar.ts'
import { DURATION_START, readDuration } from './durations.ts'
import { type Reader, type ReadTime, type Span, withAt } from './found.ts'
import { ABOUT_TIME, AFTER, BEFORE, DELAY_AFTER, DELAY_BEFORE, KEYWORD, LEAD } from './words.ts'

/** A time found in a message that speaks of a reset or a retry. */
export interface FoundTime {
  readonly index: number
  /** Epoch ms; absent when the zone or the date is missing. */
  readonly at?: number
  /** The words around it, as written. */
  readonly hint: string
}

const MAX_LOOKBACK = 70

function hintFor(text: string, start: number, end: number): string {
  const from = Math.max(0, start - MAX_LOOKBACK)
  const before = text.slice(from, start)
  const clause = before.slice(Math.max(before.lastIndexOf('. '), before.lastIndexOf('\n'), before.lastIndexOf('。')) + 1)
  const word = [...clause.matchAll(KEYWORD)].at(-1)
  let begin = word === undefined ? start : start - clause.length + word.index
  for (let step = 0; step < 3; step += 1) {
    const lead = LEAD.exec(text.slice(Math.max(0, begin - 40), begin))
    if (lead === null) break
    begin -= lead[0].length
  }
  const tail = AFTER.exec(text.slice(end, end + 24))
  return text.slice(begin, end + (tail?.[0].length ?? 0)).replace(/^["'\s:([{]{1,8}|["'\s,;]{1,8}$/gu, '').slice(0, 200)
}

const isAboutReset = (text: string, start: number, end: number): boolean =>
  BEFORE.test(text.slice(Math.max(0, start - MAX_LOOKBACK), start)) || AFTER.test(text.slice(end, end + 24))

/** "|1760000400", `"resets_at":1777936568`, "X-RateLimit-Reset: 1741305600000": seconds or ms. */
const readEpoch: Reader = text =>
  [...text.matchAll(/(\||(?<![\w-])(?:(?:next_?|quota_?)?resets?(?:_?at|_?time(?:stamp)?|_?on|_?epoch)?|x-ratelimit-reset(?:-\w{1,12})?|ratelimit_reset|available_?at|retry_?at|unblocks?_?at|expires_?at|until)\\{0,2}["']?\s?[:=]\s?["']?|resets? at )(\d{13}|\d{10})(?!\d)/giu)].map((match) => {
    const digits = match[2] ?? ''
    const start = match.index + (match[1]?.length ?? 0)
    return withAt({ start, end: start + digits.length }, Number(digits) * (digits.length === 10 ? 1000 : 1), true)
  })

/** An epoch and a length side by side in one body say the same; the epoch stays right when read late. */
const EPOCH_BESIDE = /(?<![\w-])resets?_?at["']?\s?[:=]\s?["']?\d{10}[^}]{0,200}$/iu

const FIELD_UNITS: readonly (readonly [RegExp, number])[] = [[/^m(?:illi)?s/iu, 1], [/^min/iu, 60_000], [/^h/iu, 3_600_000]]

/** `"resets_in_seconds":13872`, "Retry-After: 30", "retryAfterMs=42694000", `"cooldown_seconds": 60`. */
const SECONDS_FIELD = /(?<![\w-])(?:resets?[-_ ]?(?:in|after)|retry[-_ ]?(?:after|in|delay)|wait(?:[-_ ]?(?:for|time))?|cool_?down(?:[-_ ]?(?:for|time|remaining))?|try_?again_?in)(?:[-_ ]?(seconds|secs?|ms|milliseconds|minutes|mins?|hours))?\\{0,2}["']?\s?[:=]\s?["']?(\d{1,12}(?:\.\d{1,6})?)(?![\d.:]| ?(?:[a-z]))/giu
const readSecondsField: Reader = (text, now) =>
  [...text.matchAll(SECONDS_FIELD)].filter(match => !EPOCH_BESIDE.test(text.slice(Math.max(0, match.index - 240), match.index))).map((match) => {
    const unit = FIELD_UNITS.find(([name]) => name.test(match[1] ?? ''))?.[1] ?? 1_000
    return withAt({ start: match.index, end: match.index + match[0].length }, now + Number(match[2]) * unit, true)
  })

/** "in 3h20m", "after 1h43m56s", "try again in 5 days 22 hours", "3小时20分钟后", "replenished in 07:01:20". */
const readDelay: Reader = (text, now) => {
  const found: ReadTime[] = []
  let end = 0
  for (const match of text.matchAll(DURATION_START)) {
    if (match.index < end) continue
    const duration = readDuration(text.slice(match.index, match.index + 120))
    if (duration === undefined) continue
    end = match.index + duration.length
    const before = text.slice(Math.max(0, match.index - 24), match.index)
    const behind = DELAY_AFTER.test(text.slice(end, end + 12))
    // "at 07:01:20" is a time of day; "in 07:01:20" is none.
    if (duration.clocked ? !/\b(?:in|after|within) (?:about |~ ?)?$/iu.test(before) : !DELAY_BEFORE.test(before) && !behind) continue
    found.push(withAt({ start: match.index, end }, now + duration.ms))
  }
  return found
}

/** "in an hour", "after a day". */
const readOneUnit: Reader = (text, now) =>
  [...text.matchAll(/\b(?:in|after|within) (?:about |less than |roughly |approximately )?an? (minute|hour|day|week|month)\b/giu)].map((match) => {
    const start = match.index + match[0].length - (match[1]?.length ?? 0)
    return withAt({ start, end: match.index + match[0].length }, now + (readDuration(`1 ${match[1] ?? ''}`)?.ms ?? 0))
  })

/** A length that a clock could show comes before a time of day; the rest most specific first: what is read is not read again. */
const [iso, ...calendar] = CALENDAR_READERS
const READERS: readonly Reader[] = [readEpoch, readSecondsField, iso!, readDelay, ...calendar, readOneUnit]

/** So many times of one form are looked at; a text of thousands says nothing. */
const MOST_TIMES = 200

/**
 * Every time in the text that is about a reset or a retry.
 *
 * @param text - the message, as written.
 * @param now - epoch ms; relative times are left out when it is not finite.
 */
export function findTimes(text: string, now: number): FoundTime[] {
  if (!ABOUT_TIME.test(text)) return []
  const taken: Span[] = []
  const found: FoundTime[] = []
  for (const reader of READERS)
    for (const { span, at, sure } of reader(text, now).slice(-MOST_TIMES)) {
      if (taken.some(other => span.start < other.end && other.start < span.end)) continue
      taken.push(span)
      if (sure !== true && !isAboutReset(text, span.start, span.end)) continue
      const hint = hintFor(text, span.start, span.end)
      found.push({ index: span.start, hint, ...(at !== undefined && Number.isFinite(at) ? { at } : {}) })
    }
  return found
}
