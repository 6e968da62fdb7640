import { BadFrame, FrameWalker, MAGIC } from './frames.ts'

/** Places at which the beginning of a frame is looked for behind one that breaks off. */
const TRIES = 1_000

/** A whole frame, by its place in the bytes at hand. */
export interface Frame {
  readonly start: number
  readonly end: number
  /** Bytes that its blocks unpack to at most. What it says itself is a stranger's word, and the host's own say nothing. */
  readonly bound: number
}

/** What the bytes at hand begin with: whole frames, and why there are no more of them. */
export interface Cut {
  readonly frames: readonly Frame[]
  readonly bad?: BadFrame
}

/** A packed file, of which a part is at hand. */
export class Packed {
  /** What was read and not yet taken. */
  bytes: Buffer = Buffer.alloc(0)
  /** Place in the file of the first of them. */
  offset = 0
  private readonly source: AsyncIterator<Buffer>

  /** @param source - the bytes of the file; each buffer is used before the next is asked for. */
  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]()
  }

  /** Have more bytes at hand; `false` at the end of the file. */
  async more(): Promise<boolean> {
    // The source uses its buffer again.
    const rest = this.bytes.length === 0 ? this.bytes : Buffer.from(this.bytes)
    const next = await this.source.next()
    this.bytes = next.done === true ? rest : rest.length === 0 ? next.value : Buffer.concat([rest, next.value])
    return next.done !== true
  }

  /** No more is wanted. */
  async close(): Promise<void> {
    await this.source.return?.()
  }

  /** The first bytes at hand are dealt with. */
  drop(count: number): void {
    this.bytes = this.bytes.subarray(count)
    this.offset += count
  }

  /** Go on at the next place where a frame may begin, behind the first byte at hand. */
  async resync(): Promise<void> {
    this.drop(Math.min(1, this.bytes.length))
    while (this.bytes.length > 0 || await this.more()) {
      const found = this.bytes.indexOf(MAGIC)
      if (found !== -1) return this.drop(found)
      // The beginning of one may stand at the end.
      const kept = Math.min(this.bytes.length, MAGIC.length - 1)
      this.drop(this.bytes.length - kept)
      if (!await this.more()) return this.drop(kept)
    }
  }

  /** Whether a frame that is whole begins somewhere behind the first byte at hand: then the first one is not merely cut off. */
  holdsAnother(isSound: (frame: Frame) => boolean): boolean {
    for (let start = this.bytes.indexOf(MAGIC, 1), tries = 0; start !== -1 && tries < TRIES; start = this.bytes.indexOf(MAGIC, start + 1), tries += 1) {
      const walker = new FrameWalker()
      try {
        const end = walker.take(this.bytes, start)
        if (walker.done && isSound({ start, end, bound: walker.bound })) return true
      } catch {
        // No frame begins here.
      }
    }
    return false
  }

  /**
   * The whole frames that come next.
   *
   * @param most - bytes that they may unpack to, together.
   */
  cut(most: number): Cut {
    const frames: Frame[] = []
    let total = 0
    for (let start = 0; start < this.bytes.length;) {
      const walker = new FrameWalker()
      try {
        const end = walker.take(this.bytes, start)
        if (!walker.done) break
        const { bound } = walker
        total += bound
        if (total > most && frames.length > 0) break
        frames.push({ start, end, bound })
        start = end
      } catch (bad) {
        if (bad instanceof BadFrame) return { frames, bad }
        throw bad
      }
    }
    return { frames }
  }
}
