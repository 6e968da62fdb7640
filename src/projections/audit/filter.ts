import type { AuditRecord, Row } from './records.ts'
import { providersOf } from './records.ts'

/** What of a history is asked for. */
export interface Filter {
  /** Epoch ms: what was over before is left out. */
  readonly since?: number
  readonly provider?: string
  readonly only?: 'failovers'
}

/** The kinds of lines that tell of a move; each names its rule. */
const MOVING: ReadonlySet<Row['kind']> = new Set<Row['kind']>(['move'])

/** End of a record, epoch ms; what is still open ends never. */
function endOf(record: AuditRecord): number {
  switch (record.record) {
    case 'answers': return record.until
    case 'wait': return record.endedBy === 'log-ended' ? Number.POSITIVE_INFINITY : record.endedAt ?? record.at
    case 'entry': return record.leftAt ?? Number.POSITIVE_INFINITY
    default: return record.at
  }
}

/**
 * Whether a record is asked for. The summary counts these.
 *
 * @param record - any record.
 * @param filter - what is asked for; `only` narrows what is shown, not what is counted.
 */
export function keepsRecord(record: AuditRecord, filter: Filter): boolean {
  if (filter.since !== undefined && endOf(record) < filter.since) return false
  return filter.provider === undefined || providersOf(record).includes(filter.provider)
}

/**
 * Whether a line is asked for.
 *
 * @param row - the line.
 * @param filter - what is asked for.
 */
export function keepsRow(row: Row, filter: Filter): boolean {
  if (filter.since !== undefined && (row.until ?? row.at) < filter.since) return false
  if (filter.provider !== undefined && !row.providers.includes(filter.provider)) return false
  return filter.only === undefined || MOVING.has(row.kind)
}

/** Whether anything is filtered away, so that a session without a kept line is not worth a heading. */
export const narrows = (filter: Filter): boolean =>
  filter.since !== undefined || filter.provider !== undefined || filter.only !== undefined
