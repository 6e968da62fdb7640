/** Times of the clock and the calendar: "2026-09-01T00:00:00Z", "Oct 6, 1pm (Europe/Berlin)", "Monday at 9am UTC". */
import type { Reader, ReadTime } from './found.ts'
import { withAt } from './found.ts'
import { resolveWall, type WallTime } from './zones.ts'

const ABBREVIATED = 'PST|PDT|MST|MDT|CDT|EST|EDT|WET|BST|CET|CEST|MEZ|MESZ|EET|EEST|MSK|JST|KST|SGT|HKT|AEST|AEDT|BRT|PT|ET|Pacific(?: (?:Standard |Daylight )?[Tt]ime)?|Eastern(?: (?:Standard |Daylight )?[Tt]ime)?'
const LOCAL_NAME = '北京时间|日本時間|한국 ?시간|Beijing time|China Standard Time'
const ZONE_AFTER = new RegExp(String.raw`^ ?(?:Uhr ?)?[([（]?(?:in |,? ?)?((?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?|Z(?![a-z])|[+-]\d{2}:?\d{2}|Etc\/GMT[+-]\d{1,2}|[A-Z][A-Za-z_]{1,20}\/[A-Za-z_]{1,20}(?:\/[A-Za-z_]{1,20})?|(?:${ABBREVIATED})(?![A-Za-z])|${LOCAL_NAME})[)\]）]?(?: CST)?`, 'u')
const ZONE_BEFORE = new RegExp(String.raw`(?:(UTC|GMT|JST|KST)|(${LOCAL_NAME})) ?[:：]? ?$`, 'u')

function zoneAround(text: string, start: number, end: number): { zone?: string, end: number } {
  const after = ZONE_AFTER.exec(text.slice(end, end + 60))
  if (after?.[1] !== undefined) return { zone: after[1], end: end + after[0].length }
  const before = ZONE_BEFORE.exec(text.slice(Math.max(0, start - 16), start))
  return before === null ? { end } : { zone: before[1] ?? before[2] ?? '', end }
}

function wallIn(text: string, start: number, end: number, wall: WallTime | undefined, now: number): ReadTime {
  const { zone, end: zoneEnd } = zoneAround(text, start, end)
  return withAt({ start, end: zoneEnd }, zone === undefined || wall === undefined ? undefined : resolveWall(zone, wall, now))
}

/** "9:30 am", "09:25:00", "9am", "midnight", "noon", "9時", "午前9時". Groups: half-day before, hour, minute, second, half-day, word. */
const CLOCK = String.raw`(?:(午前|午後|上午|下午|오전|오후) ?)?(?:(\d{1,2})(?:[:：h](\d{2})(?::(\d{2})(?:\.\d{1,9})?)?|(?= ?(?:am|pm|a\.m\.|p\.m\.|時|时|点|點|시|uhr)))(?: ?(am|pm|a\.m\.|p\.m\.)|(?:時|时|点|點|시)(?!間|间|간))?|(midnight|noon|mitternacht))(?![\w:])`
const CLOCK_GROUPS = 6
/** What may stand between a day and its time. */
const JOIN = String.raw`(?:,? (?:at|um|a las|às|à|alle|om|kl\.?|в) |, ?| ?T|，| ?の?)`

type Clock = Pick<WallTime, 'hour' | 'minute' | 'second'>

function clockOf(groups: readonly (string | undefined)[]): Clock | undefined {
  const [before, hour, minute, second, after, word] = groups
  if (word !== undefined) return { hour: word.toLowerCase() === 'noon' ? 12 : 0, minute: 0 }
  if (hour === undefined) return undefined
  const half = after ?? before
  const late = half !== undefined && /^p|午後|下午|오후/iu.test(half)
  return { hour: half === undefined ? Number(hour) : (Number(hour) % 12) + (late ? 12 : 0), minute: Number(minute ?? 0), ...second === undefined ? {} : { second: Number(second) } }
}

const find = (pattern: RegExp, text: string): RegExpExecArray[] => [...text.matchAll(pattern)]

/** A pattern of a day with a clock time behind it, and how many groups the day has. */
function dated(day: string, groups: number, needsClock: boolean, dayOf: (parts: readonly (string | undefined)[]) => Omit<WallTime, 'hour' | 'minute'> | undefined): Reader {
  const pattern = new RegExp(`${day}(?:${JOIN}${CLOCK})${needsClock ? '' : '?'}(?![\\d])`, 'giu')
  return (text, now) => find(pattern, text).map((match) => {
    const parts = match.slice(1, 1 + groups)
    const clock = clockOf(match.slice(1 + groups, 1 + groups + CLOCK_GROUPS))
    const on = dayOf(parts)
    const wall = clock === undefined || on === undefined ? undefined : { ...on, ...clock }
    return wallIn(text, match.index, match.index + match[0].length, wall, now)
  })
}

