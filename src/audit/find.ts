import { existsSync, fstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Options } from './options.ts'
import { UsageError } from './options.ts'
import type { Report } from './problems.ts'
import { STDIN } from './reader.ts'

const LOG_NAME = /\.jsonl(\.zstd?)?$/
/** The journal of a home, below it. */
const JOURNAL = join('storages', 'llm_quota_retry.json')
/** How far above a log its home can stand: `<home>/sessions/<project>/<session>/session.jsonl`. */
const HOME_ABOVE = 5

/** A log to read, and the journal of its home, when there is one. */
export interface Found {
  readonly path: string
  readonly journal?: string
}

/** The harness's own encoding of a session id as a directory name: every odd code unit becomes `~XXXX`. */
function encodeId(id: string): string {
  if (id === '.' || id === '..') return id.replaceAll('.', '~002E')
  return id.replace(/[^A-Za-z0-9._-]/g, unit => `~${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`)
}

function journalAbove(path: string): { journal?: string } {
  let directory = resolve(path)
  for (let steps = 0; steps < HOME_ABOVE; steps += 1) {
    const journal = join(directory, JOURNAL)
    if (existsSync(journal)) return { journal }
    const up = dirname(directory)
    if (up === directory) break
    directory = up
  }
  return {}
}

/** The log of a session by its format: from the first later one on each has a file of its own, `session.v3.jsonl`. */
const GENERATION = /^session(?:\.v([1-9]\d{0,8}))?\.jsonl(?:\.zstd?)?$/

/**
 * Of the logs in one directory those to read. A newer host leaves the file of an older format as it is and goes on in a
 * new one, into which it took the whole history over: only the newest counts, or the session would count twice.
 */
export function newestGenerations(names: readonly string[]): string[] {
  const versions = new Map(names.flatMap((name) => {
    const match = GENERATION.exec(name)
    return match === null ? [] : [[name, Number(match[1] ?? 0)] as const]
  }))
  const newest = Math.max(...versions.values())
  // Packed and not, of one format: the host writes the packed one, whose name comes last.
  const current = [...versions.keys()].filter(name => versions.get(name) === newest).sort().at(-1)
  return names.filter(name => !versions.has(name) || name === current)
}

function* logsBelow(directory: string, report: Report): Generator<string> {
  let entries
  try {
    entries = readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    return report({ file: directory, offset: null, unpacked: false, unreadable: true, text: `the directory cannot be read (${(error as { code?: string }).code ?? 'unknown'})` })
  }
  // The same order on every machine.
  const isLog = (entry: { isFile: () => boolean; name: string }): boolean => entry.isFile() && LOG_NAME.test(entry.name)
  const logs = new Set(newestGenerations(entries.filter(isLog).map(({ name }) => name)))
  for (const entry of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules' && entry.name !== '.git') yield* logsBelow(path, report)
    } else if (logs.has(entry.name)) {
      yield path
    }
  }
}

/** Whether bytes are sent to standard input, as opposed to a terminal or nothing. */
function stdinIsGiven(): boolean {
  try {
    const stat = fstatSync(0)
    return stat.isFIFO() || stat.isFile() || stat.isSocket()
  } catch {
    return false
  }
}

/** What stands at a path, or what is wrong with it. */
function statOf(path: string): Stats | string {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? 'there is no such file or directory'
  } catch (error) {
    return `it cannot be looked at (${(error as { code?: string }).code ?? 'unknown'})`
  }
}

/** Where to look when the command line names no file. */
function defaultRoots({ home, session }: Options): string[] {
  const given = home ?? (session !== undefined || !stdinIsGiven() ? process.env['DSH_HOME'] : undefined)
  if (given !== undefined && given !== '') return [join(given, 'sessions')]
  if (stdinIsGiven()) return [STDIN]
  throw new UsageError('name a log, a directory or --home, set DSH_HOME, or send a log to standard input')
}

/** Whether an id is one that a person asks for by its beginning, with or without the host's prefix. */
export const answersTo = (id: string, asked: string): boolean => id.startsWith(asked) || id.startsWith(`session-${asked}`)

/** Whether it is the whole id that a person gives, with or without the host's prefix. */
export const isExactly = (id: string, asked: string): boolean => id === asked || id === `session-${asked}`

/** In a home, the directory of a log bears the id of its session, so others need not be opened. */
const mayHold = (path: string, session: string | undefined): boolean =>
  session === undefined || answersTo(dirname(path).split(/[/\\]/).at(-1) ?? '', encodeId(session))

/**
 * Find the logs to read.
 *
 * @param options - the command line.
 * @param report - told of what is named and cannot be found or read.
 * @returns the logs one by one, in a fixed order.
 * @throws UsageError when nothing says where to look.
 */
export function* findLogs(options: Options, report: Report): Generator<Found> {
  const named = options.paths.length > 0
  for (const root of named ? options.paths : defaultRoots(options)) {
    if (root === STDIN) {
      yield { path: STDIN }
      continue
    }
    const stat = statOf(root)
    if (typeof stat === 'string') {
      report({ file: root, offset: null, unpacked: false, unreadable: true, text: stat })
    } else if (stat.isDirectory()) {
      let logs = 0
      for (const path of logsBelow(root, report)) {
        logs += 1
        if (named || mayHold(path, options.session)) yield { path, ...journalAbove(dirname(path)) }
      }
      if (logs === 0) report({ file: root, offset: null, unpacked: false, unreadable: false, text: 'no log is in this directory' })
    } else {
      yield { path: root, ...journalAbove(dirname(root)) }
    }
  }
}
