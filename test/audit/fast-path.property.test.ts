import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isKnown, isRead, READ_TYPES } from '../../src/audit/event-types.ts'
import { Lines } from '../../src/audit/lines.ts'
import { borrow } from '../../src/audit/scanner.ts'
import { decodeEvent } from '../../src/events/decode.ts'
import type { Fact } from '../../src/events/facts.ts'

const scanner = borrow()!

/** The facts of a log, its bytes given in parts as small as the disk may give them. */
function factsOf(log: Buffer, full: boolean, part: number): Fact[] {
  const facts: Fact[] = []
  const lines = new Lines({
    row: (value) => {
      const fact = decodeEvent(value)
      if (fact !== undefined) facts.push(fact)
    },
    unknown() {}, broken() {}, tooLong() {},
  }, full ? null : scanner)
  // One buffer for all parts, as the reader has it: what is kept of a part must be a copy.
  const block = Buffer.alloc(part)
  for (let at = 0; at < log.length; at += part) {
    const length = log.copy(block, 0, at, at + part)
    lines.push(block.subarray(0, length))
  }
  lines.end()
  return facts
}

/** Texts that try to pass for structure. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }), fc.string(),
  fc.constantFrom(
    '{"type":"llm/retry"', '"type":"llm/retry"', '\n{"type":"turn/end","seq":1,"time":1,"data":{"turn":1}}\n', '"finish"', 'finish"', '\\"finish\\"', 'finish',
    '"error"', '\\u0022finish\\u0022', '\u2028', '\u0000', '\ud800', '额度已用尽', '"}}', '}', '\\', '\\\\"', '{"type":"assistant/chunk",',
  ),
)
const number = fc.oneof(fc.nat(), fc.constant(-1), fc.double())
const failure = fc.record({ code: fc.oneof(fc.constant('QUOTA'), hostile), message: hostile, status: fc.option(fc.integer(), { nil: undefined }) })
const reason = fc.oneof(fc.record({ kind: fc.constant('error'), failure }), fc.record({ kind: fc.constantFrom('stop', 'aborted', 'error') }), fc.record({ failure, kind: fc.constant('error') }))
const chunk = fc.oneof(
  fc.record({ type: fc.constantFrom('text-delta', 'reasoning-delta', 'finish'), index: number, text: hostile }),
  fc.record({ type: fc.constant('finish'), reason }), fc.record({ reason, type: fc.constant('finish') }), fc.record({ text: hostile, type: fc.constant('finish'), reason }),
)
const route = fc.record({ provider: hostile, model: hostile })
const place = { turn: fc.nat(3), step: fc.nat(3) }
const planned = fc.record({ ...place, retryId: hostile, retry: fc.nat(5), provider: hostile, failure, delayMs: number, policyKey: fc.oneof(
  fc.constant('["llm-quota-retry","wait",3600000]'), fc.constant('["llm-quota-retry","move","p","b","n"]'), hostile) })
const data = fc.oneof(
  fc.record({ ...place, chunk }),
  fc.record({ ...place, message: fc.record({ role: fc.constant('assistant'), content: fc.array(fc.record({ type: fc.constant('text'), text: hostile, source: route })), source: route }) }),
  planned,
  fc.record({ header: fc.record({ config: route, system: hostile }), reason: hostile }),
  fc.record({ turn: fc.nat(3), reason: fc.record({ kind: hostile }) }),
  fc.record({ commandId: hostile, name: fc.constantFrom('quota-retry', 'quota-pool'), args: fc.constantFrom(' on', ' off', ' status'), source: fc.record({ kind: fc.constantFrom('plugin', 'user') }), kind: fc.constantFrom('success', 'error') }),
  fc.record({ ...place, stream: fc.array(fc.record({ chunk })) }),
  fc.record({ ...place, index: fc.nat(), dt: fc.array(fc.nat()), texts: fc.array(hostile) }),
  fc.anything(),
)
const type = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...READ_TYPES) }, { weight: 3, arbitrary: fc.constantFrom('assistant/chunk', 'text-chunks', 'tool/result', 'user/message') }, hostile)
const row = fc.record({ type, seq: number, time: number, data, id: hostile, createdAt: number })
/** An answer as the host writes it, whose content is not even read: anything that could end it too early or too late. */
const nested = fc.letrec(tie => ({
  value: fc.oneof({ depthSize: 'small' }, hostile, number, fc.array(tie('value'), { maxLength: 3 }), fc.dictionary(hostile, tie('value'), { maxKeys: 3 }), fc.constantFrom('],"source":{"provider":"x","model":"y"}}}}', '[', ']', '\\"]', '{', null, true)),
})).value
const answer = fc.record({
  type: fc.constant('assistant/message'), seq: fc.nat(), time: fc.nat(), data: fc.record({
    turn: fc.nat(3), step: fc.nat(3),
    message: fc.record({ role: fc.constant('assistant'), content: fc.array(nested, { maxLength: 4 }), source: fc.oneof(route, fc.record({ kind: fc.constant('model'), provider: hostile, model: hostile, more: nested })) }, { requiredKeys: ['role', 'content'] }),
    interrupted: fc.boolean(),
  }, { requiredKeys: ['turn', 'step', 'message'] }),
  sourceEventSeqs: fc.array(fc.nat()),
}, { requiredKeys: ['type', 'seq', 'time', 'data'] })
/** The same row as other writers could have it. */
const shape = fc.constantFrom<(value: object) => string>(
  value => JSON.stringify(value),
  value => JSON.stringify(Object.fromEntries(Object.entries(value).reverse())),
  value => ` ${JSON.stringify(value)}\r`,
  value => JSON.stringify(value).replaceAll(',"', ', "').replaceAll('":', '": '),
  value => JSON.stringify(value).replace(/[^\x20-\x7E]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  value => JSON.stringify(value).replace('finish', '\\u0066inish'),
  value => JSON.stringify(value).replace('"type"', '"ty\\u0070e"'),
  value => JSON.stringify(value).replace('/', '\\u002f'),
  value => JSON.stringify(value).replace('/', '\\/'),
  value => JSON.stringify(value).slice(0, -1),
)
const line = fc.oneof({ weight: 4, arbitrary: answer.map(value => JSON.stringify(value)) }, { weight: 1, arbitrary: fc.tuple(answer, shape).map(([value, write]) => write(value)) }, { weight: 8, arbitrary: fc.tuple(row, shape).map(([value, write]) => write(value) ?? 'null') }, hostile)
const log = fc.tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '')).map(([lines, end]) => Buffer.from(lines.join('\n') + end))

