import { describe, expect, test } from 'vitest'
import { parseReset } from '../../../src/classify.ts'

const now = Date.parse('2026-08-28T10:00:00Z')
const read = (message: unknown, providerRetryAfterMs?: number) => parseReset(message, { now, providerRetryAfterMs })
const iso = (message: string) => {
  const { resetsAt } = read(message)
  return resetsAt === undefined ? undefined : new Date(resetsAt).toISOString()
}

describe('a time that leaves no doubt is resolved', () => {
  test.each([
    ['Claude AI usage limit reached|1760000400', '2025-10-09T09:00:00.000Z'],
    ['Claude AI usage limit reached|1760000400123', '2025-10-09T09:00:00.123Z'],
    ['{"type":"usage_limit_reached","resets_at":1777936568,"resets_in_seconds":13872}', '2026-05-04T23:16:08.000Z'],
    ['{"resets_in_seconds":3600}', '2026-08-28T11:00:00.000Z'],
    ['"X-RateLimit-Reset":"1741305600000"', '2025-03-07T00:00:00.000Z'],
    ['It will reset at 2026-08-28 22:38:22 +0800 CST. We recommend', '2026-08-28T14:38:22.000Z'],
    ['resets at 2026-05-15T15:00:00Z (2056)', '2026-05-15T15:00:00.000Z'],
    ['available again at 2026-05-15T15:00:00.123+02:00', '2026-05-15T13:00:00.000Z'],
    ['resets at 2026-09-19 23:17:45 (UTC+8)', '2026-09-19T15:17:45.000Z'],
    ['限额将在北京时间 2026-09-19 23:17:45 重置', '2026-09-19T15:17:45.000Z'],
    ['You will regain access on 2026-09-01 at 00:00 UTC.', '2026-09-01T00:00:00.000Z'],
    ['You will regain access on 2026-09-01 (UTC)', '2026-09-01T00:00:00.000Z'],
    ['resets Oct 6, 1pm (Europe/Berlin)', '2026-10-06T11:00:00.000Z'],
    ['resets Dec 1, 2026 at 5:30 AM UTC', '2026-12-01T05:30:00.000Z'],
  ])('given %j', (message, expected) => {
    expect(iso(message)).toBe(expected)
  })

  test.each([
    ['Please try again in 7m12s. Visit', 432],
    ['Please try again in 4.77s.', 4.77],
    ['try again in 3h20m', 12_000],
    ['try again in 5 days 22 hours 11 minutes.', 511_860],
    ['Please try again in 58 hours.', 208_800],
    ['Your quota will reset after 1h43m56s.', 6_236],
    ['[retrying in 10h 7m attempt #1]', 36_420],
    ['إعادة المحاولة خلال 62056 ثواني - المحاولة رقم 1', 62_056],
    ['请在3小时20分钟后重试', 12_000],
    ['3時間20分後に再試行', 12_000],
    ['Resets in 19hr', 68_400],
    ['resets in 1d 4h', 100_800],
    ['try again in an hour', 3_600],
    ['Retry-After: 30', 30],
    ["'retryDelay': '26s'", 26],
    ['Please wait 36127 seconds before retrying.', 36_127],
  ])('given %j, then it counts from now', (message, seconds) => {
    expect(read(message).resetsAt).toBe(now + seconds * 1000)
  })
})

