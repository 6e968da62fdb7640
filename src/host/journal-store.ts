import type { Context } from '@deepseek-ai/cordis'
import { z } from 'zod'
import { type JournalRecord, type JournalRecordOf, readJournalRecord } from '../events/journal.ts'
import { liveRecords } from '../reducers/journal.ts'
import { evolveMarks, initialMarks, type MarksState } from '../reducers/marks.ts'
import { foldWaiting, type WaitingState } from '../reducers/waiting.ts'
import type { Clock } from './clock.ts'
import type { Warn } from './voice.ts'

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

/** Records kept before they are pruned where nothing stores them. */
const UNSTORED_LIMIT = 5_000

/** How long an unload waits for the last write, in ms; a medium that hangs must not hang the host. */
const CLOSE_TIMEOUT_MS = 2_000

/** What one shelf holds: records of ours, and what a later version or a damaged file put there, kept as it is. */
interface Contents {
  records: JournalRecord[]
  foreign: unknown[]
}

/**
 * The journal: folded in memory at once, stored behind the request path where the host has storage.
 *
 * Writes are coalesced: records that arrive while a write runs go into the next one. A medium that fails is warned of
 * once; the records stay, and the next append tries again.
 */
export class Journal {
  private folded: MarksState = initialMarks
  private readonly shelves = new Map<Shelf, Contents>(SHELVES.map(shelf => [shelf, { records: [], foreign: [] }]))
  private readonly dirty = new Set<Shelf>()
  /** Records of a shelf at which it is pruned next, where nothing stores it. */
  private readonly pruneAt = new Map<Shelf, number>()
  /** Epoch ms of the last answer of each provider: storage may open after the first answers came. */
  private readonly answeredAt = new Map<string, number>()
  private readonly clock: Clock
  private readonly warn: Warn
  private domain: OpenDomain | undefined
  private table: Table | undefined
  private loaded = false
  private writing: Promise<void> | undefined

  /**
   * @param clock - for the patience of an unload.
   * @param warn - told once of each way in which storage fails.
   */
  constructor(clock: Clock, warn: Warn) {
    this.clock = clock
    this.warn = warn
  }

  /** The folded marks of providers. */
  get marks(): MarksState {
    return this.folded
  }

  /** The sessions that hold a wait, folded anew at each call. */
  waiting(): WaitingState {
    return foldWaiting(this.contents('waiting').records)
  }

  /** Requests that were moved before they were sent, the oldest first. */
  moves(): JournalRecordOf<'requestMoved'>[] {
    return this.contents('moves').records.filter(record => record.type === 'requestMoved')
  }

  /**
   * Append records. Never throws, never waits.
   *
   * @param records - what happened, in order.
   */
  append(...records: readonly JournalRecord[]): void {
    // What could not be read back would stay for ever: a name beyond all measure stands in no journal.
    for (const record of records.filter(given => readJournalRecord(given) !== undefined)) {
      this.folded = evolveMarks(this.folded, record)
      const shelf = shelfOf(record)
      const contents = this.contents(shelf)
      contents.records.push(record)
      // A write prunes what it stores; without storage nothing else would.
      if (this.table === undefined && contents.records.length > (this.pruneAt.get(shelf) ?? UNSTORED_LIMIT)) {
        contents.records = liveRecords(contents.records)
        // With more live records than the limit every further one would have all of them looked through.
        this.pruneAt.set(shelf, Math.max(UNSTORED_LIMIT, 2 * contents.records.length))
      }
      this.dirty.add(shelf)
    }
    this.write()
  }

  /**
   * Note that a provider answered, which ends its mark.
   *
   * @param provider - the provider.
   * @param at - epoch ms of the answer.
   */
  answered(provider: string, at: number): void {
    this.answeredAt.set(provider, at)
    if (Object.hasOwn(this.folded, provider)) this.append({ type: 'providerLifted', provider, at, by: 'answer' })
  }

