import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fact } from '../../src/events/facts.ts'
import type { Problem } from '../../src/audit/problems.ts'
import { BLOCK, readSession } from '../../src/audit/reader.ts'
import { frame, statedFrame, story, TestLog } from './helpers.ts'

let dir: string
beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'audit-reader-')) })
afterEach(() => { rmSync(dir, { recursive: true, force: true }) })

async function read(content: Buffer | string, name = 'x.jsonl', full = false) {
  const path = join(dir, name)
  writeFileSync(path, content)
  const facts: Fact['type'][] = []
  const problems: Problem[] = []
  const { isLog } = await readSession(path, { step: ({ fact }) => facts.push(fact.type) > 0, report: problem => problems.push(problem), full })
  return { facts, problems, isLog, path }
}

/** Where the blocks of a frame begin that states its size. */
function blocksOf(frame: Buffer): number[] {
  const descriptor = frame[4]!
  const single = (descriptor & 0x20) !== 0
  const found: number[] = []
  for (let at = 5 + (single ? 0 : 1) + [single ? 1 : 0, 2, 4, 8][descriptor >> 6]!, last = false; !last;) {
    found.push(at)
    const head = frame.readUIntLE(at, 3)
    last = (head & 1) === 1
    at += 3 + (((head >> 1) & 3) === 1 ? 1 : head >> 3)
  }
  return found
}

const text = story().text
const lines = text.trimEnd().split('\n')
const frames = (): Buffer[] => lines.map(line => frame(`${line}\n`))
const whole = lines.length

