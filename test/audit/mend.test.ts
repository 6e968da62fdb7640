import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assertLoadsLater } from '../../demo/support/loads-later.ts'
import { readLog } from '../../demo/support/session-log.ts'
import { mend } from '../../src/audit/mend.ts'
import { audit, frame, root, scratch } from './helpers.ts'

const GOLDEN = readFileSync(join(root, 'test/golden/recovered-wait.jsonl'), 'utf8')
const lines = GOLDEN.trimEnd().split('\n')
const { seq, time } = JSON.parse(lines.at(-1)!)
const OURS = { kind: 'plugin', plugin: 'llm-quota-retry' }
const run = (index: number, name: string, args: string, source: object = OURS): string[] => [
  JSON.stringify({ type: 'command/run', seq: seq + 2 * index + 1, time, data: { commandId: `c${index}`, name, args, source } }),
  JSON.stringify({ type: 'command/done', seq: seq + 2 * index + 2, time, data: { commandId: `c${index}`, kind: 'success', text: '' } }),
]
/** A log as 0.1.0 wrote it, with all that it may hold. */
const OLD = [...run(0, 'quota-retry', ' off'), ...run(1, 'quota-retry', ' inherit default'), ...run(2, 'quota-pool', ' medium'), ...run(3, 'quota-retry', ' on', { kind: 'user' })]
const TEXT = `${[...lines, ...OLD].join('\n')}\n`
const argsOf = (path: string): string[] => readLog(path).filter(({ type }) => type === 'command/run').map(({ data }) => `${data.name}${data.args} ${data.source.kind}`)
const MENDED = ['quota-retry by-plugin off user', 'quota-retry inherit default user', 'quota-pool by-plugin medium user', 'quota-retry on user']

describe('mending a log', () => {
  it.each([
    ['plain', 'a.jsonl', Buffer.from(TEXT)],
    ['packed, a frame for each row', 'a.jsonl.zstd', Buffer.concat([...lines, ...OLD].map(line => frame(`${line}\n`)))],
    ['packed, in one frame', 'a.jsonl.zstd', frame(TEXT)],
  ])('makes a copy that newer hosts load: %s', async (_, name, bytes) => {
    using place = scratch()
    const from = place.put(name, bytes)
    const to = join(place.dir, `b-${name}`)
    expect(() => { assertLoadsLater(readLog(from)) }).toThrow('source has unexpected member')
    const { code, out } = await audit(['--mend', from, '--out', to])
    expect([code, out]).toEqual([0, `${to} is a copy of ${from} in which 3 records are as newer hosts accept them\n`])
    assertLoadsLater(readLog(to))
    expect(argsOf(to)).toEqual(MENDED)
    expect(readFileSync(from)).toEqual(bytes)
    // Only the three rows differ.
    const differ = readLog(to).filter((row, index) => JSON.stringify(row) !== JSON.stringify(readLog(from)[index]))
    expect(differ.map(row => row.type)).toEqual(['command/run', 'command/run', 'command/run'])
  })

  it('keeps what is cut off, damaged or of others, byte by byte', () => {
    const others = [...run(0, 'x', ' llm-quota-retry', { kind: 'plugin', plugin: 'x' }), '{"type":"command/run","data":{"source":{"kind":"plugin","plugin":"llm-quota-retry"}', '{"text":"command/run llm-quota-retry"}', '']
    const plain = Buffer.concat([Buffer.from(others.join('\r\n')), Buffer.from([0xFF, 0x0A, 0x00]), Buffer.from(OLD[0]!)])
    expect(mend(plain)).toEqual({ bytes: plain, records: 0 })
    const whole = frame(`${OLD[0]}\n`)
    for (const tail of [whole.subarray(0, 20), Buffer.from('no frame'), Buffer.concat([whole.subarray(0, 12), Buffer.alloc(30), whole])]) {
      const { bytes, records } = mend(Buffer.concat([whole, tail]))
      expect(records).toBe(1)
      expect(bytes.subarray(-tail.length)).toEqual(tail)
    }
  })

  it('writes over nothing, and nothing where nothing is to be mended', async () => {
    using place = scratch()
    const from = place.put('a.jsonl', TEXT)
    const there = place.put('b.jsonl', 'kept')
    for (const to of [from, there]) expect(await audit(['--mend', from, '--out', to])).toMatchObject({ code: 1, err: expect.stringContaining('EEXIST') })
    expect([readFileSync(from, 'utf8'), readFileSync(there, 'utf8')]).toEqual([TEXT, 'kept'])
    const good = place.put('good.jsonl', GOLDEN)
    const to = join(place.dir, 'copy.jsonl')
    expect(await audit(['--mend', good, '--out', to])).toMatchObject({ code: 0, out: expect.stringContaining('no copy was written') })
    expect(() => readFileSync(to)).toThrow('ENOENT')
    expect(await audit(['--mend', good])).toMatchObject({ code: 2, err: expect.stringContaining('go together') })
  })
})
