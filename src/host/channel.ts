import { createHash } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import { z } from 'zod'
import { POLICY } from '../events/policy-key.ts'
import { type Config, parseConfig } from '../policy/config.ts'
import { quotaRetryFacts } from '../projections/facts.ts'
import { configRows, type PageMove, type QuotaPage, type WaitingSession } from '../projections/page.ts'
import { routesReport } from '../projections/routes.ts'
import type { Waiting } from '../reducers/waiting.ts'
import type { AbsentRoutes } from './pool/absent.ts'
import type { Balances } from './pool/balances.ts'
import { clearMarks } from './pool/clear.ts'
import type { SessionBook } from './book.ts'
import type { Clock } from './clock.ts'
import { pause } from './pause.ts'
import { configFiles } from './config-files.ts'
import { liveSession } from './harness.ts'
import type { Journal } from './journal-store.ts'
import type { Keep } from './keep.ts'
import { type Answer, openLocalChannel } from './local-channel.ts'
import type { Resume } from './resume.ts'
import type { Router } from './pool/router.ts'
import { strayKeys } from './row.ts'
import type { SettingsWriter } from './settings.ts'
import { stopWaiting } from './stop.ts'
import type { FailoverEvent, MovedEvent } from './types.ts'
import type { Waits } from './waits.ts'

/** Name of the channel. */
export const CHANNEL = `/${POLICY}`
/** Failovers that are kept for the page. */
const KEPT_MOVES = 20
/** Time between two looks for something new while a page waits for it, in ms. */
const LOOK_MS = 500
/** Longest time that a page is kept waiting, in ms: less than what proxies cut off. */
const PATIENCE_MS = 20_000

const SessionRequest = z.strictObject({ session: z.string().min(1).max(200) })
const Requests = {
  /** The state as soon as it is another than the one that is known. */
  watch: z.strictObject({ known: z.string().max(100).nullable() }),
  /** Read the balances again. */
  refresh: z.strictObject({}),
  /** Have a session that waits ask now. */
  retry: SessionRequest,
  /** Cancel the turn of a session that waits. */
  stop: SessionRequest,
  /** End the marks of a route. */
  clear: z.strictObject({ provider: z.string().min(1).max(500), model: z.string().min(1).max(500) }),
}

/** What the channel works with. */
export interface ChannelParts {
  readonly config: Config
  readonly clock: Clock
  readonly book: SessionBook
  readonly waits: Pick<Waits, 'end' | 'sessions'>
  readonly resume: Pick<Resume, 'asleep' | 'stop'>
  readonly balances: Balances
  readonly router: Router
  readonly absent: AbsentRoutes
  readonly journal: Journal
  readonly settings: Pick<SettingsWriter, 'stay'>
  readonly keep: Keep
}

const refuse = (message: string, issues: unknown[] = []): Answer => ({ ok: false, error: { code: 'bad-request', message, details: { issues } } })
const answer = (value: unknown): Answer => ({ ok: true, value })

/** How a session is shown that nobody has opened since the host started. */
const asleep = ({ at, nextAttemptAt, provider, session }: Waiting): WaitingSession =>
  ({ session, open: false, provider, model: null, since: at, nextAttemptAt, attempts: null, reason: '', resetsAt: null })

/** Answers the settings page. */
class Channel {
  private readonly ctx: Context
  private readonly parts: ChannelParts
  private readonly failovers: PageMove[] = []
  private readonly lifetime = new AbortController()
  private knownRows: QuotaPage['config'] | undefined

  constructor(ctx: Context, parts: ChannelParts) {
    this.ctx = ctx
    this.parts = parts
  }

  close(): void {
    this.lifetime.abort()
  }

  moved(kind: PageMove['kind'], { at, from, pool, session, to }: FailoverEvent | MovedEvent): void {
    this.failovers.push({ at, session: session.id, kind, from, to: { provider: to.provider, model: to.model }, pool })
    if (this.failovers.length > KEPT_MOVES) this.failovers.shift()
  }

  async handle(endpoint: string, payload: unknown, signal: AbortSignal): Promise<Answer> {
    switch (endpoint) {
      case 'watch': {
        const request = Requests.watch.safeParse(payload)
        return request.success ? answer(await this.watch(request.data.known, signal)) : refuse('watch needs {known}', request.error.issues)
      }
      case 'refresh': {
        const request = Requests.refresh.safeParse(payload)
        if (!request.success) return refuse('refresh needs {}', request.error.issues)
        await this.parts.balances.refresh(this.parts.config.balances.map(({ provider }) => provider))
        return answer({})
      }
      case 'clear': {
        const request = Requests.clear.safeParse(payload)
        if (!request.success) return refuse('clear needs {provider, model}', request.error.issues)
        const cleared = await clearMarks(this.parts.journal, this.parts.clock, request.data)
        return answer({ done: cleared.length > 0 })
      }
      case 'retry':
      case 'stop': {
        const request = Requests[endpoint].safeParse(payload)
        if (!request.success) return refuse(`${endpoint} needs {session}`, request.error.issues)
        const done = this.end(endpoint, request.data.session)
        if (done && endpoint === 'stop') await this.keepStopped(request.data.session)
        return answer({ done })
      }
      default:
        return refuse('no such endpoint')
    }
  }

