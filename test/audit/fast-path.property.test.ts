import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Deltas } from '../../src/audit/deltas.ts'
import { isKnown, isRead, READ_TYPES } from '../../src/audit/event-types.ts'
import { Lines } from '../../src/audit/lines.ts'
import { tellsNothing } from '../../src/audit/plain-rows.ts'
import { decodeEvent } from '../../src/events/decode.ts'
import type { Fact } from '../../src/events/facts.ts'

/** What is found in a log: its facts, and every word about what is no row. */
interface Told { readonly facts: Fact[]; readonly words: unknown[] }

/** Its bytes are given in parts as small as the disk may give them. */
function told(log: Buffer, full: boolean, part: number): Told {
  const facts: Fact[] = []
  const words: unknown[] = []
  const lines = new Lines({
    row: (value) => {
      const fact = decodeEvent(value)
      if (fact !== undefined) facts.push(fact)
    },
    unknown: (...what) => { words.push(['unknown', ...what]) },
    broken: (...what) => { words.push(['broken', ...what]) },
    tooLong: (...what) => { words.push(['tooLong', ...what]) },
  }, full)
  // One buffer for all parts, as the reader has it: what is kept of a part must be a copy.
  const block = Buffer.alloc(part)
  for (let at = 0; at < log.length; at += part) {
    const length = log.copy(block, 0, at, at + part)
    lines.push(block.subarray(0, length))
  }
  lines.end()
  words.push(['is a log', lines.isLog, 'hopeless', lines.hopeless])
  return { facts, words }
}
const factsOf = (log: Buffer, full: boolean, part: number): Fact[] => told(log, full, part).facts

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

/** A delta as the host writes it, most often. */
const delta = fc.record({
  type: fc.constant('assistant/chunk'), seq: fc.oneof({ weight: 9, arbitrary: fc.nat() }, { weight: 1, arbitrary: number }), time: fc.nat(), data: fc.record({
    ...place, chunk: fc.record({ type: fc.constantFrom('text-delta', 'reasoning-delta', 'tool-delta', 'finish'), index: fc.nat(9), text: fc.oneof(fc.string(), fc.constant(' a word'), fc.constant('\n\t"\\'), hostile) }),
  }),
}).map(value => JSON.stringify(value))
/** Rows that tell nothing, or hold a word that makes them worth a look. */
const plain = fc.record({
  type: fc.constantFrom('tool/result', 'user/message', 'text-chunks', 'assistant/chunk', 'turn/end', 'future/x'), seq: number, time: number,
  data: fc.oneof(fc.dictionary(fc.constantFrom('type', 'data', 'chunk', 'x'), nested), fc.record({ ...place, chunk: fc.record({ type: fc.constantFrom('block-end', 'usage', 'finish'), block: nested }) })),
  more: nested,
}).map(value => JSON.stringify(value))
/** Behind every delta so many bytes must stand that it can be compared whole. */
const PAD = JSON.stringify({ type: 'tool/result', seq: 1, time: 1, data: { text: 'x'.repeat(600) } })
const stream = fc.array(fc.oneof({ weight: 12, arbitrary: delta }, { weight: 4, arbitrary: plain }, { weight: 1, arbitrary: line }), { minLength: 5, maxLength: 40, size: 'max' })
  .map(lines => Buffer.from([...lines, PAD, ''].join('\n')))
/** What befalls a file: a byte is another, some are gone, some come in, or a part stands twice. */
const damage = fc.record({ at: fc.nat(), kind: fc.constantFrom('flip', 'cut', 'put', 'twice'), size: fc.integer({ min: 1, max: 30 }), byte: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...Buffer.from('"\\{}[],:\n\r0-.'))) })
function damaged(bytes: Buffer, { at, kind, size, byte }: { at: number; kind: string; size: number; byte: number }): Buffer {
  // Not in the pad: then what is before it is still looked at.
  const place = at % Math.max(1, bytes.length - PAD.length - 1)
  const [before, here, behind] = [bytes.subarray(0, place), bytes.subarray(place, place + size), bytes.subarray(place + size)]
  if (kind === 'cut') return Buffer.concat([before, behind])
  if (kind === 'put') return Buffer.concat([before, Buffer.alloc(size % 3 + 1, byte), here, behind])
  if (kind === 'twice') return Buffer.concat([before, here, here, behind])
  return Buffer.concat([before, Buffer.from([byte]), here.subarray(1), behind])
}
const parts = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 600, max: 3_000 }), fc.constant(1 << 16))

