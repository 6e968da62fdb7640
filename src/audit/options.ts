import { parseArgs } from 'node:util'
import type { Filter } from '../projections/audit/filter.ts'
import type { DoctorOptions } from './doctor/doctor.ts'

/** What the command line asks for. */
export interface Options {
  readonly paths: readonly string[]
  readonly home?: string
  readonly session?: string
  readonly filter: Filter
  readonly output: 'text' | 'json' | 'ndjson'
  readonly timeline: boolean
  readonly html?: string
  readonly whatIf?: string
  readonly full: boolean
  /** A log to mend, and its copy. */
  readonly mend?: { readonly from: string; readonly to: string }
}

/** A command line that makes no sense. */
export class UsageError extends Error {}

/** What `--help` prints. */
export const USAGE = `Usage: dsh-quota-audit [options] [FILE | DIRECTORY | -]...

Says what happened to the model allowance of DeepSeek Harness sessions, from their logs: which route each request went
to, what was refused and why, moves, waits and how long they were kept, outages and what ended them.

Input
  FILE, DIRECTORY      session logs, plain or Zstandard JSONL; directories are searched
  -                    standard input, also taken when nothing else is named and it is a pipe or a file
  --home DIR           a home of the harness; DSH_HOME when nothing else is named
  --session ID         only this session (the start of its id is enough, when it is the only one)
What to show
  --since ISO          leave out what was over before this time, for example 2026-05-01T12:00Z
  --provider NAME      only what concerns this provider
  --only failovers     only moves between routes
  --no-timeline        no timelines, only what each session comes to
How
  --json               one JSON document
  --ndjson             one JSON record a line, as they are read
  --html FILE          also write one self-contained page
  --what-if FILE       replay the same refusals against another configuration of the plugin (JSON or YAML)
  --doctor             instead: is the plugin mounted and its configuration valid, in the home of --home or DSH_HOME
  --run-balances       with --doctor: also run the balance scripts, which use your keys
  --mend LOG --out FILE
                       only write a copy of a log of dsh-llm-quota-retry 0.1.0 that hosts from 0.1.3 on load
  --help, --version

Exit codes: 0 all was read, 1 some input could not be read (the rest still is) or the doctor found something wrong, 2 the command line makes no sense.
A last line or frame that is cut off is told of on standard error and is no error: a killed host leaves one.
Times are those of this machine's zone; set TZ for another.
`

const DEFINITIONS = {
  'home': { type: 'string' },
  'session': { type: 'string' },
  'since': { type: 'string' },
  'provider': { type: 'string' },
  'only': { type: 'string' },
  'no-timeline': { type: 'boolean' },
  'json': { type: 'boolean' },
  'ndjson': { type: 'boolean' },
  'html': { type: 'string' },
  'what-if': { type: 'string' },
  'doctor': { type: 'boolean' },
  'run-balances': { type: 'boolean' },
  'mend': { type: 'string' },
  'out': { type: 'string' },
  // For tests: parses every line, as a reader without the fast path would.
  'full-parse': { type: 'boolean' },
  'help': { type: 'boolean', short: 'h' },
  'version': { type: 'boolean', short: 'v' },
} as const

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: DEFINITIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message.split('\n')[0] : String(error))
  }
}

function sinceOf(text: string | undefined): { since?: number } {
  if (text === undefined) return {}
  const since = /^\d{4}-\d\d(-\d\d)?/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(since)) throw new UsageError(`--since wants an ISO 8601 time such as 2026-05-01T12:00Z, got ${JSON.stringify(text)}`)
  return { since }
}

/**
 * Read the command line.
 *
 * @param args - the arguments after the program's name.
 * @returns the options, those of the doctor, or a word to print and be done.
 * @throws UsageError with what is wrong.
 */
export function readOptions(args: readonly string[]): Options | { readonly doctor: DoctorOptions } | 'help' | 'version' {
  const { values, positionals } = parse(args)
  if (values.help === true) return 'help'
  if (values.version === true) return 'version'
  for (const name of ['home', 'session', 'provider', 'html', 'what-if', 'mend', 'out'] as const) {
    if (values[name] === '') throw new UsageError(`--${name} wants a value`)
  }
  if (values.only !== undefined && values.only !== 'failovers') {
    throw new UsageError(`--only knows "failovers", got ${JSON.stringify(values.only)}`)
  }
  if (values.json === true && values.ndjson === true) throw new UsageError('--json and --ndjson exclude each other')
  if (values.home !== undefined && positionals.length > 0) throw new UsageError('--home and files exclude each other')
  if (values.doctor === true) {
    if (positionals.length > 0) throw new UsageError('--doctor looks at a home, given with --home, and at no files')
    return { doctor: { ...values.home === undefined ? {} : { home: values.home }, runBalances: values['run-balances'] === true } }
  }
  if (values['run-balances'] === true) throw new UsageError('--run-balances belongs to --doctor')
  if ((values.mend === undefined) !== (values.out === undefined)) throw new UsageError('--mend LOG and --out FILE go together')
  return {
    paths: positionals,
    ...values.home === undefined ? {} : { home: values.home },
    ...values.session === undefined ? {} : { session: values.session },
    filter: {
      ...sinceOf(values.since),
      ...values.provider === undefined ? {} : { provider: values.provider },
      ...values.only === undefined ? {} : { only: values.only },
    },
    output: values.json === true ? 'json' : values.ndjson === true ? 'ndjson' : 'text',
    timeline: values['no-timeline'] !== true,
    ...values.html === undefined ? {} : { html: values.html },
    ...values['what-if'] === undefined ? {} : { whatIf: values['what-if'] },
    full: values['full-parse'] === true,
    ...values.mend === undefined || values.out === undefined ? {} : { mend: { from: values.mend, to: values.out } },
  }
}