  /** Resolves when what was appended so far is stored, or could not be; with a medium that hangs, when it goes on. */
  async settled(): Promise<void> {
    // What came while a write ran is in the next one.
    await this.writing
    await this.writing
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
      // Storage that was loaded anew under a running host holds nothing that is not here already.
      if (!this.loaded) for (const shelf of SHELVES) this.load(shelf, table.get(shelf)?.records ?? [])
      this.loaded = true
      this.folded = this.contents('marks').records.reduce(evolveMarks, initialMarks)
      this.table = table
      for (const [provider, at] of this.answeredAt) this.answered(provider, at)
      this.write()
    } catch (error) {
      this.warn('storage-open', `the journal cannot be read (${codeOf(error)}), so marks of providers are lost at a restart; `
        + `everything else works. The file is left as it is: look at the storage domain "${DOMAIN}", mend or move it away, and restart.`)
    }
  }

  /** Store what is not stored yet, wait for it a little, and let go of the domain. */
  async detach(): Promise<void> {
    const { domain } = this
    if (domain === undefined) return
    this.domain = undefined
    let cancel = (): void => {}
    const timeout = new Promise<void>((resolve) => { cancel = this.clock.after(resolve, CLOSE_TIMEOUT_MS) })
    const stored = async (): Promise<void> => {
      // What could not be written before gets one more chance.
      this.write()
      while (this.writing !== undefined) await this.writing
      await domain.close()
    }
    await Promise.race([stored().catch(() => {}), timeout])
    cancel()
    this.table = undefined
    // A write that hangs is given up; whatever it held goes to the next storage as well.
    this.writing = undefined
    for (const shelf of SHELVES) if (this.contents(shelf).records.length > 0) this.dirty.add(shelf)
  }

  private write(): void {
    const { table } = this
    if (table === undefined || this.writing !== undefined || this.dirty.size === 0) return
    const writing: Promise<void> = this.drain(table).then((failed) => {
      if (this.writing !== writing) return
      this.writing = undefined
      // What came while this wrote, in whatever moment, is the next change that tries again.
      const more = this.dirty.size > 0
      for (const shelf of failed) this.dirty.add(shelf)
      if (more) this.write()
    })
    this.writing = writing
  }

  private contents(shelf: Shelf): Contents {
    const contents = this.shelves.get(shelf) ?? { records: [], foreign: [] }
    this.shelves.set(shelf, contents)
    return contents
  }

  private load(shelf: Shelf, stored: readonly unknown[]): void {
    const local = this.contents(shelf)
    const read = stored.map(value => ({ value, record: readJournalRecord(value) }))
    this.shelves.set(shelf, {
      records: [...read.map(({ record }) => record).filter(record => record !== undefined), ...local.records],
      foreign: read.filter(({ record }) => record === undefined).map(({ value }) => value),
    })
  }

  /** @returns the shelves that could not be written. */
  private async drain(table: Table): Promise<Set<Shelf>> {
    const failed = new Set<Shelf>()
    // One turn of the loop lets everything that happens in this tick share the write.
    await Promise.resolve()
    for (const shelf of [...this.dirty]) {
      // Another storage may be written to by now, and what is not stored is that one's.
      if (this.table !== table) break
      this.dirty.delete(shelf)
      const contents = this.contents(shelf)
      contents.records = liveRecords(contents.records)
      try {
        await table.put(shelf, { records: [...contents.foreign, ...contents.records] })
      } catch (error) {
        failed.add(shelf)
        if (failed.size > 1) continue
        this.warn('storage-write', `the journal cannot be written (${codeOf(error)}), so marks of providers may be lost at a restart; everything else works, and the next change tries again.`)
      }
    }
    return failed
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
 * @param onAttached - told when what was stored has been read, or could not be.
 */
export function attachStorage(ctx: Context, journal: Journal, onAttached: () => void): void {
  ctx.inject(['storageDomain' as never], (inner: Context) => {
    const facility = (inner as unknown as { get(name: string): unknown }).get('storageDomain') as DomainFacility
    const attached = journal.attach(facility).then(onAttached)
    // Stored values that are queued when the storage goes away are refused, so ours are waited for before.
    inner.effect(() => async () => {
      await attached
      await journal.detach()
    }, 'llm-quota-retry: let go of the journal')
  })
}