  /** The page says that it is done then, and a host that is killed right after that must know of it. */
  private async keepStopped(id: string): Promise<void> {
    const { clock, journal, keep } = this.parts
    journal.release(id, clock.now())
    await keep(liveSession(this.ctx, id))
  }

  private end(how: 'retry' | 'stop', id: string): boolean {
    const { resume, settings, waits } = this.parts
    if (how === 'retry') return waits.end(id, { kind: 'go', cause: 'asked' })
    const session = liveSession(this.ctx, id)
    return (session !== undefined && settings.stay(session)) || stopWaiting(this.ctx, waits, resume, id)
  }

  private async watch(known: string | null, request: AbortSignal): Promise<{ revision: string; page?: QuotaPage }> {
    const { clock } = this.parts
    const files = configFiles(this.ctx, POLICY)
    await this.parts.absent.look()
    const until = clock.now() + PATIENCE_MS
    const signal = AbortSignal.any([request, this.lifetime.signal])
    for (;;) {
      const page = this.page(files)
      const revision = revisionOf(page)
      if (revision !== known) return { revision, page }
      if (signal.aborted || clock.now() >= until) return { revision }
      await pause(clock, LOOK_MS, signal)
    }
  }

  /** The configuration does not change while the channel stands, and a page looks twice a second. */
  private get rows(): QuotaPage['config'] {
    this.knownRows ??= configRows(this.parts.config, parseConfig({}))
    return this.knownRows
  }

  private page(files: QuotaPage['files']): QuotaPage {
    const { absent, clock, config, router } = this.parts
    return {
      version: 1,
      at: clock.now(),
      report: routesReport(router.world, config, { unfit: router.unfit, absent: absent.list }),
      readable: config.balances.map(({ provider }) => provider),
      waiting: this.waiting(),
      moves: this.moves(),
      config: this.rows,
      files,
      stray: strayKeys(this.ctx),
    }
  }

  private waiting(): WaitingSession[] {
    const { book, config, resume, waits } = this.parts
    const sleepers = new Map(resume.asleep.map(waiting => [waiting.session, waiting]))
    return waits.sessions.flatMap((id): WaitingSession[] => {
      const sleeper = sleepers.get(id)
      if (sleeper !== undefined) return [asleep(sleeper)]
      const session = liveSession(this.ctx, id)
      const wait = session === undefined ? null : quotaRetryFacts(book.of(session), config).wait
      if (wait === null) return []
      const { attempts, model, nextAttemptAt, provider, reason, resetsAt, since } = wait
      return [{ session: id, open: true, provider, model, since, nextAttemptAt, attempts, reason, resetsAt }]
    })
  }

  /** Moves stand in the sessions' logs, and those of this run are kept here; earlier versions kept some in the journal. */
  private moves(): PageMove[] {
    const before = this.parts.journal.moves().map(({ at, from, pool, session, to }): PageMove => ({ at, session, kind: 'before', from, to, pool }))
    return [...this.failovers, ...before].sort((a, b) => b.at - a.at).slice(0, KEPT_MOVES)
  }
}

/** The state without the time at which it was looked at. */
function revisionOf({ at: _at, report: { at: _reportAt, ...report }, ...page }: QuotaPage): string {
  return createHash('sha256').update(JSON.stringify([report, page])).digest('base64url')
}

/**
 * Open the channel of the settings page, once the host has connections to pages. Only pages on the machine of the host
 * reach it.
 *
 * @param ctx - the plugin's context.
 * @param parts - what the channel works with.
 */
export function openChannel(ctx: Context, parts: ChannelParts): void {
  openLocalChannel(ctx, CHANNEL, (inner) => {
    const channel = new Channel(ctx, parts)
    inner.on('llm-quota-retry/failover', (moved) => { channel.moved('failover', moved) })
    inner.on('llm-quota-retry/moved', (moved) => { channel.moved('before', moved) })
    inner.effect(() => () => { channel.close() }, 'llm-quota-retry: channel')
    return (endpoint, payload, signal) => channel.handle(endpoint, payload, signal)
  })
}
