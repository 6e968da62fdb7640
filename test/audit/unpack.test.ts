import { describe, expect, it } from 'vitest'
import { MAGIC } from '../../src/audit/frames.ts'
import { type Limits, unpack } from '../../src/audit/unpack.ts'
import { frame, story } from './helpers.ts'

/** A frame of blocks that each say one byte 128 KB over: four bytes of a file for each block. */
function swollen(blocks: number, sound = true): Buffer {
  const block = (last: boolean): Buffer => {
    const head = Buffer.alloc(4)
    head.writeUIntLE((128 * 1024 << 3) | (1 << 1) | (last ? 1 : 0), 0, 3)
    head[3] = 0x20
    return head
  }
  // With a checksum that is wrong it is unpacked in vain.
  return Buffer.concat([MAGIC, Buffer.from([sound ? 0 : 4, 0x58]), ...Array.from({ length: blocks }, (_, index) => block(index === blocks - 1)), Buffer.alloc(sound ? 0 : 4)])
}

async function* of(...parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield part
}

async function read(file: Buffer, limits?: Limits): Promise<{ bytes: number; lost: string[] }> {
  const come = { bytes: 0, lost: [] as string[] }
  for await (const piece of unpack(of(file), limits)) {
    if ('bytes' in piece) come.bytes += piece.bytes.length
    else come.lost.push(piece.text)
  }
  return come
}

const MB = 1024 * 1024
const limits: Limits = { bytes: 20 * MB, timesPacked: 100 }
const STOPPED = expect.stringContaining('it unpacks to far more than a log does')

describe('what unpacking may cost', () => {
  it('is bounded for frames that unpack to hundreds of times what a log does', async () => {
    const file = Buffer.concat(Array.from({ length: 200 }, () => swollen(64)))
    expect(file.length).toBeLessThan(0.1 * MB)
    const { bytes, lost } = await read(file, limits)
    expect(lost).toEqual([STOPPED])
    // The limit, and one batch beyond it.
    expect(bytes).toBeLessThan(limits.bytes + limits.timesPacked * file.length + 16 * MB)
    expect((await read(file.subarray(0, file.length / 50))).lost).toEqual([])
  })

  it('is bounded for frames that are unpacked in vain', async () => {
    const { bytes, lost } = await read(Buffer.concat(Array.from({ length: 200 }, () => swollen(64, false))), limits)
    expect(bytes).toBe(0)
    expect(lost.at(-1)).toEqual(STOPPED)
    expect(lost.length).toBeLessThan(10)
  })

  it('is bounded inside one frame that is unpacked as a stream', async () => {
    const { bytes, lost } = await read(swollen(2_000), limits)
    expect(lost).toEqual([STOPPED])
    expect(bytes).toBeLessThan(limits.bytes + 2 * MB)
  })

  it('is far below the bound for a log as the host packs it', async () => {
    const file = Buffer.concat(Array.from({ length: 300 }, (_, index) => frame(story(`s${index}`).text)))
    const { bytes, lost } = await read(file, { bytes: 0, timesPacked: 20 })
    expect([bytes > file.length, lost]).toEqual([true, []])
  })
})
