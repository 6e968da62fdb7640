/** Wall-clock arithmetic in named zones, on Intl alone: daylight saving comes out right without a dependency. */

const DAY_MS = 86_400_000

/** A wall-clock reading; fields left out are taken from "now" in that zone. */
export interface WallTime {
  readonly year?: number
  /** 1..12 */
  readonly month?: number
  readonly day?: number
  readonly hour: number
  readonly minute: number
  readonly second?: number
}

interface FullWallTime { year: number, month: number, day: number, hour: number, minute: number, second: number }

const formatters = new Map<string, Intl.DateTimeFormat | null>()

const formatterOf = (zone: string): Intl.DateTimeFormat | null => {
  const known = formatters.get(zone)
  if (known !== undefined) return known
  let made: Intl.DateTimeFormat | null = null
  try {
    made = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' })
  } catch { /* not a zone of this system: the time stays a hint */ }
  // Messages are foreign text: never let their zone names fill memory.
  if (formatters.size < 600) formatters.set(zone, made)
  return made
}

const FIXED = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d{2}))?$/i

/** Offset of a fixed zone ("UTC", "UTC+8", "+0800") in ms, or undefined. */
const fixedOffset = (zone: string): number | undefined => {
  if (/^(?:utc|gmt|z)$/i.test(zone)) return 0
  const match = FIXED.exec(zone)
  if (match === null) return undefined
  const [, sign, hours, minutes] = match
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes ?? 0)) * 60_000
}

const wallAt = (zone: string, instant: number): FullWallTime | undefined => {
  const fixed = fixedOffset(zone)
  if (fixed === undefined) {
    const formatter = formatterOf(zone)
    if (formatter === null) return undefined
    const part = Object.fromEntries(formatter.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
    return { year: part['year'] ?? 0, month: part['month'] ?? 1, day: part['day'] ?? 1, hour: part['hour'] ?? 0, minute: part['minute'] ?? 0, second: part['second'] ?? 0 }
  }
  const date = new Date(instant + fixed)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), hour: date.getUTCHours(), minute: date.getUTCMinutes(), second: date.getUTCSeconds() }
}

/** Epoch ms of these fields read as UTC; undefined for a month 13 or a 31st of June. */
export const utcOf = ({ year, month, day, hour, minute, second }: FullWallTime): number | undefined => {
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const at = Date.UTC(year, month - 1, day, hour, minute, second)
  const date = new Date(at)
  return date.getUTCMonth() + 1 === month && date.getUTCDate() === day ? at : undefined
}

/** The instant at which a zone's clocks show this wall time; in a gap of daylight saving, the moment after it. */
const instantOf = (zone: string, wall: FullWallTime): number | undefined => {
  const asUtc = utcOf(wall)
  if (asUtc === undefined) return undefined
  let guess = asUtc
  for (let step = 0; step < 3; step += 1) {
    const seen = wallAt(zone, guess)
    const seenUtc = seen === undefined ? undefined : utcOf(seen)
    if (seenUtc === undefined) return undefined
    if (seenUtc === asUtc) return guess
    guess += asUtc - seenUtc
  }
  return guess
}

/**
 * The instant a wall time in a zone means: itself when it is dated, else the next one after `now`.
 * @param now epoch ms
 * @returns epoch ms, or undefined when the zone is unknown or the date impossible
 */
export const resolveWall = (zone: string, wall: WallTime, now: number): number | undefined => {
  if (!Number.isFinite(now) || Math.abs(now) > 8e15) return undefined
  const today = wallAt(zone, now)
  if (today === undefined) return undefined
  const at = (year: number, month: number, day: number): number | undefined =>
    instantOf(zone, { year, month, day, hour: wall.hour, minute: wall.minute, second: wall.second ?? 0 })
  if (wall.month !== undefined && wall.day !== undefined) {
    const dated = at(wall.year ?? today.year, wall.month, wall.day)
    // "Oct 6" without a year, read in the days before it or just after: next year only when it is long gone.
    return wall.year === undefined && dated !== undefined && dated < now - DAY_MS ? at(today.year + 1, wall.month, wall.day) : dated
  }
  for (let days = 0; days < 3; days += 1) {
    const date = new Date(Date.UTC(today.year, today.month - 1, today.day + days))
    const candidate = at(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
    if (candidate !== undefined && candidate > now) return candidate
  }
  return undefined
}
