import { describe, expect, it } from 'vitest'
import { clockText, durationText, oneLine } from '../../src/projections/text.ts'
import { NOON } from '../support/build.ts'

describe('a duration', () => {
  it.each([
    [-5, '0 ms'], [0, '0 ms'], [300, '300 ms'], [999.4, '999 ms'], [999.6, '1 s'], [45_000, '45 s'], [60_000, '1 min'], [61_400, '1 min 1 s'], [2_998, '3 s'], [1_799_998, '30 min'],
    [7_500_000, '2 h 5 min'], [3_600_000, '1 h'], [90_000_000, '1 d 1 h'], [2_147_483_647, '24 d 20 h'],
  ])('%d ms reads %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })
})

describe('a point in time', () => {
  it('reads as a clock on the reader\'s wall', () => {
    expect(clockText(NOON, 'UTC')).toBe('2026-09-01 12:00:00')
    expect(clockText(NOON, 'America/New_York')).toBe('2026-09-01 08:00:00')
  })

  it('is a number when no calendar holds it', () => {
    expect(clockText(1e300)).toBe('1e+300')
  })
})

describe('foreign text on one line', () => {
  it('has no line of its own and no control', () => {
    expect(oneLine('  a\r\n\tb\u0000c\u2029 ', 50)).toBe('a b c')
  })

  it('is cut, not within a character', () => {
    expect(oneLine('ab😀cd', 4)).toBe('ab…')
    expect(oneLine('x'.repeat(1_000_000), 10)).toBe('xxxxxxxxx…')
  })
})
