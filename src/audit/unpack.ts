// As a whole: a named import of what an older Node does not have would keep the command from starting at all.
import * as zlib from 'node:zlib'
import { BadFrame, contentSize, FRAME_MAGIC, FrameWalker } from './frames.ts'

/** Whether this Node can unpack Zstandard; 22.15 is the first that does. */
export const canUnpack = typeof (zlib as { createZstdDecompress?: unknown }).createZstdDecompress === 'function'

/** Frames up to this many packed bytes are held whole; the harness's own, one for each append, are far smaller. */
const SMALL = 4 * 1024 * 1024
/** Most that a frame held whole may unpack to, in bytes; a larger one is passed on in parts. */
const SMALL_UNPACKED = 16 * 1024 * 1024
/** Bytes unpacked at a time. */
const OUT = 256 * 1024
const MAGIC = Buffer.from([0x28, 0xB5, 0x2F, 0xFD])
const TORN = 'the file ends inside a Zstandard frame; what it still gives was read'

/** What unpacking gives: bytes of the log, or a place where some are lost. */
export type Piece =
  | { readonly bytes: Buffer }
  /** `torn`: the file ends inside the frame, as it does when the host was killed. */
  | { readonly lost: 'torn' | 'damaged'; readonly offset: number; readonly text: string }

/** The packed file, as a row of pieces that can be looked into. */
class Packed {
  private readonly source: AsyncIterator<Buffer>
  private chunk: Buffer = Buffer.alloc(0)
  private at = 0
  /** Offset in the file of the chunk's first byte. */
  private base = 0

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]()
  }

  get offset(): number {
    return this.base + this.at
  }

  /** Whether there is more; afterwards the next bytes are at hand. */
  async more(): Promise<boolean> {
    while (this.at >= this.chunk.length) {
      this.base += this.chunk.length
      this.at = 0
      this.chunk = Buffer.alloc(0)
      const next = await this.source.next()
      if (next.done === true) return false
      this.chunk = next.value
    }
    return true
  }

  /** The next piece of the frame that the walker follows. */
  piece(walker: FrameWalker): Buffer {
    const from = this.at
    this.at = walker.take(this.chunk, from)
    return this.chunk.subarray(from, this.at)
  }

  /** Go on at the next magic number. */
  async resync(): Promise<void> {
    this.at += 1
    while (await this.more()) {
      const found = this.chunk.indexOf(MAGIC, this.at)
      this.at = found === -1 ? this.chunk.length : found
      if (found !== -1) return
    }
  }

  /** Pieces to the end of the frame. */
  async* rest(walker: FrameWalker): AsyncGenerator<Buffer> {
    while (!walker.done && await this.more()) yield Buffer.from(this.piece(walker))
  }
}

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/** A frame that is too large to hold: unpacked as a stream. What cannot be unpacked is thrown. */
async function* stream(first: readonly Buffer[], packed: Packed, walker: FrameWalker): AsyncGenerator<Piece> {
  const unpacker = zlib.createZstdDecompress({ chunkSize: 256 * 1024, finishFlush: zlib.constants.ZSTD_e_flush })
  async function* all(): AsyncGenerator<Buffer> {
    yield* first
    yield* packed.rest(walker)
  }
  const feed = (async () => {
    for await (const piece of all()) {
      if (unpacker.destroyed) return
      if (!unpacker.write(piece)) await new Promise<void>((resolve) => { unpacker.once('drain', resolve).once('close', resolve) })
    }
    unpacker.end()
  })()
  try {
    for await (const bytes of unpacker) yield { bytes: bytes as Buffer }
  } finally {
    unpacker.destroy()
    // The frame is walked to its end even when it cannot be unpacked, so that the next one is found.
    await feed
    for await (const _piece of packed.rest(walker)) continue
  }
}

/**
 * Unpacks whole frames, one after another. One decoder serves all: written to a frame at a time it begins the next by
 * itself, works beside this thread, and spares a decoder for each of ten thousand appends.
 */
class FrameUnpacker {
  private decoder: zlib.ZstdDecompress | undefined

