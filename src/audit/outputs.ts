import type { Filter } from '../projections/audit/filter.ts'
import { keepsRow, narrows } from '../projections/audit/filter.ts'
import { type AuditRecord, type Row, SCHEMA_VERSION, type SessionHead, type SessionTotals } from '../projections/audit/records.ts'
import { Collector, type SessionReport, showsRecord } from '../projections/audit/report.ts'
import type { Listener } from '../projections/audit/listener.ts'
import { jsonText } from '../projections/text.ts'
import { headText, rowText, totalsText } from '../projections/audit/text.ts'

/** Where the parts of one session's audit go, as they come. */
export interface SessionOutput extends Listener {
  /** The session is over; nothing more comes. */
  end(totals: SessionTotals): void
}

/** One form of output. */
export type Output = (head: SessionHead) => SessionOutput

/** Takes text to print. */
export type Print = (text: string) => void

/**
 * Timelines for people, printed as they are read. A session without a line that is asked for is not mentioned.
 *
 * @param filter - what is asked for.
 * @param timeline - whether lines are printed, or only what each session comes to.
 * @param print - takes the text.
 */
export const textOutput = (filter: Filter, timeline: boolean, print: Print): Output => (head) => {
  let kept = false
  let headed = false
  const heading = (): void => {
    if (!headed) print(`${headText(head)}\n`)
    headed = true
  }
  return {
    row(row) {
      if (!keepsRow(row, filter)) return
      kept = true
      if (!timeline) return
      heading()
      print(`${rowText(row)}\n`)
    },
    record() {},
    end(totals) {
      if (!kept && narrows(filter)) return
      heading()
      print(`${totalsText(totals)}\n\n`)
    },
  }
}

/**
 * One JSON record a line, as they are read.
 *
 * @param filter - what is asked for.
 * @param timeline - whether lines for people are records too.
 * @param print - takes the text.
 */
export const ndjsonOutput = (filter: Filter, timeline: boolean, print: Print): Output => (head) => {
  let headed = false
  const line = (value: object): void => { print(`${jsonText({ version: SCHEMA_VERSION, session: head.session, file: head.file, ...value })}\n`) }
  const heading = (): void => {
    if (headed) return
    headed = true
    line({ record: 'session', ...head })
  }
  const told = (value: AuditRecord | { record: 'line' } & Omit<Row, 'providers'>): void => {
    heading()
    line(value)
  }
  return {
    row(row) {
      if (!timeline || !keepsRow(row, filter)) return
      const { providers: _providers, ...rest } = row
      told({ record: 'line', ...rest })
    },
    record(record) {
      if (showsRecord(record, filter)) told(record)
    },
    end(totals) {
      if (!headed && narrows(filter)) return
      heading()
      line({ record: 'session-end', ...totals })
    },
  }
}

/**
 * Sessions as data, kept to the end: for the JSON document and the page.
 *
 * @param filter - what is asked for.
 * @param timeline - whether lines for people are kept.
 * @param keep - takes each session when it is over.
 */
export const collectOutput = (filter: Filter, timeline: boolean, keep: (session: SessionReport) => void): Output => (head) => {
  const collector = new Collector(filter, timeline)
  return {
    row: (row) => { collector.row(row) },
    record: (record) => { collector.record(record) },
    end(totals) {
      if (!collector.empty || !narrows(filter)) keep(collector.report(head, totals))
    },
  }
}
