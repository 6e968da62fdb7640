import { describe, expect, it } from 'vitest'
import { parseReading, readingOf } from '../../../src/policy/pool/readings.ts'
import { NOON } from '../../support/build.ts'

const parse = (stdout: string) => parseReading(stdout, NOON)

describe('what a balance script prints', () => {
  it('is a reading when it is one JSON object with what remains', () => {
    expect(parse('{ "remaining": 42.5, "resetsAt": "2026-10-01T00:00:00Z" }')).toEqual({ remaining: 42.5, resetsAt: '2026-10-01T00:00:00Z', at: NOON })
    expect(parse('{"remaining":0}')).toEqual({ remaining: 0, at: NOON })
    expect(parse('{"remaining":-3}')).toEqual({ remaining: -3, at: NOON })
  })

  it('may have blanks and line ends around it', () => {
    expect(parse('\n  {\r\n"remaining": 1}\r\n\n')).toEqual({ remaining: 1, at: NOON })
  })

  it('may carry a unit, a maximum, a reset and the provider\'s own refusal', () => {
    expect(parse('{"remaining":1,"unit":"usd","maximum":10,"resetsAt":"tomorrow","error":"weekly limit reached"}'))
      .toEqual({ remaining: 1, unit: 'usd', maximum: 10, resetsAt: 'tomorrow', error: 'weekly limit reached', at: NOON })
  })

  it('may carry more, which is not kept', () => {
    expect(parse('{"remaining":1,"account":"sk-secret","at":5,"missing":"exit"}')).toEqual({ remaining: 1, at: NOON })
  })

  it.each([
    ['a unit', '"unit":5'], ['a unit that is a page', `"unit":"${'x'.repeat(41)}"`], ['a maximum', '"maximum":"ten"'], ['a maximum of nothing', '"maximum":0'],
    ['a reset', '"resetsAt":1767225600'], ['a reset', '"resetsAt":null'], ['an error', '"error":{"code":1}'], ['an error that is a page', `"error":"${'x'.repeat(301)}"`],
  ])('is a reading without %s that makes no sense', (_what, field) => {
    expect(parse(`{"remaining":1,${field}}`)).toEqual({ remaining: 1, at: NOON })
  })

  it.each([
    '', ' ', 'null', 'true', '42', '"42"', '[]', '[{"remaining":1}]', '{}', '{"remaining":"42"}', '{"remaining":null}', '{"remaining":true}', '{"remaining":1e999}',
    '{"remaining":-1e999}', '{"remaining":NaN}', '{"Remaining":1}', '{"left":1}', '{"remaining":1', '{"remaining":1}{"remaining":2}', '{"remaining":1}\n{"remaining":2}',
    'warming up\n{"remaining":1}', '{"remaining":1}\ndone', '\u001b[32m{"remaining":1}\u001b[0m', '<html>502 Bad Gateway</html>', '{"__proto__":{"remaining":1}}', '{"data":{"remaining":1}}',
  ])('is none when it is anything else: %j', (stdout) => {
    expect(parse(stdout)).toBeUndefined()
  })
})

describe('the reading of a provider', () => {
  it('is that of its last run', () => {
    expect(readingOf({ a: { remaining: 1, at: NOON } }, 'a')).toEqual({ remaining: 1, at: NOON })
  })

  it('is none when the last run gave none, or none was made', () => {
    expect(readingOf({ a: { missing: 'timeout', at: NOON } }, 'a')).toBeUndefined()
    for (const provider of ['b', 'constructor', '__proto__']) expect(readingOf({}, provider)).toBeUndefined()
  })
})

describe('a text that a reading carries', () => {
  it.each(['{"remaining":1,"error":"bad key sk-live\\/4711"}', '{"remaining":1,"error":"bad key \\u0073k-live/4711"}', '{"remaining":1,"error":"bad key sk-live/4711"}'])('is shown as it was decoded, however it was written: %s', (stdout) => {
    expect(parseReading(stdout, NOON, text => text.replaceAll('sk-live/4711', '[key]'))?.error).toBe('bad key [key]')
  })
})
