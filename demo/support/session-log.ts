/**
 * Reads a session log of the pinned host: `session.jsonl`, or
 * `session.jsonl.zstd`, which is one Zstandard frame per durable append put end
 * to end. The last frame or line may be torn when the host was killed.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { constants, zstdDecompressSync } from 'node:zlib'

/** One row of a log as stored: the header, an event, or a packed run of chunks. */
export interface LogRow {
  type: string
  seq?: number
  time?: number
  data?: any
  [key: string]: unknown
}

const FRAME_MAGIC = 0xFD2FB528
const BLOCK_COMPRESSED_RLE = 1

/**
 * Length of the frame at `start`, or undefined when the file ends inside it.
 * Walking the block headers is what finds the end: a frame does not state its
 * own length, and the magic number may occur inside compressed bytes.
 */
function frameLength(bytes: Buffer, start: number): number | undefined {
  if (start + 6 > bytes.length || bytes.readUInt32LE(start) !== FRAME_MAGIC) return undefined
  const descriptor = bytes.readUInt8(start + 4)
  const single = (descriptor & 0x20) !== 0
  const contentSize = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0
  let at = start + 5 + (single ? 0 : 1) + dictionary + contentSize
  for (let last = false; !last;) {
    if (at + 3 > bytes.length) return undefined
    const header = bytes.readUIntLE(at, 3)
    last = (header & 1) === 1
    const run = ((header >> 1) & 3) === BLOCK_COMPRESSED_RLE
    at += 3 + (run ? 1 : header >> 3)
  }
  if ((descriptor & 0x04) !== 0) at += 4
  return at <= bytes.length ? at - start : undefined
}

/** What a frame holds; of a torn one, what its bytes still give. */
function contentOf(frame: Buffer, torn: boolean): Buffer {
  try {
    return zstdDecompressSync(frame, torn ? { finishFlush: constants.ZSTD_e_flush } : {})
  } catch {
    return Buffer.alloc(0)
  }
}

function decompress(bytes: Buffer): string {
  const parts: Buffer[] = []
  for (let start = 0; start < bytes.length;) {
    const length = frameLength(bytes, start)
    const content = contentOf(bytes.subarray(start, length === undefined ? undefined : start + length), length === undefined)
    parts.push(content)
    // A damaged or torn frame ends what can be read; everything before it is whole.
    if (length === undefined || content.length === 0) break
    start += length
  }
  return Buffer.concat(parts).toString('utf8')
}

function parseRow(line: string): LogRow | undefined {
  try {
    return JSON.parse(line) as LogRow
  } catch {
    return undefined
  }
}

/**
 * The rows of a log, header first. Stops quietly at a torn tail, and yields
 * nothing for a file that does not exist or has no whole row yet.
 * @param path - a `session.jsonl` or `session.jsonl.zstd` file.
 */
export function* readRows(path: string): Generator<LogRow> {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch {
    return
  }
  const text = path.endsWith('.zstd') ? decompress(bytes) : bytes.toString('utf8')
  for (const line of text.split('\n')) {
    if (line === '') continue
    const row = parseRow(line)
    if (row === undefined) return
    yield row
  }
}

/**
 * Paths of all session logs in a directory, oldest first; none where there is no directory.
 * @param dir - searched with everything in it.
 */
export function findLogs(dir: string): string[] {
  if (statSync(dir, { throwIfNoEntry: false }) === undefined) return []
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  const logs = names.filter(name => /(^|\/)session\.jsonl(\.zstd)?$/.test(name)).map(name => join(dir, name))
  const born = new Map(logs.map(path => [path, statSync(path).birthtimeMs]))
  return logs.sort((a, b) => (born.get(a) ?? 0) - (born.get(b) ?? 0))
}

/**
 * The whole log at once.
 * @param path - a `session.jsonl` or `session.jsonl.zstd` file.
 */
export function readLog(path: string): LogRow[] {
  return [...readRows(path)]
}
