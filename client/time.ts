/** Times and amounts as the person at the page reads them. Pure: the time and the languages are passed in. */

const DAY = 86_400_000

/**
 * The language that dates are written in: the person's own variant of the page's language.
 *
 * @param page - language of the page, `en` or `zh`.
 * @param preferred - the browser's languages, the most preferred first.
 * @returns a language tag.
 */
export function dateLanguage(page: string, preferred: readonly string[]): string {
  const own = preferred.find(tag => tag.toLowerCase().split('-')[0] === page)
  return own ?? (page === 'zh' ? 'zh-CN' : page)
}

const format = (at: number, language: string, options: Intl.DateTimeFormatOptions): string => {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '' : new Intl.DateTimeFormat(language, options).format(date)
}

const sameDay = (a: number, b: number): boolean => new Date(a).toDateString() === new Date(b).toDateString()

/** Closer than this, in ms, seconds are told. */
export const SOON_MS = 120_000

/**
 * A time as precise as its distance asks for: of this day the time of day, else with its date.
 *
 * @param at - epoch ms.
 * @param now - epoch ms.
 * @param language - a language tag.
 */
export function timeText(at: number, now: number, language: string): string {
  const clock = format(at, language, { timeStyle: 'short' })
  if (sameDay(at, now)) return clock
  const year = new Date(at).getFullYear() === new Date(now).getFullYear() ? {} : { year: 'numeric' } as const
  return `${format(at, language, { month: 'short', day: 'numeric', ...year })} ${clock}`.trim()
}

/**
 * A time to come: in seconds where it is close, else as {@link timeText} has it.
 *
 * @param at - epoch ms; one that has passed is now.
 * @param now - epoch ms.
 * @param language - a language tag.
 */
export function nextText(at: number, now: number, language: string): string {
  const seconds = Math.max(0, Math.ceil((at - now) / 1_000))
  if (!(at - now < SOON_MS)) return timeText(at, now, language)
  return new Intl.RelativeTimeFormat(language, { numeric: seconds === 0 ? 'auto' : 'always', style: 'short' }).format(seconds, 'second')
}

const UNITS: readonly (readonly [number, string])[] = [[DAY, 'day'], [3_600_000, 'hour'], [60_000, 'minute'], [1_000, 'second']]

/**
 * A duration in its largest unit, or its two largest where the second is not zero; below two minutes in seconds.
 *
 * @param ms - the duration, in ms.
 * @param language - a language tag.
 */
export function durationText(ms: number, language: string): string {
  const left = Math.max(0, Math.round(ms / 1_000) * 1_000)
  const first = Math.max(0, UNITS.findIndex(([size]) => left >= size))
  const index = left < SOON_MS && (left === 0 || left % 60_000 !== 0) ? UNITS.length - 1 : first
  const parts = UNITS.slice(index, index + 2).map(([size, unit], place) =>
    [Math.floor((place === 0 ? left : left % (UNITS[index]?.[0] ?? 1)) / size), unit] as const)
  return parts.filter(([count], place) => place === 0 || count > 0)
    .map(([count, unit]) => new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' }).format(count)).join(' ')
}

/** Times that can be read in one way only. */
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/g

/** What stands before the time of a reset: a text may also tell when a plan or an invoice is due. */
const RESET = /re(?:set|new|fresh|gain|try)|again|avail|until|恢复|重置|刷新/i

/**
 * The last time of a reset in a text that can be read in one way only. The host knows many more ways to write one.
 *
 * @param text - any text.
 * @returns epoch ms, or `NaN`.
 */
export function instantIn(text: string): number {
  const found = [...text.matchAll(INSTANT)].filter(({ index }) => RESET.test(text.slice(Math.max(0, index - 60), index)))
  return Date.parse(found.at(-1)?.[0] ?? '')
}

/**
 * An amount as people read it.
 *
 * @param value - the amount.
 * @param language - a language tag.
 */
export function amountText(value: number, language: string): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 }).format(value)
}

/** The message of an error object, also of one that was cut off in it. */
const MESSAGE = /"message"\s*:\s*"((?:[^"\\]|\\.)+)/

/**
 * What a provider said, as people read it: of an error object its message.
 *
 * @param text - the whole answer.
 */
export function spokenText(text: string): string {
  const [, message] = MESSAGE.exec(text) ?? []
  if (message === undefined) return text
  try {
    return JSON.parse(`"${message}"`) as string
  } catch {
    return message
  }
}
