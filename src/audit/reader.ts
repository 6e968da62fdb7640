import { closeSync, openSync, readSync } from 'node:fs'
import { type Advance, advance } from '../projections/audit/advance.ts'
import { initialState } from '../reducers/session.ts'
import { isSkippable, MAGIC } from './frames.ts'
import { Lines } from './lines.ts'
import type { Report } from './problems.ts'
import { unpack } from './unpack.ts'

const OPEN_BRACE = 0x7B
/** The name of standard input, as an argument and in messages. */
export const STDIN = '-'

/** Bytes of a file that are read in one go. */
export const BLOCK = 512 * 1024

/** A file's bytes. The buffer is used again for the next block. */
async function* fileBytes(path: string, block: Buffer): AsyncGenerator<Buffer> {
  const descriptor = openSync(path, 'r')
  try {
    // Not beside this thread: what another core has read comes slower to this one than reading it here takes.
    for (let length = readSync(descriptor, block); length > 0; length = readSync(descriptor, block)) yield block.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}

const open = (path: string): AsyncIterator<Buffer> =>
  path === STDIN
    ? (process.stdin as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
    : fileBytes(path, Buffer.allocUnsafeSlow(BLOCK))

/** The first bytes of a source, at least four where there are so many: they say how it is stored. */
async function peek(source: AsyncIterator<Buffer>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0)
  while (head.length < 4) {
    const next = await source.next()
    if (next.done === true) break
    // The source uses its buffer again.
    head = head.length === 0 && next.value.length >= 4 ? next.value : Buffer.concat([head, next.value])
  }
  return head
}

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

/** Whether frames are in a file: at its beginning, or, where that is damaged, behind what is no text either. */
const isPacked = (head: Buffer): boolean =>
  head.length >= 4 && (isSkippable(head) || (head[0] !== OPEN_BRACE && head.includes(MAGIC)))
const isGzip = (head: Buffer): boolean => head[0] === 0x1F && head[1] === 0x8B

/** What reading one log came to. */
export interface ReadResult {
  /** Whether it was a log at all. */
  readonly isLog: boolean
}

/** Options of {@link readSession}. */
export interface ReadOptions {
  /** Told of every step of the session, in order. `false` stops the reading. */
  readonly step: (step: Advance) => boolean
  readonly report: Report
  /** Parse every line: the reference for the fast path. */
  readonly full?: boolean
}

/** Lines of one file that are told of singly; of the rest, only their number. */
const TOLD = 20

/** One log on its way through lines and reducers. */
class LogReading {
  readonly lines: Lines
  wanted = true
  private state = initialState
  private readonly unknown = new Set<string>()
  private broken = 0
  private readonly tell: (offset: number | null, unreadable: boolean, text: string) => void
  /** What stands before the first row: worth a word only in a file that turns out to be a log. */
  private early: number[] = []

  constructor(file: string, packed: boolean, { step, report, full }: ReadOptions) {
    this.tell = (offset, unreadable, text) => { report({ file, offset, unpacked: packed, unreadable, text }) }
    this.lines = new Lines({
      row: (value) => {
        // Logs that were put end to end are one session after another.
        const another = value['type'] === 'session' && this.state.lineage.id !== null
        const taken = this.wanted ? advance(another ? initialState : this.state, value) : undefined
        if (taken === undefined) return
        this.state = taken.after
        this.wanted = step(taken)
      },
      unknown: (type, offset) => { this.unknownType(type, offset) },
      broken: (offset, last) => {
        if (last && this.lines.isLog) this.tell(offset, false, 'the last line is cut off, as a killed host leaves it; it is passed over')
        else if (this.lines.isLog) this.brokenLine(offset)
        else if (this.early.length <= TOLD) this.early.push(offset)
      },
      tooLong: (offset) => { this.tell(offset, true, 'a line is too long to be read; it is passed over') },
    }, full)
  }

  /** The file is over. */
  end(): void {
    // Nobody wants to know how a log ends that was not asked for.
    if (!this.wanted) return
    this.lines.end()
    if (!this.lines.isLog) return
    for (const offset of this.early) this.brokenLine(offset)
    if (this.broken > TOLD) this.tell(null, true, `${this.broken - TOLD} further lines are no rows of a log`)
  }

  private brokenLine(offset: number): void {
    this.broken += 1
    if (this.broken <= TOLD) this.tell(offset, true, 'a line is no row of a log; it is passed over')
  }

  private unknownType(type: string, offset: number): void {
    if (!this.wanted || !this.lines.isLog || this.unknown.has(type) || this.unknown.size >= TOLD) return
    this.unknown.add(type)
    this.tell(offset, false, `an event of the unknown type ${JSON.stringify(type.slice(0, 80))} is passed over, and so are others like it`)
  }
}

/**
 * Read one log, whole or damaged, in constant memory.
 *
 * @param path - a file, or {@link STDIN}.
 * @param options - who is told of what.
 * @returns what it came to. Never throws on what the file holds or on a file that cannot be read: that is reported.
 */
export async function readSession(path: string, options: ReadOptions): Promise<ReadResult> {
  const file = path === STDIN ? 'standard input' : path
  const fail = (text: string): ReadResult => {
    options.report({ file, offset: null, unpacked: false, unreadable: true, text })
    return { isLog: false }
  }
  let source: AsyncIterator<Buffer> | undefined
  let reading: LogReading | undefined
  try {
    source = open(path)
    const head = await peek(source)
    if (head.length === 0) return fail('the file is empty')
    if (isGzip(head)) return fail('this is gzip; unpack it first')
    const packed = isPacked(head)
    reading = new LogReading(file, packed, options)
    await (packed ? readPacked(file, joined(head, source), reading, options.report) : readPlain(joined(head, source), reading))
  } catch (error) {
    fail(`it cannot be read${reading === undefined ? '' : ' any further'} (${(error as { code?: string }).code ?? String(error)})`)
    // What was read of it stays read.
    reading?.end()
    return { isLog: reading?.lines.isLog === true }
  } finally {
    await source?.return?.()
  }
  reading.end()
  return reading.lines.isLog ? { isLog: true } : fail('no row of a session log is in this file')
}

async function readPlain(source: AsyncIterable<Buffer>, reading: LogReading): Promise<void> {
  for await (const bytes of source) {
    reading.lines.push(bytes)
    if (!reading.wanted || reading.lines.hopeless) return
  }
}

async function readPacked(file: string, source: AsyncIterable<Buffer>, reading: LogReading, report: Report): Promise<void> {
  for await (const piece of unpack(source)) {
    if ('bytes' in piece) {
      reading.lines.push(piece.bytes)
    } else {
      report({ file, offset: piece.offset, unpacked: false, unreadable: piece.lost === 'damaged', text: piece.text })
      if (piece.lost === 'damaged') reading.lines.gap()
    }
    if (!reading.wanted || reading.lines.hopeless) return
  }
}
