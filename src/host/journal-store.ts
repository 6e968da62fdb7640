import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { type JournalRecord, type JournalRecordOf, readJournalRecord } from '../events/journal.ts'
import type { Route } from '../events/route.ts'
import { liveRecords } from '../reducers/journal.ts'
import { evolveMarks, initialMarks, type LiftRecord, markKey, type MarksState } from '../reducers/marks.ts'
import { foldWaiting, type WaitingState } from '../reducers/waiting.ts'
import { Acts } from './acts.ts'
import { Claim, LOOK_MS } from './claim.ts'
import { type Clock, uptimeMs } from './clock.ts'
import { storageDirectory } from './harness.ts'
import { DOMAIN, type DomainFacility, type Medium, type Opening, openMedium } from './medium.ts'
import { type Shelf, shelfOf, SHELVES, Shelves } from './shelves.ts'
import { reportOpening, warnLost, warnSlow, warnUnwritten } from './storage-words.ts'
import type { Warn } from './voice.ts'

/** Records kept before they are pruned where nothing stores them. */
const UNSTORED_LIMIT = 5_000

/** Who owns the journal stands here, next to its file. */
export const OWNER_DIRECTORY = 'llm_quota_retry_owner'

/** How long an unload waits for the last write, in ms; a medium that hangs must not hang the host. */
const CLOSE_TIMEOUT_MS = 2_000
/** Time to the next attempt to open or to write what failed, in ms. */
const AGAIN_MS = 60_000
/** A write that takes longer than this, in ms, is worth a word. */
const SLOW_MS = 30_000

/**
 * How the journal stands to its storage. `none`: this host has none. `opening`: it is being opened. `failed`: it cannot
 * be opened, or went away. `shared`: another host owns it. `partly`: it is written to, but what was stored before cannot
 * be read.
 */
