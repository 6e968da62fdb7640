import { readFileSync } from 'node:fs'
import type { JournalRecord, JournalRecordOf } from '../events/journal.ts'
import type { Report } from './problems.ts'

/** What the audit takes from the journal of one home. */
export interface JournalFile {
  readonly file: string
  /** Moves before sending, by session. */
  readonly moves: ReadonlyMap<string, readonly JournalRecordOf<'requestMoved'>[]>
  /** Every record, in stored order. */
  readonly records: readonly JournalRecord[]
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** The stored values of the journal's one table; anything else is nothing. */
function storedRecords(document: unknown): unknown[] {
  const tables = isRecord(document) ? document['tables'] : undefined
  const table = isRecord(tables) ? tables['journal'] : undefined
  if (!isRecord(table)) throw new Error('not a journal')
  return Object.values(table).flatMap(shelf => isRecord(shelf) && Array.isArray(shelf['records']) ? shelf['records'] as unknown[] : [])
}

/**
 * Read the journal of a home. It is optional: what it holds is not in the logs, and the logs explain the rest alone.
 *
 * @param file - its path.
 * @param report - told when it cannot be read.
 */
export async function readJournal(file: string, report: Report): Promise<JournalFile | undefined> {
  try {
    // The schemas are needed only here, and would double the start of every other run.
    const { readJournalRecord } = await import('../events/journal.ts')
    const records = storedRecords(JSON.parse(readFileSync(file, 'utf8'))).map(readJournalRecord).filter(record => record !== undefined)
    const moves = new Map<string, JournalRecordOf<'requestMoved'>[]>()
    for (const record of records) {
      if (record.type === 'requestMoved') moves.set(record.session, [...moves.get(record.session) ?? [], record])
    }
    return { file, moves, records }
  } catch (error) {
    report({ file, offset: null, unpacked: false, unreadable: true, text: `the journal cannot be read (${(error as { code?: string }).code ?? (error as Error).message}); the logs are audited without it` })
    return undefined
  }
}
