import { describe, expect, it } from 'vitest'
import { amountText, dateLanguage, durationText, instantIn, nextText, spokenText, timeText } from '../../client/time.ts'

const noon = new Date(2026, 4, 6, 12, 0).getTime()
const HOUR = 3_600_000

describe('times for the person at the page', () => {
  it.each([
    ['en', ['de-DE', 'en-GB', 'en-US'], 'en-GB'],
    ['en', ['zh-CN'], 'en'],
    ['zh', ['en-US'], 'zh-CN'],
    ['zh', ['zh-TW', 'zh-CN'], 'zh-TW'],
  ])('are written in the person\'s own variant of the page\'s language (%s of %s: %s)', (page, preferred, expected) => {
    expect(dateLanguage(page, preferred)).toBe(expected)
  })

  it.each([
    ['this day', noon + 2 * HOUR, 'en-GB', '14:00'],
    ['this day, in America', noon + 2 * HOUR, 'en-US', '2:00 PM'],
    ['tonight', noon + 11 * HOUR, 'zh-CN', '23:00'],
    ['after midnight', noon + 13 * HOUR, 'en-GB', '7 May 01:00'],
    ['in three days', noon + 3 * 24 * HOUR, 'en-US', 'May 9 12:00 PM'],
    ['in three days, in Chinese', noon + 3 * 24 * HOUR, 'zh-CN', '5月9日 12:00'],
    ['in a year', noon + 366 * 24 * HOUR, 'en-GB', '7 May 2027 12:00'],
    ['a time that no calendar holds', Number.NaN, 'en-GB', ''],
  ])('are as precise as their distance asks for: %s', (_what, at, language, expected) => {
    // Some platforms put a narrow space before the half of the day.
    expect(timeText(at, noon, language).replace(/\s/g, ' ')).toBe(expected)
  })

  it.each([
    ['two minutes ahead', noon + 120_000, 'en-GB', '12:02'],
    ['closer', noon + 119_001, 'en-GB', 'in 120 sec'],
    ['closer, in Chinese', noon + 45_000, 'zh-CN', '45秒后'],
    ['now', noon, 'en-GB', 'now'],
    ['passed', noon - 5_000, 'en-GB', 'now'],
    ['a time that no calendar holds', Number.NaN, 'en-GB', ''],
  ])('to come are told in seconds where they are close: %s', (_what, at, language, expected) => {
    expect(nextText(at, noon, language)).toBe(expected)
  })

  it.each([
    ['403: {"message":"You\'ve reached your \\"plan\\" limit","type":"x"}', 'You\'ve reached your "plan" limit'],
    ['402: {"error":{"message":"Insufficient Balance, and the text is cut off he', 'Insufficient Balance, and the text is cut off he'],
    ['Insufficient Balance', 'Insufficient Balance'],
    ['{"message":"cut in an escape \\u26', 'cut in an escape \\u26'],
  ])('are told apart from what a provider wraps its words in: %s', (text, expected) => {
    expect(spokenText(text)).toBe(expected)
  })

  it.each([
    [0, 'en-GB', '0 secs'], [45_400, 'en-GB', '45 secs'], [60_000, 'en-GB', '1 min'], [119_000, 'en-GB', '119 secs'], [121_000, 'en-GB', '2 mins 1 sec'], [HOUR, 'en-GB', '1 hr'], [HOUR + 5 * 60_000, 'en-GB', '1 hr 5 mins'],
    [26 * HOUR, 'en-GB', '1 day 2 hrs'], [HOUR + 1_000, 'en-GB', '1 hr'], [-5, 'en-GB', '0 secs'], [2 * HOUR, 'zh-CN', '2小时'],
  ])('durations in their two largest units: %s (%s) is %s', (ms, language, expected) => {
    expect(durationText(ms, language)).toBe(expected)
  })

  it('amounts without false precision', () => {
    expect([0.123456, 12.5, 1234.56].map(value => amountText(value, 'en-GB'))).toEqual(['0.12', '12.5', '1,235'])
  })

  it('instants only where they can be read in one way', () => {
    expect(instantIn('resets 2026-01-01T00:00:00Z, or 2026-05-06T12:00:00+02:00')).toBe(Date.parse('2026-05-06T10:00:00Z'))
    expect(instantIn('resets at 2026-05-06T12:00:00')).toBeNaN()
    expect(instantIn('tomorrow')).toBeNaN()
  })
})
