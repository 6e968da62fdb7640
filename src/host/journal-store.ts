import type { Context } from '@deepseek-ai/cordis'
import { type JournalRecord, type JournalRecordOf, readJournalRecord } from '../events/journal.ts'
import type { Route } from '../events/route.ts'
import { liveRecords } from '../reducers/journal.ts'
import { evolveMarks, initialMarks, type LiftRecord, markKey, type MarksState } from '../reducers/marks.ts'
import { foldWaiting, type WaitingState } from '../reducers/waiting.ts'
import type { Clock } from './clock.ts'
import { codeOf, DOMAIN, type DomainFacility, type Medium, type Opening, openMedium } from './medium.ts'
import type { Warn } from './voice.ts'

/** The records of one subject matter share one stored value, so that a burst of them is one write. */
type Shelf = 'marks' | 'waiting' | 'moves'

const SHELVES: readonly Shelf[] = ['marks', 'waiting', 'moves']

const shelfOf = (record: JournalRecord): Shelf => {
  switch (record.type) {
    case 'providerMarked':
    case 'providerLifted':
    case 'routeMarked':
    case 'routeLifted':
      return 'marks'
    case 'sessionWaiting':
    case 'sessionReleased':
      return 'waiting'
    case 'requestMoved':
      return 'moves'
  }
}

/** Records kept before they are pruned where nothing stores them. */
const UNSTORED_LIMIT = 5_000

/** How long an unload waits for the last write, in ms; a medium that hangs must not hang the host. */
const CLOSE_TIMEOUT_MS = 2_000
/** Time to the next attempt to open or to write what failed, in ms. */
const AGAIN_MS = 60_000
/** A write that takes longer than this, in ms, is worth a word. */
const SLOW_MS = 30_000

/** What one shelf holds: records of ours, and what a later version or a damaged file put there, kept as it is. */
interface Contents {
  records: JournalRecord[]
  foreign: unknown[]
}

/** What was opened for somebody who has gone meanwhile. */
async function closeAll(opening: Opening): Promise<void> {
  if (opening.kind === 'open') await Promise.allSettled([opening.medium.close(), opening.spare?.close()])
}

/**
 * The journal: folded in memory at once, stored behind the request path where the host has storage.
 *
 * Writes are coalesced: records that arrive while a write runs go into the next one. A medium that fails is warned of
 * once; the records stay, and the next append, or the next minute, tries again.
 */
export class Journal {
  private folded: MarksState = initialMarks
  private readonly shelves = new Map<Shelf, Contents>(SHELVES.map(shelf => [shelf, { records: [], foreign: [] }]))
  private readonly dirty = new Set<Shelf>()
  /** Records of a shelf at which it is pruned next, where nothing stores it. */
  private readonly pruneAt = new Map<Shelf, number>()
  /** What the last answer of each provider and route lifts: storage may open after the first answers came. */
  private readonly answers = new Map<string, LiftRecord>()
  private readonly clock: Clock
  private readonly warn: Warn
  private medium: Medium | undefined
  /** Holds what was stored while the first domain could not be read, until the medium does. */
  private spare: Medium | undefined
  /** Names of the domains that have been read: what they held then is here. */
  private readonly read = new Set<string>()
  private attached: AbortController | undefined
  private cancelAgain: (() => void) | undefined
  private opening: Promise<void> | undefined
  private detaching: Promise<void> | undefined
  private writing: Promise<void> | undefined
  /** When the last write began, on a clock that no one sets and that stands still while the machine sleeps. */
  private putSince = 0
  private cancelSlow: (() => void) | undefined

  /**
   * @param clock - for the patience of an unload.
   * @param warn - told once of each way in which storage fails.
   */
  constructor(clock: Clock, warn: Warn) {
    this.clock = clock
    this.warn = warn
  }

