import { cutText } from '../events/failure.ts'

/** Times, durations and foreign text as a person reads them. Pure: the zone is the reader's, or passed in. */

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'min'], [1_000, 's'],
]

/**
 * A duration in its two largest units.
 *
 * @param ms - the duration, in ms; a negative one reads as nothing.
 * @returns for example `2 h 5 min`, `45 s`, `300 ms`.
 */
export function durationText(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))} ms`
  // To the nearest second: a wait of an hour that began a moment ago is one of an hour.
  const left = 1_000 * Math.round(ms / 1_000)
  const first = UNITS.findIndex(([size]) => left >= size)
  const [size, unit] = UNITS[first] ?? [1_000, 's']
  const whole = Math.floor(left / size)
  const next = UNITS[first + 1]
  const rest = next === undefined ? 0 : Math.floor((left - whole * size) / next[0])
  return rest === 0 || next === undefined ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${next[1]}`
}

/**
 * A point in time as a wall clock shows it.
 *
 * @param at - epoch ms.
 * @param timeZone - an IANA zone; the host's own when absent.
 * @returns `YYYY-MM-DD HH:MM:SS`, or the raw number for one that no calendar holds.
 */
export function clockText(at: number, timeZone?: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return String(at)
  if (timeZone === undefined && date.getFullYear() >= 1000 && date.getFullYear() <= 9999) return localText(date)
  return date.toLocaleString('sv-SE', timeZone === undefined ? {} : { timeZone })
}

const two = (value: number): string => value < 10 ? `0${value}` : String(value)

/** The same text without the platform's calendars, which take longer to load than a large log takes to read. */
const localText = (date: Date): string =>
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`

/**
 * What no sink may be sent as it is: control characters rewrite what stands above, line separators break a line, and
 * marks turn the direction of what follows. Every sink goes through one of the two functions below: terminals and pages
 * through {@link oneLine}, JSON through {@link jsonText}.
 */
const BEYOND = '\\u007F-\\u009F\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069'
const UNSHOWN = new RegExp(`[\\u0000-\\u001F${BEYOND}]+`, 'g')
/** Of these, those that `JSON.stringify` writes as they are. */
const UNESCAPED = new RegExp(`[${BEYOND}]`, 'g')
/** Halves of characters, which no terminal and no file can hold. */
const HALVES = /\p{Surrogate}/gu

/**
 * Foreign text on one line: provider messages go to terminals and pages, where control characters would rewrite what
 * stands above.
 *
 * @param value - any text.
 * @param limit - longest result, in UTF-16 units.
 */
export function oneLine(value: string, limit: number): string {
  // The text is cut first: a provider may send a megabyte.
  const plain = value.slice(0, 4 * limit).replace(UNSHOWN, ' ').replace(HALVES, '\uFFFD').trim()
  return cutText(plain, limit)
}

/**
 * A value as JSON that may go to a terminal: what may not be shown is written as an escape, so that the value is the same
 * when it is read.
 *
 * @param value - any JSON value.
 * @param indent - spaces of each level; one line when absent.
 */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(UNESCAPED, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