export type Standing = 'none' | 'opening' | 'failed' | 'shared' | 'partly' | 'open'

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
  private readonly shelves = new Shelves()
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
  private claim: Claim | undefined
  private acts: Acts | undefined
  private stood: Standing = 'none'
  /** What persons ended and the journal does not hold yet. */
  private actsKept = 0
  private cancelAgain: (() => void) | undefined
  private opening: Promise<void> | undefined
  private detaching: Promise<void> | undefined
  private lettingGo = false
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

  /** How the journal stands to its storage. */
  get standing(): Standing {
    return this.stood
  }

  /**
   * Whether this host may open sessions by itself: not where another host does. Looked up anew at each call, for a host
   * that stood still may have been taken for dead.
   */
  async opensSessions(): Promise<boolean> {
    if (this.stood === 'none') return true
    if (this.medium === undefined) return false
    return await this.claim?.confirm().catch(() => false) ?? true
  }

  /** The sessions that hold a wait, folded anew at each call. */
  waiting(): WaitingState {
    return foldWaiting(this.shelves.of('waiting').records)
  }

  /** Requests that were moved before they were sent, the oldest first. */
  moves(): JournalRecordOf<'requestMoved'>[] {
    return this.shelves.of('moves').records.filter(record => record.type === 'requestMoved')
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
      const contents = this.shelves.of(shelf)
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

  /**
   * A person ended a wait: that is on the disk when this returns, wherever it can be. {@link settled} tells when it would
   * outlive a power cut, too.
   *
   * @param session - id of the session.
   * @param at - epoch ms.
   */
  release(session: string, at: number): void {
    const known = this.waiting()[session]
    const record: JournalRecordOf<'sessionReleased'> = { type: 'sessionReleased', session, at, ...known?.turn === undefined ? {} : { turn: known.turn } }
    if (known !== undefined && this.medium !== undefined && this.acts?.write(record) === true) this.actsKept += 1
    this.append(record)
  }

  /** Whether something is not stored yet, and would be lost with this process. */
  get isBehind(): boolean {
    return this.medium !== undefined && (this.dirty.size > 0 || this.writing !== undefined)
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
   * @param directory - where the storage keeps its files, if it does: other hosts may use the same.
   */
  async attach(facility: DomainFacility, onRead: () => void = () => {}, directory?: string): Promise<void> {
    const attached = new AbortController()
    this.attached = attached
    this.stood = 'opening'
    const ownDirectory = directory === undefined ? undefined : join(directory, OWNER_DIRECTORY)
    this.acts = ownDirectory === undefined ? undefined : new Acts(join(ownDirectory, 'released.jsonl'))
    const claim = ownDirectory === undefined ? undefined : new Claim({
      directory: ownDirectory, clock: this.clock,
      onLost: () => {
        if (attached.signal.aborted) return
        this.lose()
        this.again(start, LOOK_MS)
      },
    })
    this.claim = claim
    const open = async (): Promise<void> => {
      const opening = await openMedium(facility, SHELVES, claim)
      // What an unload finds not stored yet is stored before it ends, unless it had no more patience.
      if (attached.signal.aborted && this.lettingGo && opening.kind === 'open') return this.use(opening)
      if (attached.signal.aborted) {
        await closeAll(opening)
        claim?.close()
        return
      }
      reportOpening(opening, this.warn)
      if (opening.kind === 'open') {
        this.use(opening)
        onRead()
        return
      }
      this.stood = opening.kind
      this.again(start, opening.kind === 'shared' ? LOOK_MS : AGAIN_MS)
    }
    const start = (): void => {
      const opening: Promise<void> = open().finally(() => { if (this.opening === opening) this.opening = undefined })
      this.opening = opening
    }
    start()
    await this.opening
  }

  /** Another host owns the storage now, and with it every wait that the index names. */
  private lose(): void {
    warnLost(this.warn)
    const { medium, spare } = this
    this.stood = 'shared'
    this.medium = undefined
    this.spare = undefined
    this.writing = undefined
    this.cancelSlow?.()
    this.read.clear()
    this.shelves.of('waiting').records = []
    void Promise.allSettled([medium?.close(), spare?.close()])
  }

  private use({ medium, spare, unreadable }: Extract<Opening, { kind: 'open' }>): void {
    this.stood = unreadable === undefined ? 'open' : 'partly'
    // Storage that was loaded anew under a running host holds nothing that is not here already.
    const unread = [medium, ...spare === undefined ? [] : [spare]].filter(({ name }) => !this.read.has(name))
    this.shelves.load(unread, this.answers.values())
    for (const { name } of unread) this.read.add(name)
    if (spare !== undefined) for (const shelf of SHELVES) this.dirty.add(shelf)
    if (unread.length > 0 && this.answers.size > 0) this.dirty.add('marks')
    this.folded = this.shelves.of('marks').records.reduce(evolveMarks, initialMarks)
    this.medium = medium
    this.spare = spare
    this.takeActs()
    this.write()
  }

  /** What persons ended, and an earlier process did not live to store. */
  private takeActs(): void {
    const acts = this.acts?.read() ?? []
    this.actsKept = acts.length
    if (acts.length === 0) return
    const waiting = this.waiting()
    // A wait of a later turn began after the person ended the one before.
    this.append(...acts.filter(({ session, turn }) => !((waiting[session]?.turn ?? 0) > (turn ?? Infinity))))
    this.dirty.add('waiting')
  }

  /** Store what is not stored yet, wait for it a little, and let go of the domain. */
  detach(): Promise<void> {
    this.attached?.abort()
    this.cancelAgain?.()
    this.detaching ??= this.letGo().finally(() => { this.detaching = undefined })
    return this.detaching
  }

  private async letGo(): Promise<void> {
    const { opening } = this
    this.stood = 'failed'
    if (this.medium === undefined && opening === undefined) return this.claim?.close()
    this.lettingGo = true
    let cancel = (): void => {}
    const timeout = new Promise<void>((resolve) => { cancel = this.clock.after(resolve, CLOSE_TIMEOUT_MS) })
    const stored = async (): Promise<void> => {
      await opening
      // What could not be written before gets one more chance.
      this.write()
      while (this.writing !== undefined) await this.writing
      await Promise.all([this.medium?.close(), this.spare?.close()])
    }
    await Promise.race([stored().catch(() => {}), timeout])
    cancel()
    this.lettingGo = false
    this.stood = 'failed'
    this.claim?.close()
    this.cancelAgain?.()
    this.cancelSlow?.()
    this.medium = undefined
    this.spare = undefined
    // A write that hangs is given up; whatever it held goes to the next storage as well.
    this.writing = undefined
    for (const shelf of SHELVES) if (this.shelves.of(shelf).records.length > 0) this.dirty.add(shelf)
  }

  /** Do something once more, a while later. */
  private again(run: () => void, inMs = AGAIN_MS): void {
    this.cancelAgain?.()
    this.cancelAgain = this.clock.after(() => {
      this.cancelAgain = undefined
      run()
    }, inMs)
  }

  private write(): void {
    const { medium } = this
    if (this.writing !== undefined) this.lookIfSlow()
    if (medium === undefined || this.writing !== undefined || this.dirty.size === 0) return
    this.putSince = uptimeMs()
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
    const slow = uptimeMs() - this.putSince > SLOW_MS
    if (slow) warnSlow(this.warn, SLOW_MS)
    return slow
  }

  /** @returns the shelves that could not be written. */
  private async drain(medium: Medium): Promise<Set<Shelf>> {
    const failed = new Set<Shelf>()
    // One turn of the loop lets everything that happens in this tick share the write.
    await Promise.resolve()
    // A write is one of the whole, over whatever another owner has written.
    if (!(await this.claim?.confirm().catch(() => true) ?? true)) {
      if (this.medium === medium) this.medium = undefined
      return failed
    }
    const acts = this.actsKept
    for (const shelf of [...this.dirty]) {
      // Another storage may be written to by now, and what is not stored is that one's.
      if (this.medium !== medium) break
      this.dirty.delete(shelf)
      const contents = this.shelves.of(shelf)
      contents.records = liveRecords(contents.records)
      try {
        this.putSince = uptimeMs()
        await medium.put(shelf, [...contents.foreign, ...contents.records])
      } catch (error) {
        failed.add(shelf)
        if (failed.size > 1) continue
        warnUnwritten(this.warn, error)
      }
    }
    if (failed.size === 0 && this.medium === medium) this.dropSpare()
    // They are in the journal now, unless more came while it was written.
    if (!failed.has('waiting') && !this.dirty.has('waiting') && this.medium === medium && acts > 0 && acts === this.actsKept) {
      this.actsKept = 0
      this.acts?.clear()
    }
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
    void journal.attach(facility, onRead, storageDirectory(inner, DOMAIN))
    // Stored values that are queued when the storage goes away are refused, so ours are waited for before.
    inner.effect(() => () => journal.detach(), 'llm-quota-retry: let go of the journal')
  })
}