describe('a log', () => {
  it('is read plain, in one frame, in many frames, and with frames that hold no bytes of it', async () => {
    const skippable = Buffer.from([0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3])
    const stated = lines.map(line => statedFrame(`${line}\n`))
    for (const content of [text, frame(text), statedFrame(text), Buffer.concat(frames()), Buffer.concat(stated), Buffer.concat([stated[0]!, ...frames().slice(1)]), Buffer.concat([skippable, ...frames()])]) {
      const { facts, problems, isLog } = await read(content)
      expect([facts.length, problems, isLog]).toEqual([whole, [], true])
    }
  })

  it('is read to the same facts where every line has to be parsed', async () => {
    for (const content of [text, Buffer.concat(frames())]) expect((await read(content, 'x.jsonl', true)).facts).toEqual((await read(content)).facts)
  })

  it('may be larger than what is looked at in one go, plain and packed', async () => {
    // Packed it is as large as plain, nearly: what a session holds of random text.
    const noise = Array.from({ length: 4_000 }, (_, index) => JSON.stringify({ type: 'tool/result', seq: index, time: index, data: { text: randomBytes(300).toString('base64') } }))
    const spread = lines.flatMap((line, index) => [...noise.slice(index * 100, index * 100 + 100), line])
    const log = [...noise, ...spread, ...noise].map(line => `${line}\n`)
    expect(log.join('').length).toBeGreaterThan(6 * BLOCK)
    const small = Array.from({ length: Math.ceil(log.length / 7) }, (_, index) => frame(log.slice(index * 7, index * 7 + 7).join('')))
    for (const content of [log.join(''), Buffer.concat(small), frame(log.join(''))]) {
      const { facts, problems } = await read(content)
      expect([facts.length, problems]).toEqual([whole, []])
    }
  })

  it('is packed by the host in frames that do not say how much they hold, and those of the tests are the same', async () => {
    const made = await promisify(zstdCompress)(Buffer.from(text), { params: { [constants.ZSTD_c_checksumFlag]: 1 } })
    // Without a size in its header, unlike what Node's synchronous call makes.
    expect([made[4], frame(text)[4], statedFrame(text)[4]! >> 6]).toEqual([0x04, 0x04, 1])
    expect(zstdDecompressSync(frame(text)).toString()).toBe(text)
    expect((await read(made)).facts).toHaveLength(whole)
  })

  it('is told apart by its first bytes, not by its name', async () => {
    expect((await read(frame(text), 'session.jsonl')).facts).toHaveLength(whole)
    expect((await read(text, 'session.jsonl.zstd')).facts).toHaveLength(whole)
  })

  it('may end inside a line: said with its place, and no error', async () => {
    const { facts, problems } = await read(text.slice(0, -20))
    expect(facts).toHaveLength(whole - 1)
    expect(problems).toMatchObject([{ offset: text.lastIndexOf('{"type":"turn/end"'), unreadable: false, unpacked: false }])
  })

  it('may end inside a frame: what it still gives is read', async () => {
    const packed = Buffer.concat(frames())
    const { facts, problems, isLog } = await read(packed.subarray(0, -9))
    expect(isLog).toBe(true)
    expect(facts.length).toBeGreaterThanOrEqual(whole - 1)
    const start = packed.length - frames().at(-1)!.length
    expect(problems[0]).toMatchObject({ offset: start, unreadable: false, text: expect.stringContaining('Zstandard frame') })
  })

  it('may have a frame that is damaged: said with its place, and the frames behind it are read', async () => {
    const parts = frames()
    const broken = Buffer.from(parts[3]!)
    broken[broken.length - 1]! ^= 0xFF
    const { facts, problems } = await read(Buffer.concat([...parts.slice(0, 3), broken, ...parts.slice(4)]))
    expect(facts).toHaveLength(whole - 1)
    expect(problems).toMatchObject([{ offset: parts.slice(0, 3).reduce((sum, part) => sum + part.length, 0), unreadable: true }])
  })

  it('loses one frame to a bit in it, wherever the bit is, and says so; the frames behind it are read', async () => {
    const parts = frames()
    const before = parts.slice(0, 3).reduce((sum, part) => sum + part.length, 0)
    for (let bit = 0; bit < 8 * parts[3]!.length; bit += 1) {
      const broken = Buffer.from(parts[3]!)
      broken[bit >> 3]! ^= 1 << (bit & 7)
      const { facts, problems } = await read(Buffer.concat([...parts.slice(0, 3), broken, ...parts.slice(4)]))
      // A flipped window size changes nothing.
      if (facts.length === whole) continue
      expect([bit, facts.length]).toEqual([bit, whole - 1])
      expect(problems[0]).toMatchObject({ offset: before, unreadable: true })
    }
  })

  it('is read as packed where its very first bytes are damaged', async () => {
    const parts = frames()
    parts[0]![0]! ^= 1
    const { facts, problems } = await read(Buffer.concat(parts))
    expect([facts.length, problems[0]]).toEqual([whole - 1, expect.objectContaining({ offset: 0, unreadable: true })])
  })

  it('may hold a frame that breaks off before others: those are read', async () => {
    const parts = frames()
    for (let length = 5; length < parts[3]!.length; length += 7) {
      const { facts, problems } = await read(Buffer.concat([...parts.slice(0, 3), parts[3]!.subarray(0, length), ...parts.slice(4)]))
      expect([length, facts.length, problems[0]?.unreadable]).toEqual([length, whole - 1, true])
    }
  })

  it('may say in a frame that it holds nothing, and lie', async () => {
    const row = `${lines[0]!.slice(0, -1)},"pad":"${'x'.repeat(200)}"}`
    const stated = statedFrame(`${row}\n`)
    const lying = Buffer.from(stated)
    // The bytes of the size, whatever their number is.
    for (let at = 5; at < 5 + [1, 2, 4, 8][stated[4]! >> 6]!; at += 1) lying[at] = 0
    const { problems } = await read(Buffer.concat([lying, ...frames()]))
    expect(problems[0]).toMatchObject({ offset: 0, unreadable: true })
  })

  it('may be damaged in a frame that is too large to hold: nothing throws, and what comes before it is read', async () => {
    const noise = Array.from({ length: 15_000 }, (_, index) => `${JSON.stringify({ type: 'tool/result', seq: index, time: index, data: { text: randomBytes(400).toString('base64') } })}\n`).join('')
    const large = zstdCompressSync(Buffer.from(noise))
    expect(large.length).toBeGreaterThan(5 * 1024 * 1024)
    for (const at of blocksOf(large).filter((_, index, all) => index % 8 === 0 || index === all.length - 2)) {
      const broken = Buffer.from(large)
      broken[at]! |= 6
      const { facts, problems } = await read(Buffer.concat([...frames(), broken]))
      expect([at, facts.length, problems.some(({ unreadable }) => unreadable)]).toEqual([at, whole, true])
    }
  })

  it('leaves no file open that was not read to its end', async () => {
    const path = join(dir, 'x.jsonl')
    for (const content of [text, Buffer.concat(frames()), Buffer.from([0x1F, 0x8B, 8, 0])]) {
      writeFileSync(path, content)
      const open = (): number => readdirSync('/proc/self/fd').length
      const before = open()
      for (let round = 0; round < 20; round += 1) await readSession(path, { step: () => false, report() {} })
      expect(open()).toBeLessThanOrEqual(before)
    }
  })

  it('may have bytes between frames that are none', async () => {
    const parts = frames()
    const { facts, problems } = await read(Buffer.concat([...parts.slice(0, 5), Buffer.from('rubbish, and more of it'), ...parts.slice(5)]))
    expect(facts).toHaveLength(whole)
    expect(problems[0]).toMatchObject({ offset: parts.slice(0, 5).reduce((sum, part) => sum + part.length, 0), unreadable: true })
  })

  it('may hold lines that are none, also before its first row', async () => {
    const { facts, problems } = await read(`garbage\n${text}{"no":"type"}\n[1]\n`)
    expect(facts).toHaveLength(whole)
    expect(problems.map(({ offset, unreadable }) => [offset, unreadable])).toEqual([[text.length + 8, true], [text.length + 22, true], [0, true]])
  })

  it('may hold events that nobody knows: each type is said once, and is no error', async () => {
    const { problems } = await read(new TestLog().row('future/thing', {}).row('future/thing', {}).row('future/other', {}).text)
    expect(problems).toHaveLength(2)
    expect(problems.every(problem => !problem.unreadable)).toBe(true)
  })

  it('is read through one frame that is too large to hold', async () => {
    const chunk = `${JSON.stringify({ type: 'assistant/chunk', seq: 1, time: 1, data: { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text: 'x'.repeat(200) } } })}\n`
    const { facts, problems } = await read(zstdCompressSync(Buffer.from(chunk.repeat(100_000) + text)))
    expect([facts.length, problems]).toEqual([whole, []])
  })
})

describe('what is no log', () => {
  it.each([
    ['nothing', ''], ['text', 'hello\nworld\n'.repeat(1_000)], ['other JSON', '{"a":1}\n'], ['random bytes', Buffer.from(Array.from({ length: 5_000 }, (_, index) => index * 7919 % 256))],
    ['gzip', Buffer.from([0x1F, 0x8B, 8, 0])], ['a packed text', frame('hello\n')], ['the beginning of a frame', Buffer.from([0x28, 0xB5, 0x2F, 0xFD])],
  ])('%s: said, and nothing throws', async (_name, content) => {
    const { problems, isLog, facts } = await read(content)
    expect([isLog, facts]).toEqual([false, []])
    expect(problems.at(-1)?.unreadable).toBe(true)
  })

  it('a file that is not there, and a directory', async () => {
    mkdirSync(join(dir, 'd'))
    for (const path of [join(dir, 'none'), join(dir, 'd')]) {
      const problems: Problem[] = []
      await readSession(path, { step: () => true, report: problem => problems.push(problem) })
      expect(problems).toMatchObject([{ file: path, unreadable: true }])
    }
  })
})
