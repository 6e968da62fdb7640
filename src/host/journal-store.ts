import type { Context } from '@deepseek-ai/cordis'
import { z } from 'zod'
import type { JournalRecord } from '../events/journal.ts'
import { evolveJournal, foldJournal, initialJournal, type JournalState, pruneJournal } from '../reducers/journal.ts'
import type { Clock } from './clock.ts'
import type { Warn } from './warn.ts'

/** Name of the storage domain. */
export const DOMAIN = 'llm_quota_retry'

/** The records of one subject matter share one stored value, so that a burst of them is one write. */
type Shelf = 'marks' | 'waiting' | 'moves'

const SHELVES: readonly Shelf[] = ['marks', 'waiting', 'moves']

const shelfOf = (record: JournalRecord): Shelf => {
  switch (record.type) {
    case 'providerMarked':
    case 'providerLifted':
      return 'marks'
    case 'sessionWaiting':
    case 'sessionReleased':
      return 'waiting'
    case 'requestMoved':
      return 'moves'
  }
}

/**
 * What is stored. One record that the harness cannot validate makes the whole domain unreadable, so the stored value
 * takes any record, also those of later versions, and each is read on its own.
 */
const Stored = z.looseObject({ records: z.array(z.unknown()) })
type Stored = z.infer<typeof Stored>

interface Table {
  get(key: string): Stored | undefined
  put(key: string, value: Stored): Promise<void>
}
interface OpenDomain {
  table(name: 'journal'): Table
  close(): Promise<void>
}
interface DomainFacility {
  open(spec: unknown): Promise<OpenDomain>
}

/** How long an unload waits for the last write, in ms; a medium that hangs must not hang the host. */
const CLOSE_TIMEOUT_MS = 2_000

/**
 * The journal: folded in memory at once, stored behind the request path where the host has storage.
 *
 * Writes are coalesced: records that arrive while a write runs go into the next one. A medium that fails is warned of
 * once; the records stay, and the next append tries again.
 */
export class Journal {
  private folded: JournalState = initialJournal
  private readonly shelves = new Map<Shelf, unknown[]>(SHELVES.map(shelf => [shelf, []]))
  private readonly dirty = new Set<Shelf>()
  private readonly clock: Clock
  private readonly warn: Warn
  private domain: OpenDomain | undefined
  private table: Table | undefined
  private writing: Promise<void> | undefined

  /**
   * @param clock - for the patience of an unload.
   * @param warn - told once of each way in which storage fails.
   */
  constructor(clock: Clock, warn: Warn) {
    this.clock = clock
    this.warn = warn
  }

  /** The folded journal. */
  get state(): JournalState {
    return this.folded
  }

  /**
   * Append records. Never throws, never waits.
   *
   * @param records - what happened, in order.
   */
  append(...records: readonly JournalRecord[]): void {
    for (const record of records) {
      this.folded = evolveJournal(this.folded, record)
      const shelf = shelfOf(record)
      this.shelves.get(shelf)?.push(record)
      this.dirty.add(shelf)
    }
    this.write()
  }

  /**
   * Begin to store, once the host offers storage. What was stored before comes first in the fold.
   *
   * @param facility - the host's storage domains.
   */
  async attach(facility: DomainFacility): Promise<void> {
    try {
      this.domain = await facility.open({ name: DOMAIN, version: 0, tables: { journal: { valueSchema: Stored } } })
      const table = this.domain.table('journal')
      for (const shelf of SHELVES) {
        const local = this.shelves.get(shelf) ?? []
        const stored = table.get(shelf)?.records ?? []
        this.shelves.set(shelf, [...stored, ...local])
      }
      this.folded = foldJournal(SHELVES.flatMap(shelf => this.shelves.get(shelf) ?? []))
      this.table = table
      this.write()
    } catch (error) {
      this.warn('storage-open', `the journal cannot be read (${codeOf(error)}), so marks of providers are lost at a restart; `
        + `everything else works. The file is left as it is: look at the storage domain "${DOMAIN}", mend or move it away, and restart.`)
    }
  }

  /** Store what is not stored yet, wait for it a little, and let go of the domain. */
  async close(): Promise<void> {
    if (this.domain === undefined) return
    let cancel = (): void => {}
    const timeout = new Promise<void>((resolve) => { cancel = this.clock.after(resolve, CLOSE_TIMEOUT_MS) })
    await Promise.race([this.settle(), timeout])
    cancel()
    this.table = undefined
  }

  /** Resolves when nothing is left to store. */
  async settled(): Promise<void> {
    while (this.writing !== undefined) await this.writing
  }

  private async settle(): Promise<void> {
    await this.settled()
    await this.domain?.close()
  }

  private write(): void {
    if (this.table === undefined || this.writing !== undefined || this.dirty.size === 0) return
    this.writing = this.drain(this.table).finally(() => { this.writing = undefined })
  }

  private async drain(table: Table): Promise<void> {
    // One turn of the loop lets everything that happens in this tick share the write.
    await Promise.resolve()
    while (this.dirty.size > 0) {
      for (const shelf of [...this.dirty]) {
        this.dirty.delete(shelf)
        const records = pruneJournal(this.shelves.get(shelf) ?? [])
        this.shelves.set(shelf, records)
        try {
          await table.put(shelf, { records: [...records] })
        } catch (error) {
          this.dirty.add(shelf)
          this.warn('storage-write', `the journal cannot be written (${codeOf(error)}), so marks of providers may be lost at a restart; everything else works, and the next change tries again.`)
          return
        }
      }
    }
  }
}

/** The code of a storage error; its text may hold paths, and never helps more. */
function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown error'
}

/**
 * Attach the journal to the host's storage whenever there is one; headless assemblies have none.
 *
 * @param ctx - the plugin's context.
 * @param journal - the journal.
 */
export function attachStorage(ctx: Context, journal: Journal): void {
  ctx.inject(['storageDomain' as never], (inner: Context) => {
    const facility = (inner as unknown as { get(name: string): unknown }).get('storageDomain') as DomainFacility
    void journal.attach(facility)
  })
}
