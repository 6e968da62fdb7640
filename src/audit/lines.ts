import { Deltas } from './deltas.ts'
import { isKnown, isRead } from './event-types.ts'
import { tellsNothing } from './plain-rows.ts'

const LF = 0x0A
const CR = 0x0D
const BRACE = 0x7D
/** The type that the first bytes of a row prove, as the harness writes it. */
const PROVEN = /^\{"type":"([^"\\]{1,64})",/
/** Longest line that is parsed, in bytes; the harness's own rows stay far below. */
export const MAX_LINE = 16 * 1024 * 1024
/** Lines after which a file without a single row of a log is none. */
const PATIENCE = 64

/** Who is told of what the lines hold. */
export interface LineTarget {
  /** A parsed row that can hold a fact. */
  row(value: Readonly<Record<string, unknown>>): void
  /** A row of a type that nobody knows. */
  unknown(type: string, offset: number): void
  /** A line that is no row: not JSON, or no object with a type. `last` is a line without its end. */
  broken(offset: number, last: boolean): void
  /** A line longer than {@link MAX_LINE} whose first bytes do not prove that it does not matter. */
  tooLong(offset: number): void
}

/** Splits a log into lines as its bytes come, and parses those that can matter. */
export class Lines {
  private readonly target: LineTarget
  private readonly deltas: Deltas | null
  /** The beginning of a line whose end has not come. */
  private carry: Buffer[] = []
  private carried = 0
  /** Whether the open line is too long to be held; then only its last byte is kept. */
  private skipping = false
  private lastByte = 0
  /** Offset of the first byte that was not yet pushed. */
  private offset = 0
  private lines = 0
  /** Rows that are of a log for certain. */
  private rows = 0

  /**
   * @param target - told of what the lines hold.
   * @param full - parse every line: the reference that the fast path is tested against.
   */
  constructor(target: LineTarget, full = false) {
    this.target = target
    this.deltas = full ? null : new Deltas()
  }

  /** Whether so much was read without a row that this is no log. */
  get hopeless(): boolean {
    return this.rows === 0 && (this.lines >= PATIENCE || this.carried > MAX_LINE / 4)
  }

  /** Whether at least one row was of a log. */
  get isLog(): boolean {
    return this.rows > 0
  }

  /**
   * Take the next bytes. They are not kept: the caller may use the buffer again.
   *
   * @param bytes - what follows on all bytes before.
   */
  push(bytes: Buffer): void {
    const base = this.offset
    this.offset += bytes.length
    const first = this.carried === 0 ? 0 : this.finishCarried(bytes, base)
    if (first === -1) return
    const rest = this.whole(bytes, first, base)
    if (rest < bytes.length) this.keep(bytes.subarray(rest))
  }

  /** The log is over; a line without its end is looked at too. */
  end(): void {
    if (this.carried === 0) return
    const start = this.offset - this.carried
    if (this.skipping) {
      if (this.lastByte !== BRACE) this.target.broken(start, true)
    } else {
      const line = Buffer.concat(this.carry)
      if (line.toString('latin1').trim() !== '') this.parse(line, 0, line.length, start, true)
    }
    this.reset()
  }

  /** What follows does not join on what came before: a part of the file is lost. */
  gap(): void {
    if (this.carried > 0) this.target.broken(this.offset - this.carried, false)
    this.reset()
  }

  private reset(): void {
    this.carry = []
    this.carried = 0
    this.skipping = false
  }

  /** Take the lines that are whole; returns where the last one begins, which is not. */
  private whole(bytes: Buffer, from: number, base: number): number {
    let start = this.pass(bytes, from)
    for (let end = bytes.indexOf(LF, start); end !== -1; end = bytes.indexOf(LF, start)) {
      if (this.deltas !== null && tellsNothing(bytes, start, end)) this.passed(1)
      else this.parse(bytes, start, end, base + start, false)
      start = this.pass(bytes, end + 1)
    }
    return start
  }

  private pass(bytes: Buffer, from: number): number {
    if (this.deltas === null) return from
    const next = this.deltas.pass(bytes, from)
    this.passed(this.deltas.passed)
    return next
  }

  private passed(count: number): void {
    this.lines += count
    this.rows += count
  }

  private parse(bytes: Buffer, start: number, end: number, offset: number, last: boolean): void {
    if (end <= start || (end === start + 1 && bytes[start] === CR)) return
    this.lines += 1
    // A byte order mark is an editor's, and no part of the row.
    const from = offset === 0 && bytes[start] === 0xEF && bytes[start + 1] === 0xBB ? start + 3 : start
    let value: unknown
    try {
      value = JSON.parse(bytes.toString('utf8', from, end))
    } catch {
      return this.target.broken(offset, last)
    }
    const type = typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined
    if (typeof type !== 'string') return this.target.broken(offset, false)
    if (isKnown(type)) this.rows += 1
    else this.target.unknown(type, offset)
    if (isRead(type)) this.target.row(value as Record<string, unknown>)
  }

  private keep(tail: Buffer): void {
    this.carried += tail.length
    this.lastByte = tail[tail.length - 1] ?? 0
    if (this.skipping) return
    // The caller uses its buffer again, so what is kept is a copy.
    this.carry.push(Buffer.from(tail))
    if (this.carried > MAX_LINE) this.skip()
  }

  /** The open line is too long to be held. It is missed only where its type does not prove that it tells nothing. */
  private skip(): void {
    const offset = this.offset - this.carried
    const type = PROVEN.exec(Buffer.concat(this.carry).toString('latin1', 0, 128))?.[1]
    this.carry = []
    this.skipping = true
    this.lines += 1
    if (type === undefined || isRead(type)) this.target.tooLong(offset)
    else if (isKnown(type)) this.rows += 1
    else this.target.unknown(type, offset)
  }

  /** Complete the open line; returns where the next begins, or -1 when this one goes on. */
  private finishCarried(bytes: Buffer, base: number): number {
    const end = bytes.indexOf(LF)
    if (end === -1) {
      this.keep(bytes)
      return -1
    }
    const start = base - this.carried
    if (this.skipping) {
      if ((end === 0 ? this.lastByte : bytes[end - 1]) !== BRACE) this.target.broken(start, false)
    } else {
      const line = Buffer.concat([...this.carry, bytes.subarray(0, end)])
      this.parse(line, 0, line.length, start, false)
    }
    this.reset()
    return end + 1
  }
}
