// As a whole: a named import of what an older Node does not have would keep the command from starting at all.
import * as zlib from 'node:zlib'
import { BadFrame, FrameWalker } from './frames.ts'
import { type Frame, Packed } from './packed.ts'
import { type Decoder, loadDecoder } from './zstd.ts'

/** Most bytes that frames may unpack to which are unpacked together. The host writes one for each append, of a few KB. */
const BATCH = 8 * 1024 * 1024
/** Most that a frame may take, packed, or unpacked, to be unpacked at once. A larger one is nothing that the harness wrote. */
const LARGE_PACKED = 4 * 1024 * 1024
const LARGE = 16 * 1024 * 1024
/** Whether this Node unpacks larger ones; 22.15 is the first that does. */
const unpacksLarge = typeof (zlib as { createZstdDecompress?: unknown }).createZstdDecompress === 'function'

/** What unpacking gives: bytes of the log, or a place where some are lost. */
export type Piece =
  | { readonly bytes: Buffer }
  /** `torn`: the file ends inside the frame, as it does when the host was killed. */
  | { readonly lost: 'torn' | 'damaged'; readonly offset: number; readonly text: string }

const damaged = (offset: number, why: string): Piece => ({ lost: 'damaged', offset, text: `a Zstandard frame cannot be unpacked (${why}); reading goes on behind it` })
const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/** Whole frames. They are unpacked together, and one by one where one of them is damaged. */
function* unpackFrames(packed: Packed, frames: readonly Frame[], decoder: Decoder): Generator<Piece> {
  const all = contentOf(packed, frames, decoder)
  if (all !== null) return void (yield { bytes: all })
  for (const frame of frames) {
    const bytes = contentOf(packed, [frame], decoder)
    yield bytes === null ? damaged(packed.offset + frame.start, 'its content is damaged') : { bytes }
  }
}

/** What frames that follow one another hold, or `null` where one of them is damaged. */
function contentOf({ bytes }: Packed, frames: readonly Frame[], decoder: Decoder): Buffer | null {
  const bound = frames.reduce((sum, frame) => sum + frame.bound, 0)
  const stated = frames.every(({ size }) => size !== undefined)
  const content = decoder.unpack(bytes.subarray(frames[0]?.start, frames.at(-1)?.end), bound)
  return stated && content?.length !== bound ? null : content
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
async function* stream(packed: Packed, walker: FrameWalker): AsyncGenerator<Piece> {
  const unpacker = zlib.createZstdDecompress({ chunkSize: 256 * 1024, finishFlush: zlib.constants.ZSTD_e_flush })
  const feed = (async () => {
    for await (const piece of rest(packed, walker)) {
      if (unpacker.destroyed) return
      if (!unpacker.write(piece)) await drained(unpacker)
    }
    unpacker.end()
  })()
  try {
    for await (const bytes of unpacker) yield { bytes: bytes as Buffer }
  } finally {
    unpacker.destroy()
    // The frame is walked to its end even when it cannot be unpacked, so that the next one is found.
    await feed
    for await (const _piece of rest(packed, walker)) continue
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

async function* unpackLarge(packed: Packed): AsyncGenerator<Piece> {
  const start = packed.offset
  const walker = new FrameWalker()
  try {
    if (unpacksLarge) yield* stream(packed, walker)
    else for await (const _piece of rest(packed, walker)) continue
    if (!unpacksLarge) yield damaged(start, `it is larger than the harness writes them, which needs Node 22.15 or later; this is ${process.version}`)
    else if (!walker.done) yield torn(start)
  } catch (error) {
    if (error instanceof BadFrame) throw error
    yield walker.done ? damaged(start, messageOf(error)) : torn(start)
  }
}

const torn = (offset: number): Piece => ({ lost: 'torn', offset, text: 'the file ends inside a Zstandard frame; what it still gives was read' })

/** The file ends inside a frame. */
function* unpackTorn(packed: Packed, decoder: Decoder): Generator<Piece> {
  for (const bytes of decoder.beginning(packed.bytes)) yield { bytes }
  yield torn(packed.offset)
  packed.drop(packed.bytes.length)
}

/** What comes next in the file. */
async function* next(packed: Packed, decoder: Decoder): AsyncGenerator<Piece> {
  const { frames, bad } = packed.cut(BATCH)
  const last = frames.at(-1)
  if (last !== undefined && last.bound <= LARGE) {
    yield* unpackFrames(packed, frames, decoder)
    packed.drop(last.end)
  } else if (last !== undefined || packed.bytes.length > LARGE_PACKED) {
    yield* unpackLarge(packed)
  } else if (bad !== undefined) {
    throw bad
  } else if (!await packed.more()) {
    yield* unpackTorn(packed, decoder)
  }
}

/**
 * Unpack a file of Zstandard frames put end to end, one after another.
 *
 * @param source - the bytes of the file; each buffer is used before the next is asked for.
 * @returns its content in order, and the places where some of it is lost. Only the source throws.
 */
export async function* unpack(source: AsyncIterable<Buffer>): AsyncGenerator<Piece> {
  const packed = new Packed(source)
  const decoder = await loadDecoder()
  while (packed.bytes.length > 0 || await packed.more()) {
    const start = packed.offset
    try {
      yield* next(packed, decoder)
    } catch (error) {
      if (!(error instanceof BadFrame)) throw error
      yield { lost: 'damaged', offset: start, text: `${error.message}; reading goes on at the next frame` }
      if (packed.offset === start) await packed.resync()
    }
  }
}
