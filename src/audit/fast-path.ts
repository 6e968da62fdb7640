/**
 * The fast path through a log: lines that cannot matter are never parsed, and of those that do only what is read.
 *
 * The harness writes each row as `JSON.stringify` of an object whose first key is its type, so the first bytes of a line
 * say what it is, and no text inside a message can change them: a quote inside a JSON string is escaped, and a newline
 * too. A line is passed over only when its own first bytes prove its type; whatever looks different in any way, also a
 * line that does not end as an object does, is parsed. The commonest rows that are read are taken byte by byte where they
 * stand exactly as the harness writes them: of an answer, which repeats everything that was streamed, only the place and
 * the route. (Lines that `JSON.stringify` cannot write are another matter: where an object names a key twice the first one
 * counts, and what is passed over may be no JSON inside its brackets.)
 */

import { KNOWN_TYPES } from './event-types.ts'
import type { Scanner } from './scanner.ts'

const QUOTE = 0x22
const COMMA = 0x2C
const BACKSLASH = 0x5C
const ZERO = 0x30
/** Ends every row. */
export const BRACE = 0x7D
const HEAD = Buffer.from('{"type":"')
/** Bytes of a line in which its type must have ended. */
export const TYPE_WITHIN = 64

/** The known types by the number of their bytes: a name that is there already is found sooner than made. */
const BY_LENGTH: readonly { readonly name: string; readonly bytes: Buffer }[][] = Array.from({ length: TYPE_WITHIN }, () => [])
for (const name of KNOWN_TYPES) BY_LENGTH[name.length]?.push({ name, bytes: Buffer.from(name) })

const stands = (text: Buffer, bytes: Buffer, at: number): boolean => {
  for (let index = 0; index < text.length; index += 1) if (bytes[at + index] !== text[index]) return false
  return true
}

const nameAt = (bytes: Buffer, from: number, to: number): string =>
  BY_LENGTH[to - from]?.find(known => stands(known.bytes, bytes, from))?.name ?? bytes.toString('utf8', from, to)

/** The type that the first bytes of a line prove, or `undefined`. */
export function provenType(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start < HEAD.length || !stands(HEAD, bytes, start)) return undefined
  const from = start + HEAD.length
  const limit = Math.min(end, start + TYPE_WITHIN)
  for (let at = from; at < limit; at += 1) {
    const byte = bytes[at]
    if (byte === BACKSLASH) return undefined
    if (byte === QUOTE) return bytes[at + 1] === COMMA && at + 1 < end ? nameAt(bytes, from, at) : undefined
  }
  return undefined
}

/** The most digits of a number that are certainly exact. */
const DIGITS = 15

/** Reads a line byte by byte, as long as it says what is expected. */
class Cursor {
  private readonly scanner: Scanner
  readonly bytes: Buffer
  readonly end: number
  /** Where it stands; -1 once something else was found than what was expected. */
  at: number

  constructor(scanner: Scanner, bytes: Buffer, at: number, end: number) {
    this.scanner = scanner
    this.bytes = bytes
    this.at = at
    this.end = end
  }

  /** Pass over these bytes. */
  skip(text: Buffer): this {
    if (this.at !== -1) this.at = stands(text, this.bytes, this.at) ? this.at + text.length : -1
    return this
  }

  /** Read a whole number of at most {@link DIGITS} digits. */
  number(): number {
    const { bytes, at } = this
    if (at === -1) return 0
    let value = 0
    let place = at
    for (let digit = (bytes[place] ?? 0) - ZERO; digit >= 0 && digit <= 9; digit = (bytes[place] ?? 0) - ZERO) {
      value = 10 * value + digit
      place += 1
    }
    const length = place - at
    this.at = length === 0 || length > DIGITS || (length > 1 && bytes[at] === ZERO) ? -1 : place
    return value
  }

  /** Read a string of plain characters. */
  text(): string {
    const { bytes, at, end } = this
    if (at === -1 || bytes[at] !== QUOTE) return this.fail(), ''
    let place = at + 1
    for (let byte = bytes[place] ?? 0; place < end && byte !== QUOTE; byte = bytes[place] ?? 0) {
      if (byte === BACKSLASH || byte < 0x20 || byte > 0x7E) return this.fail(), ''
      place += 1
    }
    this.at = place + 1
    return bytes.toString('latin1', at + 1, place)
  }

  /** Pass over what a bracket holds that was opened before, and over the bracket that closes it. */
  close(): this {
    if (this.at !== -1) this.at = this.scanner.close(this.bytes, this.at, this.end)
    return this
  }

  private fail(): this {
    this.at = -1
    return this
  }
}

const bytesOf = (text: string): Buffer => Buffer.from(text)
const ANSWER = 'assistant/message'
const TIME = bytesOf(',"time":')
const TURN = bytesOf(',"data":{"turn":')
const STEP = bytesOf(',"step":')
const CONTENT = bytesOf(',"message":{"role":"assistant","content":[')
const PROVIDER = bytesOf(',"source":{"kind":"model","provider":')
const MODEL = bytesOf(',"model":')
const ENDS = bytesOf('}}')
/** The beginnings of the rows that are read byte by byte. */
const BEGINS: ReadonlyMap<string, Buffer> = new Map(['step/start', 'step/end', ANSWER].map(type => [type, bytesOf(`{"type":"${type}","seq":`)]))
/** What may stand behind the message of an answer, and is read where it does. */
const MARKED = /interrupted|\\/

/** One of the commonest rows, or `undefined` where it is not exactly as the harness writes it. */
function commonRow(scanner: Scanner, bytes: Buffer, start: number, end: number, type: string, begin: Buffer): object | undefined {
  const cursor = new Cursor(scanner, bytes, start, end)
  const seq = cursor.skip(begin).number()
  const time = cursor.skip(TIME).number()
  const turn = cursor.skip(TURN).number()
  const step = cursor.skip(STEP).number()
  if (type !== ANSWER) return cursor.skip(ENDS).at === end ? { type, seq, time, data: { turn, step } } : undefined
  cursor.skip(CONTENT).close().skip(PROVIDER)
  const provider = cursor.text()
  cursor.skip(MODEL)
  const model = cursor.text()
  // The rest of the source, of the message, of the data and of the row.
  const behind = cursor.close().close().at
  const data = cursor.close().at
  return cursor.close().at === end && !MARKED.test(bytes.toString('latin1', behind, data))
    ? { type, seq, time, data: { turn, step, message: { source: { provider, model } } } }
    : undefined
}

/**
 * Read a line.
 *
 * @param type - what the first bytes prove; `undefined` parses the whole line whatever it is.
 * @param scanner - the one that holds the bytes, if any does.
 * @returns the row; of an answer as little as the decoder reads.
 * @throws SyntaxError when it is no JSON.
 */
export function readLine(bytes: Buffer, start: number, end: number, type: string | undefined, scanner: Scanner | null): unknown {
  const begin = type === undefined || scanner?.holds(bytes) !== true ? undefined : BEGINS.get(type)
  const row = type === undefined || begin === undefined || scanner === null ? undefined : commonRow(scanner, bytes, start, end, type, begin)
  return row ?? JSON.parse(bytes.toString('utf8', start, end))
}
