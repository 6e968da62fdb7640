import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { type JournalRecordOf, readJournalRecord } from '../events/journal.ts'

type Released = JournalRecordOf<'sessionReleased'>

/**
 * What a person ended, on the disk before anybody is told that it ended.
 *
 * The journal is stored behind what happens, and a host may be killed before that. So each such record is also a line
 * of a file, written on the spot, until the journal holds it.
 */
export class Acts {
  private readonly file: string

  /**
   * @param file - path of the file; it need not be there.
   */
  constructor(file: string) {
    this.file = file
  }

  /**
   * Write one line. A file that cannot be written leaves the record to the journal.
   *
   * @param record - what the person ended.
   * @returns whether it is written.
   */
  write(record: Released): boolean {
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 })
      appendFileSync(this.file, `${JSON.stringify(record)}\n`, { mode: 0o600 })
      return true
    } catch {
      // The journal says so when it cannot be written either.
      return false
    }
  }

  /** What an earlier process wrote and did not live to store; a line that was cut off is none. */
  read(): Released[] {
    try {
      return readFileSync(this.file, 'utf8').split('\n').map(readLine).filter(record => record !== undefined)
    } catch {
      return []
    }
  }

  /** The journal holds them all. */
  clear(): void {
    try {
      rmSync(this.file, { force: true })
    } catch {
      // They are told once more after the next start, which changes nothing.
    }
  }
}

function readLine(line: string): Released | undefined {
  try {
    const record = readJournalRecord(JSON.parse(line))
    return record?.type === 'sessionReleased' ? record : undefined
  } catch {
    return undefined
  }
}