describe('the fast path', () => {
  it('gives the same facts as parsing every line, for any log', () => {
    fc.assert(fc.property(log, fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constant(1 << 16)), (bytes, part) => {
      expect(factsOf(bytes, false, part)).toEqual(factsOf(bytes, true, 1 << 20))
    }), { numRuns: 3_000 })
  })

  it('finds the end of an answer, whatever brackets, quotes and backslashes its texts hold', () => {
    fc.assert(fc.property(fc.array(fc.anything({ values: [hostile], withNullPrototype: false })), fc.string(), (content, behind) => {
      const array = JSON.stringify(content)
      const held = scanner.block.subarray(0, scanner.block.write(`${array}${behind}`))
      expect(scanner.close(held, 1, held.length)).toBe(Buffer.byteLength(array))
      // Nothing behind the end is looked at.
      expect(scanner.close(held, 1, Buffer.byteLength(array) - 1)).toBe(-1)
    }), { numRuns: 500 })
  })

  it('does see what it must: a log with every kind of fact gives them all', () => {
    const golden = readFileSync(new URL('../golden/recovered-wait.jsonl', import.meta.url))
    const kinds = new Set(factsOf(golden, false, 77).map(fact => fact.type))
    expect([...kinds].sort()).toEqual(['answered', 'attemptStarted', 'requestFailed', 'routed', 'sessionOpened', 'stepEnded', 'stepStarted', 'turnEnded', 'turnStarted', 'waitPlanned'])
  })

  it('knows every type that the decoder reads', () => {
    const source = readFileSync(new URL('../../src/events/decode.ts', import.meta.url), 'utf8')
    const table = source.slice(source.indexOf('const DECODERS'), source.indexOf('\n])', source.indexOf('const DECODERS')))
    const types = [...table.matchAll(/\['([a-z/-]+)',/g)].map(match => match[1]!)
    expect(types.length).toBeGreaterThan(10)
    expect(types.filter(name => !isRead(name))).toEqual([])
    expect([...READ_TYPES].filter(name => name !== 'session' && !types.includes(name))).toEqual([])
  })

  it('takes packed runs and the harness\'s other rows for known', () => {
    for (const name of ['text-chunks', 'tool-call-chunks', 'tool/result', 'agent/inbox/spliced']) expect([isKnown(name), isRead(name)]).toEqual([true, false])
  })
})
