/**
 * Finds the ends of Zstandard frames by their block headers, without unpacking anything: a frame does not state its own
 * length, and the magic number may occur inside packed bytes.
 */

/** First bytes of a frame, little-endian. */
export const FRAME_MAGIC = 0xFD2FB528
const SKIPPABLE_MAGIC = 0x184D2A50
const CHECKSUM_BYTES = 4
const RLE_BLOCK = 1
const COMPRESSED_BLOCK = 2
const RESERVED_BLOCK = 3

/** Whether bytes begin a frame that holds no content. */
export const isSkippable = (frame: Buffer): boolean => frame.length >= 4 && (frame.readUInt32LE(0) & 0xFFFFFFF0) >>> 0 === SKIPPABLE_MAGIC

/** A frame whose headers make no sense. */
export class BadFrame extends Error {}

/**
 * How many bytes a frame says it unpacks to. Only a hint: it is a stranger's word.
 *
 * @param frame - the beginning of a frame.
 */
export function contentSize(frame: Buffer): number | undefined {
  const descriptor = frame[4] ?? 0
  const single = (descriptor & 0x20) !== 0
  const at = 5 + (single ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0)
  const width = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  if (width === 0 || frame.length < at + width) return undefined
  if (width === 8) return Number(frame.readBigUInt64LE(at))
  return frame.readUIntLE(at, width) + (width === 2 ? 256 : 0)
}

/** Most bytes that one block unpacks to. */
const BLOCK_MAX = 128 * 1024

type State = 'magic' | 'descriptor' | 'header' | 'block' | 'payload' | 'checksum' | 'length' | 'done'

/** Follows one frame through its bytes, in pieces of any size. */
export class FrameWalker {
  private state: State = 'magic'
  /** Bytes that the state still wants. */
  private wants = 4
  /** The wanted bytes so far, little-endian. */
  private value = 0
  private got = 0
  private last = false
  private checksum = false
  private most = 0

  /** Most bytes that the blocks so far unpack to. */
  get bound(): number {
    return this.most
  }

  /** Whether the frame is whole. */
  get done(): boolean {
    return this.state === 'done'
  }

  /**
   * Take bytes of the frame.
   *
   * @param bytes - a piece of the file.
   * @param from - where the frame goes on in it.
   * @returns where the frame ends in the piece, or the piece's length.
   * @throws BadFrame when these bytes can be no frame.
   */
  take(bytes: Buffer, from: number): number {
    let at = from
    while (at < bytes.length && this.state !== 'done') {
      if (this.state === 'payload' || this.state === 'checksum') {
        const step = Math.min(this.wants, bytes.length - at)
        at += step
        this.wants -= step
      } else {
        this.value += (bytes[at] ?? 0) * 2 ** (8 * this.got)
        at += 1
        this.got += 1
        this.wants -= 1
      }
      if (this.wants === 0) this.next()
    }
    return at
  }

  private next(): void {
    const { value, state } = this
    this.value = 0
    this.got = 0
    switch (state) {
      case 'magic': return this.magic(value)
      case 'descriptor': return this.descriptor(value)
      case 'header': return this.enter('block', 3)
      case 'block': return this.block(value)
      case 'length': return this.enter('checksum', value)
      case 'payload': return this.last ? this.enter('checksum', this.checksum ? CHECKSUM_BYTES : 0) : this.enter('block', 3)
      default:
        this.state = 'done'
    }
  }

  /** Enter a state; one that wants nothing is over at once. */
  private enter(state: State, wants: number): void {
    this.state = state
    this.wants = wants
    if (wants === 0) this.next()
  }

  private magic(value: number): void {
    if (value === FRAME_MAGIC) return this.enter('descriptor', 1)
    if (value >= SKIPPABLE_MAGIC && value <= SKIPPABLE_MAGIC + 0xF) return this.enter('length', 4)
    throw new BadFrame('no Zstandard frame begins here')
  }

  private descriptor(value: number): void {
    if ((value & 0x08) !== 0) throw new BadFrame('a reserved bit of the frame is set')
    const single = (value & 0x20) !== 0
    const size = [single ? 1 : 0, 2, 4, 8][value >> 6] ?? 0
    const dictionary = [0, 1, 2, 4][value & 3] ?? 0
    this.checksum = (value & 0x04) !== 0
    const rest = (single ? 0 : 1) + dictionary + size
    this.enter('header', rest)
  }

  private block(value: number): void {
    const type = (value >> 1) & 3
    if (type === RESERVED_BLOCK) throw new BadFrame('a block of a reserved type')
    this.last = (value & 1) === 1
    this.most += type === COMPRESSED_BLOCK ? BLOCK_MAX : value >> 3
    this.enter('payload', type === RLE_BLOCK ? 1 : value >> 3)
  }
}
