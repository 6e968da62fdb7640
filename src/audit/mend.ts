/**
 * `dsh-quota-audit --mend`: a copy of a session log that newer hosts load.
 *
 * Up to 0.1.0 the plugin logged settings that nobody typed as commands of a plugin. The format migration of hosts from
 * 0.1.3 on takes commands of the person alone and refuses the whole log. The copy says it in the arguments, as is done
 * today; every other byte stays as it is. The log itself is not written to.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import * as zlib from 'node:zlib'
import { isRecord } from '../events/json.ts'
import { POLICY } from '../events/policy-key.ts'
import { readSettingCommand, writeSettingCommand } from '../events/settings.ts'
import { FrameWalker, isSkippable, MAGIC } from './frames.ts'

/** What mending a log came to. */
export interface Mended {
  readonly bytes: Buffer
  /** Records that were written anew. */
  readonly records: number
}

/** In every line that is written anew; looked for first, since a log may be large. */
const HINT = Buffer.from(POLICY)

/** A record of ours of the old kind as it is written today; `undefined` for anything else. */
function mendLine(line: string): string | undefined {
  if (!line.includes(POLICY) || !line.includes('command/run')) return undefined
  let row: unknown
  try {
    row = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isRecord(row) || row['type'] !== 'command/run' || !isRecord(row['data'])) return undefined
  const { data } = row
  const { source } = data
  if (!isRecord(source) || source['kind'] !== 'plugin' || source['plugin'] !== POLICY) return undefined
  const change = readSettingCommand(data['name'], data['args'])
  const args = change === undefined ? {} : { args: writeSettingCommand(change).args }
  return JSON.stringify({ ...row, data: { ...data, ...args, source: { kind: 'user' } } })
}

/** Mend lines of text; what is cut off at the end stays as it is. */
function mendText(bytes: Buffer): Mended {
  if (!bytes.includes(HINT)) return { bytes, records: 0 }
  const parts: Buffer[] = []
  let records = 0
  let kept = 0
  for (let start = 0, end = bytes.indexOf(0x0A); end !== -1; start = end + 1, end = bytes.indexOf(0x0A, start)) {
    const line = bytes.subarray(start, end)
    const mended = line.includes(HINT) ? mendLine(line.toString('utf8')) : undefined
    if (mended === undefined) continue
    records += 1
    parts.push(bytes.subarray(kept, start), Buffer.from(mended))
    kept = end
  }
  return { bytes: records === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(kept)]), records }
}

/** Mend one frame. */
function mendFrame(frame: Buffer): Mended {
  const { bytes, records } = mendText(zlib.zstdDecompressSync(frame))
  const { ZSTD_c_checksumFlag: checksum } = zlib.constants
  return { bytes: records === 0 ? frame : zlib.zstdCompressSync(bytes, { params: { [checksum]: 1 } }), records }
}

/** Mend a log of Zstandard frames, each by itself; one that is cut off or damaged stays as it is, with all behind it. */
function mendPacked(bytes: Buffer): Mended {
  const parts: Buffer[] = []
  let records = 0
  let start = 0
  try {
    while (start < bytes.length) {
      const walker = new FrameWalker()
      const end = walker.take(bytes, start)
      if (!walker.done) break
      const frame = bytes.subarray(start, end)
      const mended = isSkippable(frame) ? { bytes: frame, records: 0 } : mendFrame(frame)
      parts.push(mended.bytes)
      records += mended.records
      start = end
    }
  } catch {
    // A host reads no further than this either.
  }
  return { bytes: Buffer.concat([...parts, bytes.subarray(start)]), records }
}

/**
 * Mend a log.
 *
 * @param bytes - the log, plain or packed.
 * @returns the copy, and how many records in it are not as they were.
 * @throws Error for a packed log on a Node that cannot pack.
 */
export function mend(bytes: Buffer): Mended {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return mendText(bytes)
  if (!('zstdCompressSync' in zlib)) throw new Error('a packed log can be mended with Node 22.15 or newer')
  return mendPacked(bytes)
}

/**
 * Mend a copy of a log.
 *
 * @param from - the log.
 * @param to - the copy; must not exist.
 * @returns what to say of it.
 * @throws Error when the log cannot be read, or the copy is there already.
 */
export function mendFile(from: string, to: string): string {
  const { bytes, records } = mend(readFileSync(from))
  if (records === 0) return `${from} holds nothing that newer hosts would refuse because of this plugin; no copy was written\n`
  writeFileSync(to, bytes, { flag: 'wx' })
  return `${to} is a copy of ${from} in which ${records === 1 ? '1 record is' : `${records} records are`} as newer hosts accept them\n`
}
