/**
 * Finds the ends of Zstandard frames by their block headers, without unpacking anything: a frame does not state its own
 * length, and the magic number may occur inside packed bytes.
 */

/** First bytes of a frame; in no text that is UTF-8. */
export const MAGIC = Buffer.from([0x28, 0xB5, 0x2F, 0xFD])
const FRAME_MAGIC = MAGIC.readUInt32LE(0)
const SKIPPABLE_MAGIC = 0x184D2A50
const CHECKSUM_BYTES = 4
const RLE_BLOCK = 1
const COMPRESSED_BLOCK = 2
const RESERVED_BLOCK = 3

/** Whether bytes begin a frame that holds no content. */
export const isSkippable = (frame: Buffer): boolean => frame.length >= 4 && (frame.readUInt32LE(0) & 0xFFFFFFF0) >>> 0 === SKIPPABLE_MAGIC

/** A frame whose headers make no sense. */
export class BadFrame extends Error {}

/** Bytes of a frame's header behind its magic number and descriptor, by what the descriptor says. */
function headerRest(descriptor: number): { readonly window: number; readonly dictionary: number; readonly size: number } {
  const single = (descriptor & 0x20) !== 0
  return { window: single ? 0 : 1, dictionary: [0, 1, 2, 4][descriptor & 3] ?? 0, size: [single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0 }
}

/** A window of 16 MB, as a header says it. */
const WINDOW = 0x70

/**
 * What a frame that breaks off holds in its whole blocks, as a whole frame.
 *
 * @param torn - the beginning of a frame.
 * @returns the frame; `undefined` where not one block is whole.
 */
export function wholeBlocks(torn: Buffer): Buffer | undefined {
  const descriptor = torn[4] ?? 0
  const { window, dictionary, size } = headerRest(descriptor)
  const header = 5 + window + dictionary + size
  let end = header
  let lastHead = -1
  while (end + 3 <= torn.length) {
    const head = torn.readUIntLE(end, 3)
    const next = end + 3 + (((head >> 1) & 3) === RLE_BLOCK ? 1 : head >> 3)
    if (next > torn.length) break
    lastHead = end
    end = next
  }
  if (lastHead === -1) return undefined
  // Neither its size nor its checksum is known any more.
  const whole = Buffer.concat([torn.subarray(0, 4), Buffer.from([descriptor & 3, WINDOW]), torn.subarray(5 + window, 5 + window + dictionary), torn.subarray(header, end)])
  const at = whole.length - (end - lastHead)
  whole[at] = (whole[at] ?? 0) | 1
  return whole
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
    const { window, dictionary, size } = headerRest(value)
    this.checksum = (value & 0x04) !== 0
    this.enter('header', window + dictionary + size)
  }

  private block(value: number): void {
    const type = (value >> 1) & 3
    if (type === RESERVED_BLOCK) throw new BadFrame('a block of a reserved type')
    if (value >> 3 > BLOCK_MAX) throw new BadFrame('a block that is larger than one may be')
    this.last = (value & 1) === 1
    this.most += type === COMPRESSED_BLOCK ? BLOCK_MAX : value >> 3
    this.enter('payload', type === RLE_BLOCK ? 1 : value >> 3)
  }
}
