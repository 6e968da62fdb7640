import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classifyFailure, parseReset, type FailureInput } from '../../../src/classify.ts'
import { cutMessage } from '../../../src/policy/judge/rules/facts.ts'
import { RULES } from '../../../src/policy/judge/rules/table.ts'

const KINDS = ['spent-allowance', 'rate-limit', 'auth', 'context', 'server', 'other']

const fragment = fc.constantFrom(
  'quota', 'exceeded', ' ', '429', '{"error":{"code":"', '"}}', 'resets at ', '2026-09-01', '10:30pm', '(Europe/Berlin)', '|1760000400', 'in 3h20m', 'per minute', '上限', '余额不足', '，', '\\"', 'https://a.b/c', '\n', '\u0000', '\ud800', '%s', 'Retry-After: ', '-1', '99999999999999999999',
)
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.array(fragment, { maxLength: 40 }).map(parts => parts.join('')))
const failure = fc.oneof(
  fc.anything(),
  fc.record({ code: fc.oneof(text, fc.anything()), message: fc.oneof(text, fc.anything()), status: fc.oneof(fc.integer(), fc.anything()), provider: fc.oneof(text, fc.anything()), providerRetryAfterMs: fc.oneof(fc.double(), fc.anything()) }, { requiredKeys: [] }),
)
const clock = fc.oneof(fc.integer({ min: 0, max: 4e12 }), fc.double())

describe('whatever arrives', () => {
  test('an answer comes back, and the same one twice', () => {
    fc.assert(fc.property(failure, clock, (input, now) => {
      const first = classifyFailure(input as FailureInput, { now })
      expect(KINDS).toContain(first.kind)
      expect(first.reason).not.toBe('')
      expect(RULES.map(rule => rule.id).concat('none')).toContain(first.rule)
      if (first.resetsAt !== undefined) expect(Number.isFinite(first.resetsAt)).toBe(true)
      if (first.throttle === true) expect(first.kind).toBe('spent-allowance')
      expect(classifyFailure(input as FailureInput, { now })).toEqual(first)
    }), { numRuns: 400 })
  })

  test('an object that throws when read is an empty one', () => {
    const hostile = new Proxy({}, { get: () => { throw new Error('no') } })
    expect(classifyFailure(hostile, { now: 0 })).toMatchObject({ kind: 'other', rule: 'none' })
  })

  test('the hint is made of the provider\'s own characters', () => {
    fc.assert(fc.property(text, message => {
      const { hint } = parseReset(message, { now: 0 })
      if (hint !== undefined) expect(message).toContain(hint)
    }), { numRuns: 400 })
  })
})

describe('long text', () => {
  test('only a bounded part of it is looked at, from both ends', () => {
    fc.assert(fc.property(fc.string({ minLength: 1, maxLength: 20 }), piece => {
      expect(cutMessage(piece.repeat(Math.ceil(200_000 / piece.length))).length).toBeLessThanOrEqual(8_001)
    }), { numRuns: 50 })
    expect(classifyFailure({ message: `${'x '.repeat(100_000)} insufficient balance` }, { now: 0 }).kind).toBe('spent-allowance')
    expect(classifyFailure({ message: `insufficient balance ${'x '.repeat(100_000)}` }, { now: 0 }).kind).toBe('spent-allowance')
  })

  test('200 KB of any fragment are answered', () => {
    fc.assert(fc.property(fc.array(fragment, { minLength: 1, maxLength: 3 }), parts => {
      const piece = parts.join('')
      expect(KINDS).toContain(classifyFailure({ message: piece.repeat(Math.ceil(200_000 / piece.length)) }, { now: 0 }).kind)
    }), { numRuns: 40 })
  })

  test('no rule repeats a repetition without bound', () => {
    for (const rule of RULES)
      for (const value of Object.values(rule))
        if (value instanceof RegExp) expect(value.source, rule.id).not.toMatch(/[+*]\)[+*]|\{\d+,\}\)[+*{]/)
  })
})