describe('clock times in a named zone', () => {
  test.each([
    ['resets 10:30pm (Europe/Berlin)', '2026-08-28T20:30:00.000Z'],
    ['Your limit will reset at 3pm (America/Bogota).', '2026-08-28T20:00:00.000Z'],
    ['resets 1:30am (Asia/Dhaka)', '2026-08-28T19:30:00.000Z'],
    ['resets UTC 16:00', '2026-08-28T16:00:00.000Z'],
    ['resets at 09:00 UTC', '2026-08-29T09:00:00.000Z'],
    ['limit resets at midnight UTC', '2026-08-29T00:00:00.000Z'],
    ['resets at 12am (UTC)', '2026-08-29T00:00:00.000Z'],
    ['resets at 12pm (UTC)', '2026-08-28T12:00:00.000Z'],
  ])('given %j, then the next such instant', (message, expected) => {
    expect(iso(message)).toBe(expected)
  })

  test('given a night when the clocks go back, then the zone decides', () => {
    const before = Date.parse('2026-10-24T20:00:00Z')
    expect(parseReset('resets 9am (Europe/Berlin)', { now: before }).resetsAt).toBe(Date.parse('2026-10-25T08:00:00Z'))
  })

  test('given an hour that the change to summer time skips, then the moment after it', () => {
    const before = Date.parse('2026-03-28T20:00:00Z')
    const { resetsAt } = parseReset('resets 2:30am (Europe/Berlin)', { now: before })
    expect(resetsAt).toBeGreaterThanOrEqual(Date.parse('2026-03-29T00:30:00Z'))
    expect(resetsAt).toBeLessThanOrEqual(Date.parse('2026-03-29T01:30:00Z'))
  })

  test('given a date without a year at the turn of the year, then the coming one', () => {
    const december = Date.parse('2026-12-30T12:00:00Z')
    expect(parseReset('resets Jan 2, 9am (UTC)', { now: december }).resetsAt).toBe(Date.parse('2027-01-02T09:00:00Z'))
  })
})

describe('a time that leaves a doubt is a hint only', () => {
  test.each([
    ['Your limit will reset at 2026-09-19 23:17:45', 'Your limit will reset at 2026-09-19 23:17:45'],
    ['您的限额将在 2026-08-25 07:41:44 重置。', '您的限额将在 2026-08-25 07:41:44 重置'],
    ['wait until your credits reset on July 1, 2026 at 5:30 AM.', 'your credits reset on July 1, 2026 at 5:30 AM'],
    ['Seu limite de uso será redefinido em 10 de jul. de 2026, 11:52.', 'será redefinido em 10 de jul. de 2026, 11:52'],
    ['try again at 3:05 PM', 'try again at 3:05 PM'],
    ['resets 3pm\n/upgrade', 'resets 3pm'],
    ['You will regain access on 2026-09-01', 'You will regain access on 2026-09-01'],
    ['Resets at 2am (Etc/Nowhere)', 'Resets at 2am (Etc/Nowhere)'],
    ['available again at 2026-13-45T00:00:00Z', 'available again at 2026-13-45T00:00:00Z'],
    ['Your quota will reset when the current 7-day window ends. To continue', 'Your quota will reset when the current 7-day window ends'],
    ['or wait for limits to reset (every 5h and every week.).', 'wait for limits to reset (every 5h and every week.)'],
    ['Your quota will be refreshed in the next cycle. To', 'Your quota will be refreshed in the next cycle'],
    ['您的限额将在 ${next_flush_time} 重置', '您的限额将在 ${next_flush_time} 重置'],
  ])('given %j', (message, hint) => {
    const answer = read(message)
    expect(answer.resetsAt).toBeUndefined()
    expect(answer.hint).toContain(hint)
  })

  test.each(['24 hours rolling window', 'limit of 5 hours reached', 'Usage limit reached for 5 hour.', 'Please try again later', 'failed at 2026-08-28T09:59:00Z: quota exceeded', '', null, undefined, 42, {}])(
    'given %j, then nothing is said', message => {
      expect(read(message).resetsAt).toBeUndefined()
    })
})

describe('several statements', () => {
  test('given a stale line and a newer refusal, then the newer one counts', () => {
    expect(iso('Usage limit reached|1760000400\nretrying...\nUsage limit reached|1787900000')).toBe(new Date(1_787_900_000_000).toISOString())
  })

  test('given a newest statement without a zone, then no older one is used in its place', () => {
    expect(read('Try again in 5s. Your limit will reset at 2026-09-19 23:17:45')).toEqual({ hint: 'Your limit will reset at 2026-09-19 23:17:45' })
  })
})

describe("the provider's header", () => {
  test('given a positive length, then it counts from now', () => {
    expect(read('Try again later', 90_000)).toEqual({ resetsAt: now + 90_000 })
  })

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('given %d, then it is ignored', length => {
    expect(read('Overloaded', length).resetsAt).toBeUndefined()
    expect(read('try again in 10s', length).resetsAt).toBe(now + 10_000)
  })

  test('given an absurd future, then it comes back as it is', () => {
    expect(read('', 99_999_999_000).resetsAt).toBe(now + 99_999_999_000)
    expect(read('Please retry after 2147483648 seconds').resetsAt).toBe(now + 2_147_483_648_000)
  })
})
