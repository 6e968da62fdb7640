/**
 * The fast path through a log: lines that cannot matter are never parsed.
 *
 * The harness writes each row as `JSON.stringify` of an object whose first key is its type, so the first bytes of a line
 * say what it is, and no text inside a message can change them: a quote inside a JSON string is escaped, and a newline
 * too. A line is passed over only when its own first bytes prove its type; whatever looks different in any way, also a
 * line that does not end as an object does, is parsed. Of an answer the content is passed over, from the bracket that
 * opens it to the one that closes it, and the rest is parsed. (Lines that `JSON.stringify` cannot write are another
 * matter: one in which an object names a key twice counts by its first `type`, and the content of an answer may be no
 * JSON inside its brackets.)
 */

const QUOTE = 0x22
const COMMA = 0x2C
const BACKSLASH = 0x5C
const OPEN_BRACKET = 0x5B
const CLOSE_BRACKET = 0x5D
const OPEN_BRACE = 0x7B
/** Ends every row. */
export const BRACE = 0x7D
const HEAD = Buffer.from('{"type":"')
/** How the line of a stream chunk begins. */
export const CHUNK = Buffer.from('{"type":"assistant/chunk",')
// Eight bytes at a time, as numbers: the quickest comparison there is. ASCII is never the one number that is not itself.
const CHUNK_0 = CHUNK.readDoubleLE(0)
const CHUNK_8 = CHUNK.readDoubleLE(8)
const CHUNK_16 = CHUNK.readDoubleLE(16)
const CHUNK_24 = CHUNK.readUInt16LE(24)
/** Ends every spelling of the one chunk type that matters; without its opening quote, which stands everywhere. */
const FINISH = Buffer.from('finish"')
/** In a line that finishes: only an error is a fact. */
const ERROR = Buffer.from('"error"')
/** A spelling that could hide one; the harness writes it only for control characters. */
const ESCAPE = Buffer.from('\\u')
/** Bytes of a line in which its type must have ended. */
export const TYPE_WITHIN = 64

/** The type that the first bytes of a line prove, or `undefined`. */
export function provenType(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start < HEAD.length) return undefined
  for (let at = 0; at < HEAD.length; at += 1) if (bytes[start + at] !== HEAD[at]) return undefined
  const from = start + HEAD.length
  const limit = Math.min(end, start + TYPE_WITHIN)
  for (let at = from; at < limit; at += 1) {
    const byte = bytes[at]
    if (byte === BACKSLASH) return undefined
    if (byte === QUOTE) return bytes[at + 1] === COMMA && at + 1 < end ? bytes.toString('latin1', from, at) : undefined
  }
  return undefined
}

/** Whether a line of at least that length begins as a stream chunk does. */
export const isChunk = (view: DataView, start: number): boolean =>
  view.getFloat64(start + 16, true) === CHUNK_16 && view.getFloat64(start, true) === CHUNK_0
  && view.getFloat64(start + 8, true) === CHUNK_8 && view.getUint16(start + 24, true) === CHUNK_24

/** The next place of an escape at or after a point. */
export const nextEscape = (bytes: Buffer, from: number): number => {
  const found = bytes.indexOf(ESCAPE, from)
  return found === -1 ? Number.POSITIVE_INFINITY : found
}

/** The next place of a finish at or after a point. */
export const nextFinish = (bytes: Buffer, from: number): number => {
  let found = bytes.indexOf(FINISH, from)
  while (found > 0 && bytes[found - 1] !== QUOTE) found = bytes.indexOf(FINISH, found + 1)
  return found === -1 ? Number.POSITIVE_INFINITY : found
}

const ANSWER = 'assistant/message'
/** How the harness begins an answer's row, up to the text of it. Its numbers take far fewer than {@link HEAD_WITHIN} bytes. */
const ANSWER_HEAD = /^\{"type":"assistant\/message","seq":\d+,"time":\d+,"data":\{"turn":\d+,"step":\d+,"message":\{"role":"assistant","content":\[/
const HEAD_WITHIN = 320

/** The end of a JSON string whose content begins at a point: the place of its closing quote, or -1. */
function stringEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return at
  }
  return -1
}

/** The place of the bracket that closes the array whose first value begins at a point, or -1. */
function arrayEnd(bytes: Buffer, from: number, end: number): number {
  let depth = 1
  for (let at = from; at < end && at !== -1; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at = stringEnd(bytes, at + 1)
        if (at === -1) return -1
        break
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth += 1
        break
      case CLOSE_BRACKET:
      case BRACE:
        depth -= 1
        if (depth === 0) return at
    }
  }
  return -1
}

/** An answer's row without its content, or `undefined` for a row that is written in another way. */
function withoutContent(bytes: Buffer, start: number, end: number): string | undefined {
  const head = ANSWER_HEAD.exec(bytes.toString('latin1', start, Math.min(end, start + HEAD_WITHIN)))?.[0]
  const close = head === undefined ? -1 : arrayEnd(bytes, start + head.length, end)
  return head === undefined || close === -1 || close >= end ? undefined : head + bytes.toString('latin1', close, end)
}

const isPlain = (text: unknown): boolean => typeof text !== 'string' || !/[^\x00-\x7F]/.test(text)

/**
 * Parse a line. An answer repeats everything that was streamed, and only the names of its route are read here: its content
 * is cut out, its bytes are taken for characters, which is quicker, and only where those names are not ASCII is it
 * decoded as it should be.
 *
 * @param type - what the first bytes prove; `undefined` parses the whole line whatever it is.
 */
export function parseLine(bytes: Buffer, start: number, end: number, type: string | undefined): unknown {
  if (type === ANSWER) {
    const value = JSON.parse(withoutContent(bytes, start, end) ?? bytes.toString('latin1', start, end)) as { data?: { message?: { source?: Record<string, unknown> } } }
    const source = value.data?.message?.source
    if (isPlain(source?.['provider']) && isPlain(source?.['model'])) return value
  }
  return JSON.parse(bytes.toString('utf8', start, end))
}

/** Whether a line that finishes can do so in error. */
export const isError = (bytes: Buffer, start: number, end: number): boolean => bytes.subarray(start, end).includes(ERROR)