/** Lines of a log that are passed over, of both kinds. */
function passed(bytes: Buffer): { deltas: number; plain: number } {
  const deltas = new Deltas()
  const count = { deltas: 0, plain: 0 }
  for (let at = 0; at < bytes.length;) {
    const next = deltas.pass(bytes, at)
    count.deltas += deltas.passed
    const end = bytes.indexOf(0x0A, next)
    if (end === -1) break
    if (tellsNothing(bytes, next, end)) count.plain += 1
    at = end + 1
  }
  return count
}

describe('the fast path', () => {
  it('gives the same facts and the same words as parsing every line, for any log', () => {
    fc.assert(fc.property(log, parts, (bytes, part) => {
      expect(told(bytes, false, part)).toEqual(told(bytes, true, 1 << 20))
    }), { numRuns: 500 })
  })

  it('does so for streams of deltas, whole and damaged, most of which it passes over', () => {
    const seen = { lines: 0, deltas: 0, plain: 0, damaged: 0, broken: 0, passedDamaged: 0 }
    fc.assert(fc.property(stream, fc.array(damage, { maxLength: 3 }), parts, (whole, harms, part) => {
      const bytes = harms.reduce(damaged, whole)
      const reference = told(bytes, true, 1 << 20)
      expect(told(bytes, false, part)).toEqual(reference)
      seen.lines += bytes.toString('latin1').split('\n').length
      const over = passed(bytes)
      seen.deltas += over.deltas
      seen.plain += over.plain
      if (harms.length === 0) return
      seen.damaged += 1
      if (over.deltas > 0) seen.passedDamaged += 1
      if (reference.words.some(word => Array.isArray(word) && word[0] === 'broken')) seen.broken += 1
    }), { numRuns: 600 })
    expect([seen.deltas / seen.lines > 0.3, seen.plain / seen.lines > 0.03]).toEqual([true, true])
    expect([seen.damaged, seen.broken, seen.passedDamaged].every(count => count > 200)).toBe(true)
  })

  it('passes over what the host writes, and nothing that JSON.parse would refuse', () => {
    const row = (text: string, kind = 'text-delta'): string => `{"type":"assistant/chunk","seq":7,"time":1796019648795,"data":{"turn":2,"step":1,"chunk":{"type":"${kind}","index":0,"text":"${text}"}}}`
    const passes = (text: string): boolean => new Deltas().pass(Buffer.from(`${text}\n${PAD}\n`), 0) > 0
    expect(['', 'Done.', '已达到', '\\n\\\\\\"', '\"finish\"'.replaceAll('"', '\\"')].map(text => passes(row(text)))).toEqual([true, true, true, true, true])
    expect([row('a"b'), row('\\x'), row('\\'), row('\u0001'), row('\\u0066'), row('x', 'finish'), row('x').slice(0, -1), `${row('x')}}`, row('x').replace('7', '07'), row('x').replace('7', '-7'), row('x').replace('7', ''), ` ${row('x')}`, `${row('x')}\r`].filter(passes)).toEqual([])
  })

  it('reads through rows that tell nothing, and nothing that JSON.parse would refuse or that may tell something', () => {
    const passes = (text: string): boolean => tellsNothing(Buffer.from(`${text}\n`), 0, Buffer.byteLength(text))
    const row = (rest: string, type = 'tool/result'): string => `{"type":"${type}",${rest}}`
    const chunk = (rest: string): string => row(`"data":{"chunk":{${rest}}}`, 'assistant/chunk')
    const through = ['"a":[1,-2.5,true,null,{}],"b":"x\\n"', '"a":[]', '"a":{"type":"x"}', '"a":"已"'].map(rest => row(rest))
    expect([...through, chunk('"type":"usage"'), chunk('"type":"block-end","text":"to finish"')].filter(text => !passes(text))).toEqual([])
    const refused = ['', '"a":01', '"a":1.', '"a":-', '"a":tru', '"a":[1,]', '"a":{,}', '"a":1,', '"a":"\t"', '"a":"\\x"', '"a":"\\u0041"', '"a" :1', '"a":1e5', '"a":1}', '"type":"turn/end"'].map(rest => row(rest))
    expect([...refused, chunk('"type":"finish"'), chunk('"type":"usage","x":["finish"]'), row('"a":1', 'turn/end'), row('"a":1', 'future/x'), row('"a":1').slice(0, -1)].filter(passes)).toEqual([])
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
