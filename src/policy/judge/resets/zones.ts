/** Wall-clock times in named zones: the calendar and the changes to and from summer time are the library's. */
import { Temporal } from 'temporal-polyfill'

/** A wall-clock reading; a day that is left out is the next on which such a time comes. */
export interface WallTime {
  readonly year?: number
  /** 1..12 */
  readonly month?: number
  readonly day?: number
  /** ISO: 1 is Monday, 7 is Sunday. */
  readonly weekday?: number
  /** Days from today. */
  readonly daysAhead?: number
  readonly hour: number
  readonly minute: number
  readonly second?: number
}

/** Abbreviations that mean one offset wherever they are written; CST, IST and the like mean several. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  pst: '-08:00', pdt: '-07:00', mst: '-07:00', mdt: '-06:00', cdt: '-05:00', est: '-05:00', edt: '-04:00', wet: '+00:00', bst: '+01:00', cet: '+01:00', mez: '+01:00',
  cest: '+02:00', mesz: '+02:00', eet: '+02:00', eest: '+03:00', msk: '+03:00', jst: '+09:00', kst: '+09:00', sgt: '+08:00', hkt: '+08:00', aest: '+10:00', aedt: '+11:00', brt: '-03:00',
  pt: 'America/Los_Angeles', pacific: 'America/Los_Angeles', et: 'America/New_York', eastern: 'America/New_York', '北京时间': 'Asia/Shanghai', 'beijing time': 'Asia/Shanghai', 'china standard time': 'Asia/Shanghai',
  '日本時間': 'Asia/Tokyo', '한국시간': 'Asia/Seoul', '한국 시간': 'Asia/Seoul',
}

const FIXED = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d{2}))?$/i

/** The zone as the library names it: "UTC+8" and "+0800" are offsets, "Etc/GMT+5" is a name and five hours behind. */
function zoneId(written: string): string {
  const name = written.toLowerCase().replace(/ (?:standard |daylight )?time$/, '')
  if (/^(?:utc|gmt|z)$/.test(name)) return 'UTC'
  const known = ABBREVIATIONS[name] ?? ABBREVIATIONS[written.toLowerCase()]
  if (known !== undefined) return known
  const match = FIXED.exec(written)
  return match === null ? written : `${match[1]}${(match[2] ?? '').padStart(2, '0')}:${match[3] ?? '00'}`
}

type Moment = InstanceType<typeof Temporal.ZonedDateTime>
type Day = InstanceType<typeof Temporal.PlainDate>

/**
 * The instant at which a zone's clocks show a time on a day: in the hour that the change to summer time skips, as much
 * later; of the two in the hour that comes twice, the first that is still to come.
 */
function instantOn(day: Day, { hour, minute, second = 0 }: WallTime, zone: string, now: number): number {
  const wall = day.toPlainDateTime({ hour, minute, second })
  const first = wall.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds
  return first > now ? first : wall.toZonedDateTime(zone, { disambiguation: 'later' }).epochMilliseconds
}

const DAY_MS = 86_400_000

/** The day that is meant, where one is named; the year of "Oct 6" is the next one only when this one's is long gone. */
function namedDay(wall: WallTime, today: Moment, now: number): Day | undefined {
  const { year, month, day, daysAhead } = wall
  if (daysAhead !== undefined) return today.toPlainDate().add({ days: daysAhead })
  if (day === undefined) return undefined
  const on = (inYear: number, inMonth: number): Day => Temporal.PlainDate.from({ year: inYear, month: inMonth, day }, { overflow: 'reject' })
  if (month === undefined) {
    const thisMonth = today.day <= day
    const { year: inYear, month: inMonth } = thisMonth ? today : today.toPlainDate().with({ day: 1 }).add({ months: 1 })
    return on(inYear, inMonth)
  }
  const dated = on(year ?? today.year, month)
  if (year !== undefined || instantOn(dated, wall, today.timeZoneId, now) >= now - DAY_MS) return dated
  return on(today.year + 1, month)
}

/** The next day, from today on, on which the time is still to come; of one weekday where one is named. */
function nextInstant(wall: WallTime, today: Moment, now: number): number | undefined {
  const { weekday } = wall
  for (let days = 0; days <= 7; days += 1) {
    const day = today.toPlainDate().add({ days })
    if (weekday !== undefined && day.dayOfWeek !== weekday) continue
    const at = instantOn(day, wall, today.timeZoneId, now)
    if (at > now) return at
  }
  return undefined
}

/**
 * The instant a wall time in a zone means: itself when a day is named, else the next one after `now`.
 *
 * @param zone - as it was written: an IANA name, an offset, or one of the abbreviations that are unmistakable.
 * @param wall - the time of day, and what is said of the day.
 * @param now - epoch ms.
 * @returns epoch ms, or undefined when the zone is unknown or the date impossible.
 */
export function resolveWall(zone: string, wall: WallTime, now: number): number | undefined {
  if (!Number.isFinite(now) || Math.abs(now) > 8e15) return undefined
  try {
    const today = Temporal.Instant.fromEpochMilliseconds(Math.floor(now)).toZonedDateTimeISO(zoneId(zone))
    Temporal.PlainTime.from({ hour: wall.hour, minute: wall.minute, second: wall.second ?? 0 }, { overflow: 'reject' })
    const day = namedDay(wall, today, now)
    return day === undefined ? nextInstant(wall, today, now) : instantOn(day, wall, today.timeZoneId, now)
  } catch {
    // No zone of this system, or no day of the calendar: the time stays a hint.
    return undefined
  }
}
