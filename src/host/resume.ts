import { randomUUID } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import { POLICY } from '../events/policy-key.ts'
import { type Route, sameRoute } from '../events/route.ts'
import { sourceOf } from '../events/source.ts'
import type { Config } from '../policy/config.ts'
import { decideResume, deliveryFor, heldWait, type ResumeDecision } from '../policy/resume.ts'
import { resolvePool } from '../policy/settings.ts'
import { foldInbox } from '../reducers/inbox.ts'
import { markOf } from '../reducers/marks.ts'
import { foldSession, type SessionState } from '../reducers/session.ts'
import type { Waiting } from '../reducers/waiting.ts'
import type { Clock } from './clock.ts'
import type { Gates } from './gates.ts'
import { archivedSessions, inheritedEvents, liveSession, liveSessions, readLog } from './harness.ts'
import type { Journal } from './journal-store.ts'
import type { SessionBook } from './book.ts'
import type { Scheduler } from './scheduler.ts'
import { openSession, readStoredLog, storedSessions } from './stored.ts'
import type { Voice } from './voice.ts'

/** What the resuming works with. */
export interface ResumeParts {
  readonly ctx: Context
  readonly config: Config
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly book: SessionBook
  readonly gates: Gates
  readonly journal: Journal
  readonly voice: Voice
}

/** A session that waits at a gate while nobody has opened it. */
interface Sleeper {
  readonly waiting: Waiting
  /** The routes of its pool: an answer on any of them ends its wait, as it would end that of an open session. */
  readonly pooled: readonly Route[]
}

/** Whether a session goes on, and on which routes it may. */
interface Look {
  readonly decision: ResumeDecision
  readonly pooled: readonly Route[]
}

/** Time between two sessions that go on for which nothing has to be asked, in ms. */
const SPREAD_MS = 250
/** Time to the next look at sessions that could not be read or opened, in ms: at first, and at most. */
const AGAIN_MS = 60_000
const AGAIN_MOST_MS = 3_600_000

/**
 * Takes up the runs that waited when the host ended.
 *
 * The journal's index says where to look, each session's own log decides. A session is opened only when its time has
 * come: until then it waits at the gate of its route like any other, so that a restart sends no more requests than no
 * restart would have.
 */
export class Resume {
  private readonly parts: ResumeParts
  private readonly sleepers = new Map<string, Sleeper>()
  /** The looks so far, one after another: storage may come, or come back, while one runs. */
  private looks: Promise<void> = Promise.resolve()
  private lookAgain = false
  /** Time to the next look; each that finds one that cannot be taken up doubles it. */
  private againMs = AGAIN_MS
  private saidFailed = false
  private readonly lifetime = new AbortController()

  /**
   * @param parts - what the resuming works with.
   */
  constructor(parts: ResumeParts) {
    this.parts = parts
  }

  /** Look at every session of the index, and at every live one, unless it is waited for already. Never rejects. */
  start(): Promise<void> {
    this.looks = this.looks.then(() => this.look()).catch((error: unknown) => {
      this.parts.voice.warn('resume-look', `sessions that waited could not be looked for: ${String(error)}`)
    })
    return this.looks
  }

  private async look(): Promise<void> {
    const { clock, config, journal, voice } = this.parts
    if (!config.resumeOnStart || this.lifetime.signal.aborted) return
    // Not before the index is read, and not while another host looks after it.
    if (journal.standing === 'opening' || journal.standing === 'shared') return
    const archived = archivedSessions(this.parts.ctx)
    const queue = this.candidates()
    let listed: ReturnType<typeof storedSessions> | undefined
    // Once for all of them; each that needs it learns of its failure.
    const stored = (): ReturnType<typeof storedSessions> => listed ??= storedSessions(this.parts.ctx)
    let found = 0
    let goOn = 0
    let failed = 0
    const worker = async (): Promise<void> => {
      for (let waiting = queue.shift(); waiting !== undefined; waiting = queue.shift()) {
        if (this.lifetime.signal.aborted) return
        if (this.sleepers.has(waiting.session) || this.isAwake(waiting.session)) continue
        found += 1
        const look = await this.decide(waiting, archived, stored).catch(() => undefined)
        // Unloaded meanwhile: whoever comes next looks for itself, and finds the index as it was.
        if (this.lifetime.signal.aborted) return
        if (look === undefined) failed += 1
        else if (look.decision.kind === 'continue') this.sleep({ waiting, pooled: look.pooled }, look.decision, goOn++)
        else journal.append({ type: 'sessionReleased', session: waiting.session, at: clock.now() })
      }
    }
    await Promise.all(Array.from({ length: config.resumeConcurrency }, worker))
    if (failed > 0) this.again()
    if (found > failed || (failed > 0 && !this.saidFailed)) voice.say(`${goOn} of ${found} sessions that waited when the plugin was last loaded go on, each at its time${failed === 0 ? '' : `; ${failed} could not be read and are looked at again`}.`)
    this.saidFailed ||= failed > 0
  }

