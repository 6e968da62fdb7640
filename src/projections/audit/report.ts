import type { Filter } from './filter.ts'
import { keepsRecord, keepsRow } from './filter.ts'
import {
  type AnswersRecord, type AuditRecord, type ContinuationRecord, type EntryRecord, type FailureRecord, type MoveRecord, type QuickRetryRecord, type RouteRecord,
  type Row, type SCHEMA_VERSION, type SessionHead, type SessionTotals, type SettingRecord, type TurnRecord, type WaitRecord,
} from './records.ts'
import type { Summary } from './summary.ts'
import type { WhatIfReport } from './what-if.ts'

/** One session in the JSON document. Records of each kind are in the order in which they were complete. */
export interface SessionReport extends SessionHead {
  readonly totals: SessionTotals
  readonly routes: readonly RouteRecord[]
  readonly answers: readonly AnswersRecord[]
  readonly failures: readonly FailureRecord[]
  readonly moves: readonly MoveRecord[]
  readonly waits: readonly WaitRecord[]
  readonly entries: readonly EntryRecord[]
  readonly settings: readonly SettingRecord[]
  readonly quickRetries: readonly QuickRetryRecord[]
  readonly turns: readonly TurnRecord[]
  readonly continuations: readonly ContinuationRecord[]
  /** The lines for people; absent with `--no-timeline`. */
  readonly timeline?: readonly Pick<Row, 'at' | 'until' | 'seq' | 'kind' | 'text'>[]
}

/** Something in the input that could not be read, as the document has it. */
export interface ReportedProblem {
  readonly file: string
  readonly offset: number | null
  /** Whether the offset counts unpacked bytes. */
  readonly unpacked: boolean
  readonly unreadable: boolean
  readonly text: string
}

/** The whole JSON document. */
export interface AuditReport {
  readonly version: typeof SCHEMA_VERSION
  readonly tool: { readonly name: string; readonly version: string }
  readonly filter: Filter & { readonly session?: string }
  readonly sessions: readonly SessionReport[]
  readonly summary: Summary
  readonly problems: readonly ReportedProblem[]
  readonly whatIf?: WhatIfReport
}

/**
 * Whether a record is shown. What is only counted is not.
 *
 * @param record - any record.
 * @param filter - what is asked for.
 */
export const showsRecord = (record: AuditRecord, filter: Filter): boolean =>
  keepsRecord(record, filter) && (filter.only === undefined || record.record === 'move')

/** Collects what is asked for of one session. */
export class Collector {
  /** Whether anything was kept. */
  empty = true
  private readonly filter: Filter
  private readonly rows: Row[] | undefined
  private readonly kept: { [K in AuditRecord['record']]: Extract<AuditRecord, { record: K }>[] } = {
    'route': [], 'answers': [], 'failure': [], 'move': [], 'wait': [], 'entry': [], 'setting': [], 'quick-retry': [], 'turn': [], 'continuation': [],
  }

  /**
   * @param filter - what is asked for.
   * @param timeline - whether the lines for people are kept too.
   */
  constructor(filter: Filter, timeline: boolean) {
    this.filter = filter
    this.rows = timeline ? [] : undefined
  }

  /**
   * Take a line.
   *
   * @param row - the line.
   */
  row(row: Row): void {
    if (!keepsRow(row, this.filter)) return
    this.empty = false
    this.rows?.push(row)
  }

  /**
   * Take a record.
   *
   * @param record - the record.
   */
  record(record: AuditRecord): void {
    if (!showsRecord(record, this.filter)) return
    this.empty = false
    ;(this.kept[record.record] as AuditRecord[]).push(record)
  }

  /**
   * What was kept.
   *
   * @param head - who the session is.
   * @param totals - what it comes to.
   */
  report(head: SessionHead, totals: SessionTotals): SessionReport {
    const { kept, rows } = this
    return {
      ...head, totals,
      routes: kept['route'], answers: kept['answers'], failures: kept['failure'], moves: kept['move'], waits: kept['wait'],
      entries: kept['entry'], settings: kept['setting'], quickRetries: kept['quick-retry'], turns: kept['turn'], continuations: kept['continuation'],
      ...rows === undefined ? {} : { timeline: rows.map(({ providers: _providers, ...row }) => row) },
    }
  }
}
