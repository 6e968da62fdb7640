/** Unpacks Zstandard frames that are held whole, on any Node. */
export interface Decoder {
  /**
   * @param frames - frames put end to end.
   * @param bound - bytes that they unpack to at most, together.
   * @returns their content, or `null` where one of them is damaged.
   */
  unpack(frames: Buffer, bound: number): Buffer | null
}

/**
 * Load the package that does it; only a packed log needs it. Node's own functions take one frame at a time, which for
 * frames as small as the host's costs four times as much (`bench/README.md`).
 */
export async function loadDecoder(): Promise<Decoder> {
  const { ZSTDDecoder } = await import('zstddec')
  const decoder = new ZSTDDecoder()
  await decoder.init()
  return {
    unpack: (frames, bound) => {
      if (bound === 0) return Buffer.alloc(0)
      const content = decoder.decode(frames, bound)
      // It returns what failed as nothing; frames that may hold something and hold nothing are written by nobody.
      return content.length === 0 ? null : Buffer.from(content.buffer, content.byteOffset, content.length)
    },
  }
}
