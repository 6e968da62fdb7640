import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Advance } from '../projections/audit/advance.ts'
import { keepsRecord } from '../projections/audit/filter.ts'
import { type AuditRecord, type Row, SCHEMA_VERSION } from '../projections/audit/records.ts'
import type { AuditReport, ReportedProblem, SessionReport } from '../projections/audit/report.ts'
import type { Listener } from '../projections/audit/listener.ts'
import { SessionAudit } from '../projections/audit/session.ts'
import { Totals } from '../projections/audit/summary.ts'
import { summaryText } from '../projections/audit/text.ts'
import type { WhatIf } from '../projections/audit/what-if.ts'
import { whatIfText } from '../projections/audit/what-if-text.ts'
import { jsonText, oneLine } from '../projections/text.ts'
import { chooseSession } from './choose-session.ts'
import { answersTo, type Found, findLogs } from './find.ts'
import { type JournalFile, readJournal } from './journal-file.ts'
import type { Options } from './options.ts'
import { collectOutput, ndjsonOutput, type Output, type Print, textOutput } from './outputs.ts'
import type { Problem, Report } from './problems.ts'
import { readSession, STDIN } from './reader.ts'

/** What a run needs from outside. */
export interface Surroundings {
  readonly print: Print
  readonly complain: Print
  readonly writeFile: (path: string, text: string) => void
  readonly whatIf?: WhatIf
  readonly version: string
}

/** A problem as it is told on standard error. */
function problemText({ file, offset, unpacked, text }: Problem): string {
  const place = offset === null ? '' : ` at byte ${offset}${unpacked ? ' of its unpacked content' : ''}`
  return `dsh-quota-audit: ${oneLine(file, 500)}${place}: ${oneLine(text, 500)}\n`
}

type MovesOf = NonNullable<ConstructorParameters<typeof SessionAudit>[2]>

/** A session that is being read. */
interface OneSession {
  readonly audit: SessionAudit
  /** Its log is over. */
  end(): void
}

/** One run over all logs. */
class Run {
  private readonly options: Options
  private readonly around: Surroundings
  private readonly outputs: Output[] = []
  private readonly totals = new Totals()
  private readonly sessions: SessionReport[] = []
  private readonly forPage: SessionReport[] = []
  private readonly problems: ReportedProblem[] = []
  private readonly journals = new Map<string, Promise<JournalFile | undefined>>()
  private unreadable = false
  private matched = false
  /** The whole id of the session that is asked for, once it is known. */
  private chosen: string | undefined
  private first: string | undefined

  constructor(options: Options, around: Surroundings) {
    this.options = options
    this.around = around
    const { filter, timeline, output, html } = options
    if (output === 'text') this.outputs.push(textOutput(filter, timeline, around.print))
    if (output === 'ndjson') this.outputs.push(ndjsonOutput(filter, timeline, around.print))
    if (output === 'json') this.outputs.push(collectOutput(filter, timeline, session => this.sessions.push(session)))
    const { only: _only, ...whole } = filter
    if (html !== undefined) this.outputs.push(collectOutput(whole, timeline, session => this.forPage.push(session)))
  }

  async all(): Promise<number> {
    const { session } = this.options
    if (session !== undefined) this.chosen = await chooseSession(session, findLogs(this.options, () => {}))
    for (const found of findLogs(this.options, this.report)) {
      await this.one(found)
      // A reader that went away, as `head` does, is heard of only between two turns of the loop.
      await nextTurn()
    }
    if (session !== undefined && !this.matched) {
      this.report({ file: 'session', offset: null, unpacked: false, unreadable: true, text: `no log of a session ${JSON.stringify(session)} was found` })
    }
    await this.finish()
    return this.unreadable ? 1 : 0
  }

  private readonly report: Report = (problem) => {
    const { file, offset, unpacked, unreadable, text } = problem
    this.unreadable ||= unreadable
    // A damaged disk must not fill the memory.
    if (this.problems.length < 10_000) this.problems.push({ file, offset, unpacked, unreadable, text })
    this.around.complain(problemText(problem))
  }