  /** What the index names; and where that cannot be read, live sessions whose own log says that they were cut off. */
  private candidates(): Waiting[] {
    const { ctx, journal } = this.parts
    const indexed = journal.standing === 'open' || journal.standing === 'partly' ? journal.waiting() : {}
    const live = liveSessions(ctx).flatMap((session): Waiting[] => {
      const held = Object.hasOwn(indexed, session.id) ? undefined : this.cutOffByItsLog(session)
      return held === undefined ? [] : [held]
    })
    return [...Object.values(indexed), ...live].sort((a, b) => a.nextAttemptAt - b.nextAttemptAt)
  }

  /**
   * What a live session waited for, by its log alone. Not where the index can be read: a session that it does not name
   * was stopped by its person, and only the end of its log, which would say so, is lost.
   */
  private cutOffByItsLog(session: Session): Waiting | undefined {
    const { book, clock, journal } = this.parts
    if (journal.standing === 'open' || journal.standing === 'shared') return undefined
    const held = heldWait(book.of(session))
    return held === undefined ? undefined : { session: session.id, at: clock.now(), ...held }
  }

  /** Look once more, a while later. */
  private again(): void {
    const { clock, scheduler } = this.parts
    if (this.lookAgain || this.lifetime.signal.aborted) return
    this.lookAgain = true
    const { againMs } = this
    this.againMs = Math.min(2 * againMs, AGAIN_MOST_MS)
    scheduler.at(clock.now() + againMs, () => {
      this.lookAgain = false
      void this.start()
    })
  }

  /** Whether a session was opened meanwhile and is at work: what it waits for, it waits for by itself. */
  private isAwake(id: string): boolean {
    const session = liveSession(this.parts.ctx, id)
    return session !== undefined && this.parts.book.of(session).step.turn !== null
  }

  /**
   * A session came to life or moved on by itself: it needs no waking any more.
   *
   * @param id - the session's id.
   */
  awake(id: string): void {
    const sleeper = this.sleepers.get(id)
    if (sleeper === undefined) return
    this.sleepers.delete(id)
    this.parts.gates.waits.end(id, { kind: 'aborted' })
  }

  /**
   * The person does not want a session to be taken up, which nobody has opened: it waits no more.
   *
   * @param id - the session's id.
   * @returns whether it waited.
   */
  stop(id: string): boolean {
    if (!this.sleepers.has(id)) return false
    this.awake(id)
    this.parts.journal.release(id, this.parts.clock.now())
    return true
  }

  /**
   * A session was opened, by us or by a click: what the end of the host dropped from its queue is put back at once, or
   * the person's next message would go out without those before it.
   *
   * @param agent - its agent.
   */
  opened(agent: Agent): void {
    const { book, clock, config, journal } = this.parts
    const { session } = agent
    if (!config.resumeOnStart || this.lifetime.signal.aborted) return
    const known = journal.waiting()[session.id] ?? this.cutOffByItsLog(session)
    if (known === undefined) return
    const decision = decideResume({ waiting: known, state: book.of(session), archived: false, child: session.header.origin === 'subagent', now: clock.now() }, config)
    if (decision.kind === 'continue') restore(agent)
  }

  /** Sessions that wait at a gate while nobody has opened them: id and time of the planned attempt. */
  get asleep(): readonly Waiting[] {
    return [...this.sleepers.values()].map(({ waiting }) => waiting)
  }

  /** Wake nobody any more. */
  close(): void {
    this.lifetime.abort()
    this.sleepers.clear()
  }