  /**
   * @param frame - a whole frame.
   * @returns its content. Rejects when it is damaged, or holds more than it says.
   */
  unpack(frame: Buffer): Promise<Buffer> {
    this.decoder ??= zlib.createZstdDecompress({ chunkSize: OUT })
    const decoder = this.decoder
    const parts: Buffer[] = []
    let size = 0
    return new Promise((resolve, reject) => {
      const end = (error?: Error | null): void => {
        decoder.removeAllListeners()
        if (error === undefined || error === null) return resolve(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts))
        // A decoder that failed is of no more use.
        decoder.on('error', () => {}).destroy()
        this.decoder = undefined
        reject(error)
      }
      const take = (): void => {
        for (let part = decoder.read() as Buffer | null; part !== null; part = decoder.read() as Buffer | null) {
          parts.push(part)
          size += part.length
        }
        if (size > 2 * SMALL_UNPACKED) end(new Error('it holds more than it says'))
      }
      decoder.on('readable', take).on('error', end)
      decoder.write(frame, (error) => {
        if (this.decoder !== decoder) return
        if (error === undefined || error === null) take()
        end(error)
      })
    })
  }

  close(): void {
    this.decoder?.destroy()
  }
}

/** A frame as it was cut out of the file. */
interface Cut {
  readonly start: number
  readonly walker: FrameWalker
  /** All of it, or as much as is held. */
  readonly bytes: Buffer
}

async function cut(packed: Packed): Promise<Cut> {
  const start = packed.offset
  const walker = new FrameWalker()
  const pieces: Buffer[] = []
  let size = 0
  while (!walker.done && size <= SMALL && await packed.more()) {
    const piece = packed.piece(walker)
    pieces.push(Buffer.from(piece))
    size += piece.length
  }
  return { start, walker, bytes: pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces) }
}

const damaged = (offset: number, error: unknown): Piece =>
  ({ lost: 'damaged', offset, text: `a Zstandard frame cannot be unpacked (${messageOf(error)}); reading goes on behind it` })

const isContent = ({ bytes }: Cut): boolean => bytes.length < 4 || bytes.readUInt32LE(0) === FRAME_MAGIC
const isSmall = ({ walker, bytes }: Cut): boolean => walker.done && (contentSize(bytes) ?? Number.POSITIVE_INFINITY) <= SMALL_UNPACKED

/** A frame that is not small and whole: too large to hold, or cut off by the end of the file. */
async function* difficult(frame: Cut, packed: Packed): AsyncGenerator<Piece> {
  const { start, walker, bytes } = frame
  try {
    if (!walker.done && bytes.length <= SMALL) yield { bytes: zlib.zstdDecompressSync(bytes, { finishFlush: zlib.constants.ZSTD_e_flush, maxOutputLength: SMALL_UNPACKED }) }
    else yield* stream([bytes], packed, walker)
    if (!walker.done) yield { lost: 'torn', offset: start, text: TORN }
  } catch (error) {
    if (error instanceof BadFrame) throw error
    if (walker.done) yield damaged(start, error)
    else yield { lost: 'torn', offset: start, text: 'the file ends inside a Zstandard frame, which gives nothing any more' }
  }
}

/** The frame at hand; `held` is what the one before gave, and is passed on while this one is unpacked. */
async function* next(packed: Packed, unpacker: FrameUnpacker, held: Piece[]): AsyncGenerator<Piece, Piece[]> {
  const frame = await cut(packed)
  if (!isContent(frame)) {
    for await (const _skippable of packed.rest(frame.walker)) continue
    return held
  }
  if (isSmall(frame)) {
    const piece = unpacker.unpack(frame.bytes).then((bytes): Piece => ({ bytes }), (error: unknown) => damaged(frame.start, error))
    yield* held
    return [await piece]
  }
  yield* held
  yield* difficult(frame, packed)
  return []
}

/**
 * Unpack a file of Zstandard frames put end to end, one after another.
 *
 * @param source - the bytes of the file; each buffer is used before the next is asked for.
 * @returns its content in order, and the places where some of it is lost. Only the source throws.
 */
export async function* unpack(source: AsyncIterable<Buffer>): AsyncGenerator<Piece> {
  const packed = new Packed(source)
  const unpacker = new FrameUnpacker()
  let held: Piece[] = []
  try {
    while (await packed.more()) {
      const start = packed.offset
      try {
        held = yield* next(packed, unpacker, held)
      } catch (error) {
        if (!(error instanceof BadFrame)) throw error
        held = [...held, { lost: 'damaged', offset: start, text: `${error.message}; reading goes on at the next frame` }]
        await packed.resync()
      }
    }
    yield* held
  } finally {
    unpacker.close()
  }
}
