// As a whole: a named import of what an older Node does not have would keep the command from starting at all.
import * as zlib from 'node:zlib'
import { BadFrame, FrameWalker, wholeBlocks } from './frames.ts'
import { type Frame, Packed } from './packed.ts'
import { type Decoder, loadDecoder } from './zstd.ts'

/** Most bytes that frames may unpack to which are unpacked together. The host writes one for each append, of a few KB. */
const BATCH = 8 * 1024 * 1024
/** Most that a frame may take, packed, or unpacked, to be unpacked at once. A larger one is nothing that the harness wrote. */
const LARGE_PACKED = 4 * 1024 * 1024
const LARGE = 16 * 1024 * 1024
/** Whether this Node unpacks larger ones; 22.15 is the first that does. */
const unpacksLarge = typeof (zlib as { createZstdDecompress?: unknown }).createZstdDecompress === 'function'

/** Damaged frames after which the rest of a file is given up. */
const MOST_LOST = 1_000

/**
 * How much work a file may cost: so many bytes unpacked, in vain or not, and so many more for each byte of the file. A
 * host's log unpacks to five times its size; a file of a few MB that unpacks to hundreds of GB is none, and would take hours.
 */
export interface Limits { readonly bytes: number; readonly timesPacked: number }
const LIMITS: Limits = { bytes: 2 * 1024 ** 3, timesPacked: 100 }

/** Counts what unpacking costs. */
class Work {
  private readonly limits: Limits
  private spent = 0
  private packed = 0

  constructor(limits: Limits) {
    this.limits = limits
  }

  /** Whether the file costs more than a log may. */
  get exhausted(): boolean {
    return this.spent > this.limits.bytes + this.limits.timesPacked * this.packed
  }

  /** The bytes of a file, counted. */
  async* source(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of bytes) {
      this.packed += part.length
      yield part
    }
  }

  /** A decoder whose work is counted, and which unpacks nothing once there is too much of it. */
  decoder({ unpack }: Decoder): Decoder {
    return {
      unpack: (frames, bound) => {
        if (this.exhausted) return null
        const content = unpack(frames, bound)
        // In vain it may have come to the very end.
        this.add(content?.length ?? bound)
        return content
      },
    }
  }

  add(bytes: number): void {
    this.spent += bytes
  }
}

/** What unpacking gives: bytes of the log, or a place where some are lost. */
export type Piece =
  | { readonly bytes: Buffer }
  /** `torn`: the file ends inside the frame, as it does when the host was killed. */
  | { readonly lost: 'torn' | 'damaged'; readonly offset: number; readonly text: string }

const damaged = (offset: number, why: string): Piece => ({ lost: 'damaged', offset, text: `a Zstandard frame cannot be unpacked (${why}); reading goes on behind it` })
const torn = (offset: number): Piece => ({ lost: 'torn', offset, text: 'the file ends inside a Zstandard frame; what it still gives was read' })
const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/** What frames that follow one another hold, or `null` where one of them is damaged. */
const contentOf = ({ bytes }: Packed, frames: readonly Frame[], decoder: Decoder): Buffer | null =>
  decoder.unpack(bytes.subarray(frames[0]?.start, frames.at(-1)?.end), frames.reduce((sum, { bound }) => sum + bound, 0))

/**
 * Whole frames. They are unpacked together, and one by one where one of them is damaged: behind that one the next is
 * looked for byte by byte, since where it ends is not to be trusted.
 */
async function* unpackFrames(packed: Packed, frames: readonly Frame[], decoder: Decoder): AsyncGenerator<Piece> {
  const all = contentOf(packed, frames, decoder)
  if (all !== null) {
    yield { bytes: all }
    return packed.drop(frames.at(-1)?.end ?? 0)
  }
  for (const frame of frames) {
    const bytes = contentOf(packed, [frame], decoder)
    if (bytes === null) {
      yield damaged(packed.offset + frame.start, 'its content is damaged')
      packed.drop(frame.start)
      return packed.resync()
    }
    yield { bytes }
  }
  packed.drop(frames.at(-1)?.end ?? 0)
}

/** Until it takes more, or is closed. */
const drained = (unpacker: zlib.ZstdDecompress): Promise<void> => new Promise((resolve) => {
  const go = (): void => {
    unpacker.off('drain', go).off('close', go)
    resolve()
  }
  unpacker.on('drain', go).on('close', go)
})