  private async decide(waiting: Waiting, archived: ReadonlySet<string>, known: () => ReturnType<typeof storedSessions>): Promise<Look | undefined> {
    const { book, clock, config, ctx } = this.parts
    const live = liveSession(ctx, waiting.session)
    const stored = live === undefined ? await readStoredLog(ctx, waiting.session, await known()) : undefined
    // A log that is gone was deleted; one that cannot be read now may be read after the next restart.
    if (stored === 'absent') return { decision: { kind: 'stay', why: 'recovered' }, pooled: [] }
    const state: SessionState | undefined = live === undefined ? stored && foldSession([stored.header, ...stored.events]) : book.of(live)
    if (state === undefined) return undefined
    const child = live === undefined ? stored?.child === true : live.header.origin === 'subagent'
    const decision = decideResume({ waiting, state, archived: archived.has(waiting.session), child, now: clock.now() }, config)
    const { pool } = resolvePool(state.settings, state.step.route, config)
    return { decision, pooled: pool === null ? [] : config.pools[pool]?.routes ?? [] }
  }

  private sleep(sleeper: Sleeper, { at: planned, route }: Extract<ResumeDecision, { kind: 'continue' }>, index: number): void {
    const { clock, config, gates, journal, voice } = this.parts
    const id = sleeper.waiting.session
    this.sleepers.set(id, sleeper)
    // A clock that was set back while the host was down must not make the wait longer than an interval.
    const at = Math.min(planned, clock.now() + config.longTermDelayMs)
    const soonest = clock.now() + SPREAD_MS * index
    const others = sleeper.pooled.filter(other => !sameRoute(other, route))
    gates.hold(id, route, Math.max(at, soonest))
    // One of the pool that is not out of allowance may answer at once: the configuration may have gained it.
    for (const other of others) gates.hold(id, other, Math.min(clock.now() + config.longTermDelayMs, Math.max(soonest, markOf(journal.marks, other, clock.now())?.until ?? soonest)))
    void gates.wait({
      session: id, policy: 'quota', routes: [route, ...others], nextAttemptAt: at, signal: this.lifetime.signal,
      // The session is closed, so its new time stands in the index alone until it is opened.
      rearm: (next) => { journal.append({ type: 'sessionWaiting', ...sleeper.waiting, at: clock.now(), nextAttemptAt: next }) },
    }).then(async (wake) => {
      const held = this.sleepers.delete(id)
      if (held && wake.kind === 'go') await this.wake(sleeper)
    }).catch((error: unknown) => {
      gates.giveUp(id)
      voice.warn('resume', `a session that waited could not be taken up and is tried again: ${String(error)}`)
      this.again()
    })
  }

  private async wake(sleeper: Sleeper): Promise<void> {
    const { book, clock, config, ctx, gates, journal } = this.parts
    const { waiting } = sleeper
    if (!await journal.opensSessions()) {
      gates.giveUp(waiting.session)
      this.again()
      return
    }
    if (this.lifetime.signal.aborted) return
    const agent = await openSession(ctx, waiting.session)
    // Unloaded meanwhile: a second continuation would come from whoever is loaded now.
    if (this.lifetime.signal.aborted) return
    if (agent === undefined) throw new Error('no way to open a stored session is offered by this host')
    const { session } = agent
    // Between the look and now the person may have cancelled, archived, or gone on by themselves.
    const archived = archivedSessions(ctx).has(session.id)
    const decision = decideResume({ waiting, state: book.of(session), archived, child: session.header.origin === 'subagent', now: clock.now() }, config)
    if (decision.kind === 'stay' || agent.status !== 'idle') {
      gates.giveUp(session.id)
      // A session at work is in the index for its own sake, if at all.
      if (agent.status === 'idle') this.parts.journal.append({ type: 'sessionReleased', session: session.id, at: clock.now() })
      return
    }
    this.againMs = AGAIN_MS
    deliver(agent, config.continuation)
  }
}

/** As much of an agent's queue as is written to. */
interface Inbox {
  append(queue: string, message: unknown): void
  remove(id: string): boolean
}

/** Put the person's dropped messages back into the queue. @returns our own messages that an earlier start left there. */
function restore(agent: Agent): readonly string[] {
  const { session } = agent
  const delivery = deliveryFor(foldInbox(readLog(session), inheritedEvents(session)), POLICY)
  for (const { queue, message } of delivery.restore) (agent.inbox as unknown as Inbox).append(queue, message)
  return delivery.superseded
}

/** Have the session go on. All in one breath: what the log holds of it after a crash says what is still to be done. */
function deliver(agent: Agent, continuation: string): void {
  for (const id of restore(agent)) (agent.inbox as unknown as Inbox).remove(id)
  agent.steer({
    id: randomUUID(), role: 'user', content: [{ type: 'text', text: continuation }], source: sourceOf(POLICY, agent.session.header.version),
  } as unknown as Parameters<Agent['steer']>[0])
}
