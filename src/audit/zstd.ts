/** Unpacks Zstandard frames that are held whole, on any Node. */
export interface Decoder {
  /**
   * @param frames - frames put end to end.
   * @param bound - bytes that they unpack to at most, together.
   * @returns their content, or `null` where one of them is damaged or unpacks to more.
   */
  unpack(frames: Buffer, bound: number): Buffer | null
  /** @returns what the beginning of a frame still gives. */
  beginning(frame: Buffer): Generator<Buffer>
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** Load the package that does it; only a packed log needs it. */
export async function loadDecoder(): Promise<Decoder> {
  const { ZSTDDecoder } = await import('zstddec/stream')
  const decoder = new ZSTDDecoder()
  await withoutFetch(() => decoder.init())
  return {
    unpack: (frames, bound) => {
      if (bound === 0) return Buffer.alloc(0)
      const content = decoder.decode(frames, bound)
      // It returns what failed as nothing; frames that may hold something and hold nothing are written by nobody.
      return content.length === 0 ? null : bufferOf(content)
    },
    * beginning(frame) {
      let nothing = false
      try {
        for (const part of decoder.decodeStreaming([frame])) {
          // It would go on giving nothing for a damaged one.
          if (nothing && part.length === 0) return
          nothing = part.length === 0
          if (!nothing) yield bufferOf(part)
        }
      } catch {
        // That it is only a beginning.
      }
    },
  }
}

/** Where it can, the package fetches its own code, from a data URL: in Node that costs loading a whole HTTP client. */
function withoutFetch<T>(run: () => T): T {
  const { fetch } = globalThis
  Reflect.set(globalThis, 'fetch', undefined)
  try {
    return run()
  } finally {
    Reflect.set(globalThis, 'fetch', fetch)
  }
}