/** A frame that is too large to hold: unpacked as a stream. What cannot be unpacked is thrown. */
async function* stream(packed: Packed, walker: FrameWalker, work: Work): AsyncGenerator<Piece> {
  const unpacker = zlib.createZstdDecompress({ chunkSize: 256 * 1024, finishFlush: zlib.constants.ZSTD_e_flush })
  const feed = (async () => {
    for await (const piece of rest(packed, walker)) {
      if (unpacker.destroyed) return
      if (!unpacker.write(piece)) await drained(unpacker)
    }
    unpacker.end()
  })().catch((error: unknown) => { unpacker.destroy(error instanceof Error ? error : new Error(String(error))) })
  try {
    for await (const bytes of unpacker) {
      work.add((bytes as Buffer).length)
      yield { bytes: bytes as Buffer }
    }
  } finally {
    unpacker.destroy()
    await feed
  }
}

/** Pieces to the end of the frame that the walker follows. */
async function* rest(packed: Packed, walker: FrameWalker): AsyncGenerator<Buffer> {
  while (!walker.done && (packed.bytes.length > 0 || await packed.more())) {
    const end = walker.take(packed.bytes, 0)
    const piece = Buffer.from(packed.bytes.subarray(0, end))
    packed.drop(end)
    yield piece
  }
}

async function* unpackLarge(packed: Packed, work: Work): AsyncGenerator<Piece> {
  const start = packed.offset
  const walker = new FrameWalker()
  try {
    if (unpacksLarge) yield* stream(packed, walker, work)
    else for await (const _piece of rest(packed, walker)) continue
    if (!unpacksLarge) yield damaged(start, `it is larger than the host writes them, which needs Node 22.15 or later; this is ${process.version}`)
    else if (!walker.done) yield torn(start)
  } catch (error) {
    yield damaged(start, messageOf(error))
    if (!walker.done) await packed.resync()
  }
}

/** Whether a sound frame begins in what should be a frame's own bytes: then that one does not end where it says. */
function overruns(packed: Packed, decoder: Decoder): boolean {
  return packed.holdsAnother(({ start, end, bound }) => bound <= LARGE && decoder.unpack(packed.bytes.subarray(start, end), bound) !== null)
}

async function* skip(packed: Packed): AsyncGenerator<Piece> {
  yield damaged(packed.offset, 'it does not end where it says')
  await packed.resync()
}

/** The file ends inside a frame. */
function* unpackTorn(packed: Packed, decoder: Decoder): Generator<Piece> {
  const whole = wholeBlocks(packed.bytes)
  const bytes = whole === undefined ? null : decoder.unpack(whole, LARGE)
  if (bytes !== null) yield { bytes }
  yield torn(packed.offset)
  packed.drop(packed.bytes.length)
}

/** What comes next in the file. */
async function* next(packed: Packed, decoder: Decoder, work: Work): AsyncGenerator<Piece> {
  const { frames, bad } = packed.cut(BATCH)
  const last = frames.at(-1)
  if (last !== undefined && last.bound <= LARGE) {
    yield* unpackFrames(packed, frames, decoder)
  } else if (bad !== undefined) {
    throw bad
  } else if (last !== undefined || packed.bytes.length > LARGE_PACKED) {
    yield* last === undefined && overruns(packed, decoder) ? skip(packed) : unpackLarge(packed, work)
  } else if (!await packed.more()) {
    yield* overruns(packed, decoder) ? skip(packed) : unpackTorn(packed, decoder)
  }
}

/**
 * Unpack a file of Zstandard frames put end to end, one after another.
 *
 * @param source - the bytes of the file; each buffer is used before the next is asked for.
 * @param limits - how much work it may be; tests pass their own.
 * @returns its content in order, and the places where some of it is lost. Only the source throws.
 */
export async function* unpack(source: AsyncIterable<Buffer>, limits: Limits = LIMITS): AsyncGenerator<Piece> {
  const work = new Work(limits)
  const packed = new Packed(work.source(source))
  const decoder = work.decoder(await loadDecoder())
  let lost = 0
  try {
    while (packed.bytes.length > 0 || await packed.more()) {
      const start = packed.offset
      try {
        for await (const piece of next(packed, decoder, work)) {
          if (work.exhausted) return yield { lost: 'damaged', offset: start, text: 'it unpacks to far more than a log does, or is damaged in too many places; the rest is not read' }
          if ('lost' in piece) lost += 1
          yield piece
        }
      } catch (error) {
        if (!(error instanceof BadFrame)) throw error
        lost += 1
        yield { lost: 'damaged', offset: start, text: `${error.message}; reading goes on at the next frame` }
        if (packed.offset === start) await packed.resync()
      }
      if (lost > MOST_LOST) return yield { lost: 'damaged', offset: packed.offset, text: `more than ${MOST_LOST} frames are damaged; the rest is not read` }
    }
  } finally {
    await packed.close()
  }
}