  /** One file: most often one session; several where logs were put end to end. */
  private async one({ path, journal }: Found): Promise<void> {
    const moves = journal === undefined ? undefined : await this.journal(journal)
    const file = path === STDIN ? 'standard input' : path
    const begin = (): OneSession => this.session(file, id => moves?.moves.get(id) ?? [])
    let session = begin()
    let wanted: boolean | undefined
    let opened = false
    const step = (taken: Advance): boolean => {
      const opens = taken.fact.type === 'sessionOpened'
      if (opens && opened) {
        if (wanted === true) session.end()
        session = begin()
        wanted = undefined
      }
      opened ||= opens
      wanted ??= this.isWanted(taken)
      if (wanted) {
        session.audit.push(taken)
        this.around.whatIf?.push(taken, file)
      }
      // Of a file one session is enough to know that it is not asked for.
      return wanted || path === STDIN
    }
    const { isLog } = await readSession(path, { step, report: this.report, full: this.options.full })
    if (wanted !== false && isLog) session.end()
  }

  /** One session, and what is made of it. */
  private session(file: string, movesOf: MovesOf): OneSession {
    const sinks: Listener[] = []
    const listener: Listener = {
      row: (row: Row) => { for (const sink of sinks) sink.row(row) },
      record: (record: AuditRecord) => { for (const sink of sinks) sink.record(record) },
    }
    const audit = new SessionAudit(file, listener, movesOf)
    const outputs = this.outputs.map(output => output(audit.head))
    let affected = false
    const count: Listener = {
      row() {},
      record: (record) => {
        if (!keepsRecord(record, this.options.filter)) return
        affected ||= record.record === 'entry'
        this.totals.add(record, audit.head)
      },
    }
    sinks.push(...outputs, count)
    const end = (): void => {
      this.matched = true
      this.around.whatIf?.end()
      const totals = audit.end()
      this.totals.session(affected)
      for (const output of outputs) output.end(totals)
    }
    return { audit, end }
  }

  private isWanted({ fact }: Advance): boolean {
    const { session } = this.options
    if (session === undefined) return true
    if (fact.type !== 'sessionOpened' || !answersTo(fact.id, session)) return false
    if (this.chosen !== undefined) return fact.id === this.chosen
    // Standard input is read once: the first that begins like this is taken.
    this.first ??= fact.id
    if (fact.id !== this.first) {
      this.report({ file: 'session', offset: null, unpacked: false, unreadable: true, text: `${fact.id} begins like ${this.first}, and is left out; give more of the id` })
    }
    return fact.id === this.first
  }

  private journal(path: string): Promise<JournalFile | undefined> {
    const known = this.journals.get(path) ?? readJournal(path, this.report)
    this.journals.set(path, known)
    return known
  }

  private document(sessions: readonly SessionReport[]): AuditReport {
    const { filter, session } = this.options
    const { whatIf, version } = this.around
    return {
      version: SCHEMA_VERSION,
      tool: { name: 'dsh-quota-audit', version },
      filter: { ...filter, ...session === undefined ? {} : { session } },
      sessions,
      summary: this.totals.summary,
      problems: this.problems,
      ...whatIf === undefined ? {} : { whatIf: whatIf.report },
    }
  }

  private async finish(): Promise<void> {
    const { output, html } = this.options
    const { print, whatIf, writeFile } = this.around
    if (html !== undefined) {
      const { page } = await import('../projections/audit/html.ts')
      try {
        writeFile(html, page(this.document(this.forPage)))
      } catch (error) {
        this.report({ file: html, offset: null, unpacked: false, unreadable: true, text: `the page cannot be written (${(error as { code?: string }).code ?? String(error)})` })
      }
    }
    if (output === 'json') print(`${jsonText(this.document(this.sessions), 2)}\n`)
    if (output === 'ndjson') {
      for (const problem of this.problems) print(`${jsonText({ version: SCHEMA_VERSION, record: 'problem', ...problem })}\n`)
      print(`${jsonText({ version: SCHEMA_VERSION, record: 'summary', ...this.totals.summary })}\n`)
      if (whatIf !== undefined) print(`${jsonText({ version: SCHEMA_VERSION, record: 'what-if', ...whatIf.report })}\n`)
    }
    if (output === 'text') {
      print(`${summaryText(this.totals.summary)}\n`)
      if (whatIf !== undefined) print(`\n${whatIfText(whatIf.report)}\n`)
    }
  }
}

/**
 * Audit everything that the command line names.
 *
 * @param options - the command line.
 * @param around - the outside.
 * @returns the exit code: 0, or 1 when some input could not be read.
 * @throws UsageError when nothing says where to look.
 */
export const runAudit = (options: Options, around: Surroundings): Promise<number> => new Run(options, around).all()