/** "2026-08-28 22:38:22 +0800 CST", "2026-05-15T15:00:00Z", "2026-09-01 at 00:00 UTC", "2026-09-01". */
const readIso: Reader = (text, now) =>
  find(/(?<!\d)(20\d\d)[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?:(?:T| at |, | |, at | à | um | a las )(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?)?(?![\d:])/gu, text).map((match) => {
    const [whole, year, month, day, hour, minute, second] = match
    return wallIn(text, match.index, match.index + whole.length, {
      year: Number(year), month: Number(month), day: Number(day), hour: Number(hour ?? 0), minute: Number(minute ?? 0), second: Number(second ?? 0),
    }, now)
  })

const MONTHS = ['jan|ene|gen', 'feb|fev|fév', 'mar|mär|mrt', 'apr|abr|avr', 'may|mai|mayo|maj|mag|mei', 'jun|juin|giu', 'jul|juil|lug', 'aug|ago|août', 'sep|set', 'oct|out|okt|ott', 'nov', 'dec|dez|dic|déc']
const MONTH = String.raw`(?:jan|ene|gen|feb|fev|fév|mar|mär|mrt|apr|abr|avr|may|mai|maj|mag|mei|jun|juin|giu|jul|juil|lug|aug|ago|août|sep|set|oct|out|okt|ott|nov|dec|dez|dic|déc)[a-zéûçä]{0,8}\.?`
const monthOf = (name: string): number => MONTHS.findIndex(names => names.split('|').some(start => name.toLowerCase().startsWith(start))) + 1
const yearOf = (year: string | undefined): { year?: number } => year === undefined ? {} : { year: Number(year) }

/** "July 1, 2026 at 5:30 AM", "Oct 6, 1pm (Europe/Berlin)", "October 12 at midnight UTC". */
const readMonthFirst = dated(String.raw`\b(${MONTH}) (\d{1,2})(?:st|nd|rd|th)?(?!\d|:)(?:,? (20\d\d))?`, 3, false, ([month = '', day, year]) => ({ month: monthOf(month), day: Number(day), ...yearOf(year) }))
/** "10 de jul. de 2026, 11:52", "12 October 2026 at 09:00 UTC". */
const readDayFirst = dated(String.raw`\b(\d{1,2})(?:st|nd|rd|th)?\.? (?:de |of )?(${MONTH})(?: de)?(?:,? (20\d\d))?`, 3, false, ([day, month = '', year]) => ({ month: monthOf(month), day: Number(day), ...yearOf(year) }))

/** "12/10/2026 at 09:00 UTC" is a day in October or in December: only where one of the two can be no month it is known which. */
const readSlashed = dated(String.raw`(?<![\d/.-])(\d{1,2})[/.](\d{1,2})(?:[/.](20\d\d))?(?![\d/.])`, 3, true, ([first, second, year]) => {
  const [a, b] = [Number(first), Number(second)]
  if (a > 12 && b <= 12) return { day: a, month: b, ...yearOf(year) }
  return b > 12 || a === b ? { day: b, month: a, ...yearOf(year) } : undefined
})
/** "10-09 09:25:00 UTC": month first, as in the ISO date that it is the end of. */
const readMonthDay = dated(String.raw`(?<![\d-])(\d{2})-(\d{2})(?![\d-])`, 2, true, ([month, day]) => ({ month: Number(month), day: Number(day) }))
/** "10月12日 09:00". */
const readEastern = dated(String.raw`(?<![\d年])(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일號号]`, 2, true, ([month, day]) => ({ month: Number(month), day: Number(day) }))
/** "on the 1st at 00:00 UTC". */
const readOrdinal = dated(String.raw`\bthe (\d{1,2})(?:st|nd|rd|th)\b(?: of (?:the|each|every|next) month)?`, 1, true, ([day]) => ({ day: Number(day) }))

const WEEKDAYS: readonly string[] = [
  String.raw`mon(?:day)?\b|montags?\b|lunes\b|lundi\b|segunda(?:-feira)?\b|lunedì|понедельник|(?:星期|周|週|下周|下週)一|月曜日?|월요일`, String.raw`tue(?:s(?:day)?)?\b|dienstags?\b|martes\b|mardi\b|terça(?:-feira)?\b|martedì|вторник|(?:星期|周|週|下周|下週)二|火曜日?|화요일`,
  String.raw`wed(?:nesday)?\b|mittwochs?\b|miércoles\b|mercredi\b|quarta(?:-feira)?\b|mercoledì|сред[ау]|(?:星期|周|週|下周|下週)三|水曜日?|수요일`, String.raw`thu(?:rs(?:day)?)?\b|donnerstags?\b|jueves\b|jeudi\b|quinta(?:-feira)?\b|giovedì|четверг|(?:星期|周|週|下周|下週)四|木曜日?|목요일`,
  String.raw`fri(?:day)?\b|freitags?\b|viernes\b|vendredi\b|sexta(?:-feira)?\b|venerdì|пятниц[ау]|(?:星期|周|週|下周|下週)五|金曜日?|금요일`, String.raw`sat(?:urday)?\b|samstags?\b|sábado\b|samedi\b|sabato\b|суббот[ау]|(?:星期|周|週|下周|下週)六|土曜日?|토요일`,
  String.raw`sun(?:day)?\b|sonntags?\b|domingo\b|dimanche\b|domenica\b|воскресенье|(?:星期|周|週|下周|下週)[日天]|日曜日?|일요일`,
]
const WEEKDAY = WEEKDAYS.join('|')
const WEEKDAY_OF = WEEKDAYS.map(names => new RegExp(`^(?:${names})`, 'iu'))
/** "Monday at 9am (Europe/Berlin)", "next Friday, 10:00 UTC". */
const readWeekday = dated(String.raw`(?<![\p{L}])(${WEEKDAY})\.?`, 1, true, ([name = '']) => ({ weekday: WEEKDAY_OF.findIndex(names => names.test(name)) + 1 }))
/** "9am on Monday (Europe/Berlin)". */
const CLOCK_FIRST = new RegExp(String.raw`(?<![\d:./-])${CLOCK}(?: on|,)? (?:next )?(?:(${WEEKDAY})|(tomorrow|today|tonight))`, 'giu')
const readClockFirst: Reader = (text, now) => find(CLOCK_FIRST, text).map((match) => {
  const clock = clockOf(match.slice(1, 1 + CLOCK_GROUPS))
  const [weekday, word] = match.slice(1 + CLOCK_GROUPS)
  const on = weekday === undefined ? { daysAhead: /^tom/iu.test(word ?? '') ? 1 : 0 } : { weekday: WEEKDAY_OF.findIndex(names => names.test(weekday)) + 1 }
  return wallIn(text, match.index, match.index + match[0].length, clock === undefined ? undefined : { ...on, ...clock }, now)
})

/** "tomorrow at 3pm UTC", "today at 18:00 UTC", "明天 09:00（北京时间）". */
const TOMORROW = 'tomorrow|mañana|amanhã|demain|morgen|domani|завтра|明天|明日|내일|yarın|ngày mai|besok'
const readDayWord = dated(String.raw`(?<![\p{L}])(?:(${TOMORROW})|today|tonight|hoy|hoje|aujourd'hui|heute|oggi|сегодня|今天|今日|本日|오늘|bugün)`, 1, true, ([tomorrow]) => ({ daysAhead: tomorrow === undefined ? 0 : 1 }))

/** A day that stands beside a clock time in a form that no reader knows: then the time is a hint only. */
const DAY_BESIDE = new RegExp(String.raw`(?:\b(?:tomorrow|next (?:week|month|day|billing)|(?:on|of) the \d{1,2}(?:st|nd|rd|th)|the (?:first|last) (?:day|of)|end of (?:the )?(?:week|month|day)|\d{1,2}(?:st|nd|rd|th))\b|(?<![\p{L}])(?:${WEEKDAY})|\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?|\b(?:${MONTH}) ?\d{0,4}|[月日]|下个?月|翌日|来月|다음)[^.!?。！？\n]{0,14}$`, 'iu')
const DAY_BEHIND = new RegExp(String.raw`^[^.!?。！？\n]{0,8}?\b(?:on|am|el|le) (?:the \d|\d{1,2}[./]|next|(?:${WEEKDAY}|${MONTH}))|^ ?(?:tomorrow|next)\b|^ ?(?:on )?(?:${MONTH}) \d`, 'iu')

/** "10:30pm (Europe/Berlin)", "3pm", "UTC 16:00", "midnight UTC". */
const CLOCK_ALONE = new RegExp(String.raw`(?<![\d:./-])${CLOCK}`, 'giu')
const readClock: Reader = (text, now) => find(CLOCK_ALONE, text).map((match) => {
  const clock = clockOf(match.slice(1, 1 + CLOCK_GROUPS))
  const [start, end] = [match.index, match.index + match[0].length]
  const read = wallIn(text, start, end, clock, now)
  const ofADay = DAY_BESIDE.test(text.slice(Math.max(0, start - 32), start)) || DAY_BEHIND.test(text.slice(read.span.end, read.span.end + 24))
  return ofADay ? withAt(read.span, undefined) : read
})

/** Most specific first. */
export const CALENDAR_READERS: readonly Reader[] = [
  readIso, readMonthFirst, readDayFirst, readSlashed, readMonthDay, readEastern, readOrdinal, readWeekday, readDayWord, readClockFirst, readClock,
]
