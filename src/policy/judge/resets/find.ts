import { DURATION_START, readDuration } from './durations.ts'
import { ABOUT_TIME, AFTER, BEFORE, DELAY_AFTER, DELAY_BEFORE, KEYWORD, LEAD } from './words.ts'
import { resolveWall, type WallTime } from './zones.ts'

/** A time found in a message that speaks of a reset or a retry. */
export interface FoundTime {
  readonly index: number
  /** Epoch ms; absent when the zone or the date is missing. */
  readonly at?: number
  /** The words around it, as written. */
  readonly hint: string
}

const MAX_LOOKBACK = 70

const hintFor = (text: string, start: number, end: number): string => {
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
  const tail = AFTER.exec(text.slice(end, end + 16))
  return text.slice(begin, end + (tail?.[0].length ?? 0)).replace(/^["'\s:([{]+|["'\s,;]+$/gu, '').slice(0, 200)
}

const isAboutReset = (text: string, start: number, end: number): boolean =>
  BEFORE.test(text.slice(Math.max(0, start - MAX_LOOKBACK), start)) || AFTER.test(text.slice(end, end + 16))

interface Span { readonly start: number, readonly end: number }
type Reader = (text: string, now: number) => { span: Span, at?: number, sure?: boolean }[]

const withAt = (span: Span, at: number | undefined, sure = false): { span: Span, at?: number, sure?: boolean } => ({ span, sure, ...(at === undefined ? {} : { at }) })

/** "|1760000400", `"resets_at":1777936568`, "X-RateLimit-Reset: 1741305600000": seconds or ms. */
const readEpoch: Reader = text =>
  [...text.matchAll(/(\||(?<![\w-])(?:resets?_?at|reset_?time|x-ratelimit-reset|ratelimit_reset)\\{0,2}["']?\s?[:=]\s?["']?|resets? at )(\d{13}|\d{10})(?!\d)/giu)].map(match => {
    const digits = match[2] ?? ''
    const start = match.index + (match[1]?.length ?? 0)
    return withAt({ start, end: start + digits.length }, Number(digits) * (digits.length === 10 ? 1000 : 1), true)
  })

/** An epoch and a length side by side in one body say the same; the epoch stays right when read late. */
const EPOCH_BESIDE = /(?<![\w-])resets?_?at["']?\s?[:=]\s?["']?\d{10}[^}]{0,200}$/iu

/** `"resets_in_seconds":13872`, "Retry-After: 30", `retryDelay: "26s"` counts as a plain duration. */
const readSecondsField: Reader = (text, now) =>
  [...text.matchAll(/(?<![\w-])(?:resets?_?in_?(seconds|ms)|retry[-_ ]?after(?:[-_ ]?(seconds|secs|ms))?|reset_after_(seconds))\\{0,2}["']?\s?[:=]\s?["']?(\d{1,12}(?:\.\d{1,6})?)(?![\d.]| ?(?:[a-z]))/giu)].filter(match => !EPOCH_BESIDE.test(text.slice(Math.max(0, match.index - 240), match.index))).map(match => {
    const unit = (match[1] ?? match[2] ?? match[3] ?? 'seconds').toLowerCase() === 'ms' ? 1 : 1000
    return withAt({ start: match.index, end: match.index + match[0].length }, now + Number(match[4]) * unit, true)
  })

const ZONE_AFTER = /^ ?[([（]?(?:in )?((?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?|Z(?![a-z])|[+-]\d{2}:?\d{2}|[A-Z][A-Za-z_]{1,20}\/[A-Za-z_]{1,20}(?:\/[A-Za-z_]{1,20})?|北京时间|Beijing time|Pacific(?: time)?)[)\]）]?(?: CST)?/u
const ZONE_BEFORE = /(?:(UTC|GMT)|(北京时间|Beijing time)) ?$/u

const zoneName = (written: string): string => (/北京时间|Beijing/.test(written) ? 'Asia/Shanghai' : written.startsWith('Pacific') ? 'America/Los_Angeles' : written)

const zoneAround = (text: string, start: number, end: number): { zone?: string, end: number } => {
  const after = ZONE_AFTER.exec(text.slice(end, end + 60))
  if (after?.[1] !== undefined) return { zone: zoneName(after[1]), end: end + after[0].length }
  const before = ZONE_BEFORE.exec(text.slice(Math.max(0, start - 14), start))
  return before === null ? { end } : { zone: zoneName(before[1] ?? before[2] ?? ''), end }
}

const wallIn = (text: string, start: number, end: number, wall: WallTime, now: number): { span: Span, at?: number } => {
  const { zone, end: zoneEnd } = zoneAround(text, start, end)
  return withAt({ start, end: zoneEnd }, zone === undefined ? undefined : resolveWall(zone, wall, now))
}

/** "2026-08-28 22:38:22 +0800 CST", "2026-05-15T15:00:00Z", "2026-09-01 at 00:00 UTC", "2026-09-01". */
const readIso: Reader = (text, now) =>
  [...text.matchAll(/(?<!\d)(20\d\d)[-/年](\d{1,2})[-/月](\d{1,2})日?(?:(?:T| at |, | )(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?)?(?![\d:])/gu)].map(match => {
    const [whole, year, month, day, hour, minute, second] = match
    const wall = { year: Number(year), month: Number(month), day: Number(day), hour: Number(hour ?? 0), minute: Number(minute ?? 0), second: Number(second ?? 0) }
    return wallIn(text, match.index, match.index + whole.length, wall, now)
  })

const MONTHS = ['jan|ene', 'feb|fev', 'mar|mär', 'apr|abr|avr', 'may|mai|mayo', 'jun|juin', 'jul|juil', 'aug|ago|août', 'sep|set', 'oct|out|okt', 'nov', 'dec|dez|dic|déc']
const MONTH = String.raw`(?:jan|ene|feb|fev|mar|mär|apr|abr|avr|may|mai|jun|jul|aug|ago|août|sep|set|oct|out|okt|nov|dec|dez|dic|déc)[a-zéûçä]{0,8}\.?`
const CLOCK = String.raw`(?:(?:,? at|,| às| a las|) ?(\d{1,2})(?::(\d{2}))?(?::\d{2})? ?(am|pm|a\.m\.|p\.m\.)?)?`
const monthOf = (name: string): number => MONTHS.findIndex(names => names.split('|').some(start => name.toLowerCase().startsWith(start))) + 1

const hourOf = (hour: string, half: string | undefined): number => {
  const value = Number(hour)
  if (half === undefined) return value
  return (value % 12) + (/^p/i.test(half) ? 12 : 0)
}

const MONTH_FIRST = new RegExp(String.raw`\b(${MONTH}) (\d{1,2})(?:st|nd|rd|th)?(?!\d|:)(?:,? (20\d\d))?${CLOCK}(?!\d)`, 'giu')
const DAY_FIRST = new RegExp(String.raw`\b(\d{1,2})\.? (?:de )?(${MONTH})(?: de)?(?:,? (20\d\d))?${CLOCK}(?!\d)`, 'giu')

/** "July 1, 2026 at 5:30 AM", "Oct 6, 1pm (Europe/Berlin)", "10 de jul. de 2026, 11:52". */
const readMonthName: Reader = (text, now) => {
  const read = (match: RegExpExecArray, month: string, day: string): { span: Span, at?: number } => {
    const [whole, , , year, hour, minute, half] = match
    const start = match.index
    if (hour === undefined) return withAt({ start, end: start + whole.length }, undefined)
    const wall = { month: monthOf(month), day: Number(day), hour: hourOf(hour, half), minute: Number(minute ?? 0), ...(year === undefined ? {} : { year: Number(year) }) }
    return wallIn(text, start, start + whole.length, wall, now)
  }
  return [
    ...[...text.matchAll(MONTH_FIRST)].map(match => read(match, match[1] ?? '', match[2] ?? '')),
    ...[...text.matchAll(DAY_FIRST)].map(match => read(match, match[2] ?? '', match[1] ?? '')),
  ]
}

/** "10:30pm (Europe/Berlin)", "3pm", "UTC 16:00", "midnight UTC". */
const readClock: Reader = (text, now) =>
  [...text.matchAll(/(?<![\d:./-])(?:(\d{1,2})(?::(\d{2}))(?::\d{2})? ?(am|pm)?|(\d{1,2}) ?(am|pm)|(midnight))(?![\w:])/giu)].map(match => {
    const hour = match[6] !== undefined ? 0 : hourOf(match[1] ?? match[4] ?? '', match[3] ?? match[5])
    return wallIn(text, match.index, match.index + match[0].length, { hour, minute: Number(match[2] ?? 0) }, now)
  })

/** "in 3h20m", "after 1h43m56s", "try again in 5 days 22 hours", "3小时20分钟后". */
const readDelay: Reader = (text, now) => {
  const found: { span: Span, at?: number }[] = []
  let end = 0
  for (const match of text.matchAll(DURATION_START)) {
    if (match.index < end) continue
    const duration = readDuration(text.slice(match.index, match.index + 120))
    if (duration === undefined) continue
    end = match.index + duration.length
    const before = text.slice(Math.max(0, match.index - 24), match.index)
    if (!DELAY_BEFORE.test(before) && !DELAY_AFTER.test(text.slice(end, end + 8))) continue
    found.push(withAt({ start: match.index, end }, now + duration.ms))
  }
  return found
}

/** "in an hour", "after a day". */
const readOneUnit: Reader = (text, now) =>
  [...text.matchAll(/\b(?:in|after) an? (minute|hour|day|week)\b/giu)].map(match => {
    const start = match.index + match[0].length - (match[1]?.length ?? 0)
    return withAt({ start, end: match.index + match[0].length }, now + (readDuration(`1 ${match[1] ?? ''}`)?.ms ?? 0))
  })

/** Most specific first: a span once read is not read again as something shorter. */
const READERS: readonly Reader[] = [readEpoch, readSecondsField, readIso, readMonthName, readClock, readDelay, readOneUnit]

/**
 * Every time in the text that is about a reset or a retry.
 * @param now epoch ms; relative times are left out when it is not finite
 */
export const findTimes = (text: string, now: number): FoundTime[] => {
  if (!ABOUT_TIME.test(text)) return []
  const taken: Span[] = []
  const found: FoundTime[] = []
  for (const reader of READERS)
    for (const { span, at, sure } of reader(text, now)) {
      if (taken.some(other => span.start < other.end && other.start < span.end)) continue
      taken.push(span)
      if (sure !== true && !isAboutReset(text, span.start, span.end)) continue
      const hint = hintFor(text, span.start, span.end)
      found.push({ index: span.start, hint, ...(at !== undefined && Number.isFinite(at) ? { at } : {}) })
    }
  return found
}