  /** The folded marks of providers and routes. */
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
      // A write prunes what it stores; without storage, or while a write hangs, nothing else would.
      if (contents.records.length > (this.pruneAt.get(shelf) ?? UNSTORED_LIMIT)) {
        contents.records = liveRecords(contents.records)
        // With more live records than the limit every further one would have all of them looked through.
        this.pruneAt.set(shelf, Math.max(UNSTORED_LIMIT, 2 * contents.records.length))
      }
      this.dirty.add(shelf)
    }
    this.write()
  }

  /**
   * Note that a route answered, which ends its own mark and its provider's: other models of the provider keep theirs.
   *
   * @param route - the route.
   * @param at - epoch ms at which the answered request was sent.
   */
  answered({ provider, model }: Route, at: number): void {
    const heard = { provider, at, by: 'answer' as const, heardAt: this.clock.now() }
    this.lift({ type: 'providerLifted', ...heard })
    this.lift({ type: 'routeLifted', ...heard, model })
  }

  /** An answer that lifts nothing now may lift what is stored. */
  private lift(record: LiftRecord): void {
    this.answers.set(markKey(record), record)
    if (Object.hasOwn(this.folded, markKey(record))) this.append(record)
  }

  /** Resolves when what was appended so far is stored, or could not be; with a medium that hangs, when it goes on. */
  async settled(): Promise<void> {
    // What came while a write ran is in the next one.
    await this.writing
    await this.writing
  }

  /**
   * Begin to store, once the host offers storage. What was stored before comes first in the fold. Storage that does not
   * open is tried again, until {@link detach}.
   *
   * @param facility - the host's storage domains.
   * @param onRead - told whenever stored records have been read.
   */
  async attach(facility: DomainFacility, onRead: () => void = () => {}): Promise<void> {
    const attached = new AbortController()
    this.attached = attached
    const open = async (): Promise<void> => {
      const opening = await openMedium(facility, SHELVES, this.clock.now())
      if (attached.signal.aborted) return closeAll(opening)
      this.report(opening)
      if (opening.kind === 'open') {
        this.use(opening)
        onRead()
      } else this.again(start)
    }
    const start = (): void => {
      const opening: Promise<void> = open().finally(() => { if (this.opening === opening) this.opening = undefined })
      this.opening = opening
    }
    start()
    await this.opening
  }

  private report(opening: Opening): void {
    if (opening.kind === 'shared') {
      this.warn('storage-shared', `another dsh (process ${opening.pid}) uses this home and keeps its journal, so waits of this one are not found again after a restart; `
        + 'everything else works. Stop one of the two, or give it another DSH_HOME; this is looked at again every minute.')
      return
    }
    const code = opening.kind === 'failed' ? opening.code : opening.unreadable
    if (code === undefined) return
    this.warn('storage-open', `the journal cannot be read (${code}), so marks of providers and waits from before are not known here; everything else works. `
      + `The file is left as it is: look at the storage domain "${DOMAIN}", mend it or move it away, and restart. `
      + (opening.kind === 'open' ? `Until then the journal is kept in "${opening.medium.name}".` : 'It is tried again every minute.'))
  }

  private use({ medium, spare }: Extract<Opening, { kind: 'open' }>): void {
    // Storage that was loaded anew under a running host holds nothing that is not here already.
    const unread = [medium, ...spare === undefined ? [] : [spare]].filter(({ name }) => !this.read.has(name))
    this.load(unread)
    for (const { name } of unread) this.read.add(name)
    if (spare !== undefined) for (const shelf of SHELVES) this.dirty.add(shelf)
    if (unread.length > 0 && this.answers.size > 0) this.dirty.add('marks')
    this.folded = this.contents('marks').records.reduce(evolveMarks, initialMarks)
    this.medium = medium
    this.spare = spare
    this.write()
  }

  /** Store what is not stored yet, wait for it a little, and let go of the domain. */
  detach(): Promise<void> {
    this.attached?.abort()
    this.cancelAgain?.()
    this.detaching ??= this.letGo().finally(() => { this.detaching = undefined })
    return this.detaching
  }

  private async letGo(): Promise<void> {
    const { medium, opening } = this
    if (medium === undefined && opening === undefined) return
    let cancel = (): void => {}
    const timeout = new Promise<void>((resolve) => { cancel = this.clock.after(resolve, CLOSE_TIMEOUT_MS) })
    const stored = async (): Promise<void> => {
      await opening
      // What could not be written before gets one more chance.
      this.write()
      while (this.writing !== undefined) await this.writing
      await Promise.all([medium?.close(), this.spare?.close()])
    }
    await Promise.race([stored().catch(() => {}), timeout])
    cancel()
    this.cancelAgain?.()
    this.cancelSlow?.()
    this.medium = undefined
    this.spare = undefined
    // A write that hangs is given up; whatever it held goes to the next storage as well.
    this.writing = undefined
    for (const shelf of SHELVES) if (this.contents(shelf).records.length > 0) this.dirty.add(shelf)
  }

  /** Do something once more, a while later. */
  private again(run: () => void): void {
    this.cancelAgain?.()
    this.cancelAgain = this.clock.after(() => {
      this.cancelAgain = undefined
      run()
    }, AGAIN_MS)
  }

  private write(): void {
    const { medium } = this
    if (this.writing !== undefined) this.lookIfSlow()
    if (medium === undefined || this.writing !== undefined || this.dirty.size === 0) return
    this.putSince = performance.now()
    this.watchSlow()
    const writing: Promise<void> = this.drain(medium).then((failed) => {
      if (this.writing !== writing) return
      this.writing = undefined
      this.cancelSlow?.()
      // What came while this wrote, in whatever moment, is the next change that tries again.
      const more = this.dirty.size > 0
      for (const shelf of failed) this.dirty.add(shelf)
      if (more) this.write()
      else if (failed.size > 0) this.again(() => { this.write() })
    })
    this.writing = writing
  }

  /** A write that hangs is spoken of, also where nothing more comes to be written. */
  private watchSlow(): void {
    this.cancelSlow?.()
    this.cancelSlow = this.clock.after(() => {
      if (!this.lookIfSlow()) this.watchSlow()
    }, SLOW_MS)
  }

  private lookIfSlow(): boolean {
    // A machine that slept wakes with every timer due; what counts is how long it was awake.
    const slow = performance.now() - this.putSince > SLOW_MS
    if (slow) this.warn('storage-slow', `a write of the journal has not ended after ${SLOW_MS / 1_000} seconds; until it does nothing more is stored, and everything else works. Look at the medium of the storage.`)
    return slow
  }

  private contents(shelf: Shelf): Contents {
    const contents = this.shelves.get(shelf) ?? { records: [], foreign: [] }
    this.shelves.set(shelf, contents)
    return contents
  }

  /**
   * What is read comes before what is here already, in the order in which it was stored. Answers that came before it
   * was read lift what it holds, and nothing that was marked here since.
   */
  private load(sources: readonly Medium[]): void {
    for (const shelf of SHELVES) {
      const local = this.contents(shelf)
      const read = sources.flatMap(source => source.records(shelf)).map(value => ({ value, record: readJournalRecord(value) }))
      this.shelves.set(shelf, {
        records: [
          ...read.map(({ record }) => record).filter(record => record !== undefined),
          ...shelf === 'marks' && read.length > 0 ? this.answers.values() : [],
          ...local.records,
        ],
        foreign: [...read.filter(({ record }) => record === undefined).map(({ value }) => value), ...local.foreign],
      })
    }
  }

  /** @returns the shelves that could not be written. */
  private async drain(medium: Medium): Promise<Set<Shelf>> {
    const failed = new Set<Shelf>()
    // One turn of the loop lets everything that happens in this tick share the write.
    await Promise.resolve()
    for (const shelf of [...this.dirty]) {
      // Another storage may be written to by now, and what is not stored is that one's.
      if (this.medium !== medium) break
      this.dirty.delete(shelf)
      const contents = this.contents(shelf)
      contents.records = liveRecords(contents.records)
      try {
        this.putSince = performance.now()
        await medium.put(shelf, [...contents.foreign, ...contents.records])
      } catch (error) {
        failed.add(shelf)
        if (failed.size > 1) continue
        this.warn('storage-write', `the journal cannot be written (${codeOf(error)}), so marks of providers and waits may not be known after a restart; everything else works. `
          + 'Look at the space and the permissions of the storage; it is tried again with the next change, and every minute.')
      }
    }
    if (failed.size === 0 && this.medium === medium) this.dropSpare()
    return failed
  }

  /** What the spare held is in the journal's own place again. */
  private dropSpare(): void {
    const { spare } = this
    if (spare === undefined) return
    this.spare = undefined
    const emptied = Promise.all(SHELVES.map(shelf => spare.put(shelf, [])))
    void emptied.catch(() => {}).then(() => spare.close()).catch(() => {})
  }
}

/**
 * Attach the journal to the host's storage whenever there is one; headless assemblies have none.
 *
 * @param ctx - the plugin's context.
 * @param journal - the journal.
 * @param onRead - told when what was stored has been read.
 */
export function attachStorage(ctx: Context, journal: Journal, onRead: () => void): void {
  ctx.inject(['storageDomain' as never], (inner: Context) => {
    const facility = (inner as unknown as { get(name: string): unknown }).get('storageDomain') as DomainFacility
    void journal.attach(facility, onRead)
    // Stored values that are queued when the storage goes away are refused, so ours are waited for before.
    inner.effect(() => () => journal.detach(), 'llm-quota-retry: let go of the journal')
  })
}
