import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import { bareText, MAX_BARE_TEXT } from '../events/answer.ts'
import type { Fact } from '../events/facts.ts'
import { routeName, sameRoute } from '../events/route.ts'
import { type Config, ConfigError, type ConfigInput, parseConfig } from '../policy/config.ts'
import { provesAllowance } from '../policy/judge/answer.ts'
import { personAttemptAt } from '../policy/quota/wait.ts'
import { heldWait, indexChange } from '../policy/resume.ts'
import { oneLine } from '../projections/text.ts'
import { projectionUnit } from '../projections/unit.ts'
import { holdOf } from '../reducers/hold.ts'
import { isPending } from '../reducers/picks.ts'
import type { Wait } from '../reducers/quota.ts'
import type { SessionState } from '../reducers/session.ts'
import { transitions } from '../reducers/transitions.ts'
import { Announcer } from './announce.ts'
import { AbsentRoutes } from './pool/absent.ts'
import { Balances, type Commands, resolveCommands } from './pool/balances.ts'
import { SessionBook } from './book.ts'
import { openChannel } from './channel.ts'
import { type Clock, systemClock } from './clock.ts'
import { registerCommands } from './commands.ts'
import { Gates } from './gates.ts'
import { keepInnermost, lastUsed, liveSession, liveSessions, onArchived, onPick, onStreamed, registerProjection, shownModel, streamedText } from './harness.ts'
import { attachStorage, Journal } from './journal-store.ts'
import { Pace } from './pace.ts'
import { createKeep } from './keep.ts'
import { Recovery } from './recovery.ts'
import { Resume } from './resume.ts'
import { Router } from './pool/router.ts'
import { checkRow } from './row.ts'
import { Scheduler } from './scheduler.ts'
import { createService } from './service.ts'
import { SettingsWriter } from './settings.ts'
import { stopWaiting } from './stop.ts'
import { Budget } from './transient/budget.ts'
import { createVoice, type Sink, type Voice, type Warn } from './voice.ts'
import type { Waits } from './waits.ts'
import { Watch } from './pool/watch.ts'

/** Cordis plugin name; also the row id. */
export const name = 'llm-quota-retry'
/** What every harness that runs agents has. Everything else is used where it is there. */
export const inject = ['agents', 'sessions', 'llm']

/** What tests pass in place of the platform. */
export interface Internals {
  readonly clock?: Clock
  /** A number from 0 to 1. */
  readonly random?: () => number
  /** Takes the lines that would go to the terminal. */
  readonly sink?: Sink
}

/** The person did something about what a session waits for: it asks soon. */
const askSoon = (waits: Waits, { id }: Session, { plannedAt }: Wait, now: number, cause: 'asked' | 'message'): void => {
  waits.bringForward(id, personAttemptAt(now, plannedAt), cause)
}

/** Live sessions that are looked at when somebody picked a model and the host does not say where: the last ones used. */
const LOOKED_AT = 20

/** Note what the person picked, where the host would forget it: it is to hold, also after the host ended. */
async function takePicks(ctx: Context, sessions: readonly Session[], { flush, router }: { router: Router; flush: (session: Session) => Promise<void> }): Promise<void> {
  for (const session of sessions) {
    const shown = await shownModel(ctx, session)
    if (shown !== undefined && router.picks(session, shown)) await flush(session)
  }
}

/** What is known of answers before it is known that they are some: a cache, without it others follow a moment later. */
class Proof {
  /** What the event at hand says, where it is an answer that may be a refusal. */
  said: string | undefined
  private readonly streamed = new Map<string, number>()

  /** @returns whether more has streamed in than a refusal says. */
  streams(session: string, units: number): boolean {
    if (units === 0) return false
    const all = (this.streamed.get(session) ?? 0) + units
    this.streamed.set(session, all)
    return all > MAX_BARE_TEXT
  }

  ended(session: string): void {
    this.streamed.delete(session)
  }
}

/** Hears what streams in for the one who asks: the first words of an answer may be those of a refusal. */
const streamReader = (gates: Gates, proof: Proof, book: SessionBook) => (session: Session, written: number): void => {
  if (!gates.isProbing(session.id) || !proof.streams(session.id, written)) return
  const { route } = book.of(session).step
  if (route !== null) gates.streaming(session.id, route)
}

/** What a fact of a session may set in motion. */
interface Moving {
  readonly journal: Journal
  readonly gates: Gates
  /** Epoch ms. */
  readonly now: () => number
  readonly watch: Watch
  readonly budget: Budget
  readonly announcer: Announcer
  readonly resume: () => Resume
  /** Have the host write a session's log to its disk. */
  readonly flush: (session: Session) => Promise<void>
  readonly proof: Proof
  /** The folded state of a session. */
  readonly stateOf: (session: Session) => SessionState
}

/** Everything that a fact of a session sets in motion. */
function onFact(moving: Moving, session: Session, fact: Fact, before: SessionState, after: SessionState): void {
  const { journal, gates, now, watch, budget, announcer, resume } = moving
  const found = transitions(before, after)
  if (after.settings.failures?.value === 'off' && holdOf(before)?.policy === 'transient') gates.waits.end(session.id, { kind: 'disabled' })
  for (const transition of found) {
    if (transition.type === 'left' && transition.entry.reason === 'disabled') gates.waits.end(session.id, { kind: 'disabled' })
  }
  // A pool that is stated during the wait may hold a route that answers, and so may a model that is picked.
  const wait = holdOf(after)?.wait
  const picked = fact.type === 'modelPicked' && isPending(after.picks)
  if ((after.settings.pool !== before.settings.pool || picked) && wait) askSoon(gates.waits, session, wait, now(), 'asked')
  indexWait(moving, session, fact, before, after)
  if (fact.type === 'turnStarted') resume().awake(session.id)
  // A turn that ends with its wait given up waited for the plugin that was unloaded before this one.
  if (fact.type === 'turnEnded' && fact.outcome === 'error' && holdOf(after)?.cut === true) void resume().start()
  // A turn that the end of its host cut off is told of when its log is opened, by whoever takes it up.
  if (fact.type === 'turnEnded') moving.proof.ended(session.id)
  if (fact.type === 'turnEnded' && fact.outcome !== 'interrupted') gates.left(session.id)
  if (fact.type === 'answered' || fact.type === 'requestFailed') moving.proof.ended(session.id)
  if (fact.type === 'answered' && provesAllowance(moving.proof.said, fact.route?.provider ?? after.step.route?.provider, now())) {
    const route = fact.route ?? after.step.route
    // An answer may stream for minutes after the allowance is spent: it tells of the time at which it was asked for.
    const sentAt = gates.sentAt(session.id)
    if (route !== null && sentAt !== undefined) {
      journal.answered(route, sentAt)
      watch.answered(route.provider, sentAt)
      budget.answered(route.provider)
      gates.answered(session.id, route)
    }
  }
  announcer.announce(session, found)
}

/** The index follows what the log says. */
function indexWait({ flush, journal, stateOf }: Moving, session: Session, fact: Fact, before: SessionState, after: SessionState): void {
  const change = indexChange(fact, before, after)
  if (change?.type === 'waiting') journal.append({ type: 'sessionWaiting', session: session.id, at: fact.at, ...change.held })
  if (change?.type !== 'released') return
  const release = (): void => { journal.append({ type: 'sessionReleased', session: session.id, at: fact.at }) }
  if (change.when === 'now') release()
  // The event that ends the wait may not have reached the writer of the log yet. A log that cannot be written keeps the
  // session in the index, and decides after the restart.
  else void Promise.resolve().then(() => flush(session)).then(() => { if (heldWait(stateOf(session)) === undefined) release() }, () => {})
}

/** A running host says nothing of a row that does not take a new configuration: so we do, before we refuse it. */
function readConfig(ctx: Context, input: ConfigInput | undefined, internals: Internals): { readonly config: Config; readonly commands: Commands } {
  try {
    const config = parseConfig(input)
    // A preset is a file of this package; what ships is not known where configurations are read.
    return { config, commands: resolveCommands(config) }
  } catch (error) {
    if (error instanceof ConfigError) createVoice(ctx, internals.sink).warn('config', `the configuration is refused. ${error.problems.join('; ')}`)
    throw error
  }
}

/** A route that the host would not send to is better known now than in the night in which it is needed. */
async function checkRoutes(config: Config, absent: AbsentRoutes, voice: Voice): Promise<void> {
  await absent.look()
  for (const { route, why } of absent.list) {
    const pools = Object.entries(config.pools).filter(([, { routes }]) => routes.some(other => sameRoute(other, route))).map(([pool]) => pool)
    voice.warn(`route-${routeName(route)}`, `pool ${pools.join(', ')} holds ${routeName(route)}, to which this host would not send: ${oneLine(why, 200)}`)
  }
}

interface Loader {
  await?(): Promise<unknown>
}

/** Do something once every row of the host has settled. */
function afterStart(ctx: Context, run: () => void): void {
  const loader = ctx.get('loader' as never) as Loader | undefined
  if (loader?.await === undefined) return
  void loader.await().catch(() => {}).then(run)
}

/** Take up what waited before the restart or the reload, once everything that opens a session is there. */
function startResume(ctx: Context, config: Config, scheduler: Scheduler, clock: Clock, resume: Resume, watch: Watch): void {
  if (!config.resumeOnStart) return
  const loader = ctx.get('loader' as never) as Loader | undefined
  void Promise.resolve(loader?.await?.()).catch(() => {}).then(() => {
    scheduler.at(clock.now() + config.resumeDelaySeconds * 1_000, () => {
      // Sessions that nobody has opened yet are worth a look at the balances, too.
      void resume.start().then(watch.start)
    })
  })
}

/** Never let what is ours break what is the harness's: a listener that fails is warned of once and passed over. */
function guarded<A extends unknown[]>(warn: Warn, kind: string, run: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      run(...args)
    } catch (error) {
      warn(kind, `${kind} failed and was passed over: ${String(error)}`)
    }
  }
}

/**
 * Activate the plugin.
 *
 * @param ctx - the row's context.
 * @param input - the row's configuration.
 * @param internals - what tests pass in place of the platform.
 * @throws ConfigError for a configuration that cannot be used.
 */
export function apply(ctx: Context, input?: ConfigInput, internals: Internals = {}): void {
  const { config, commands } = readConfig(ctx, input, internals)
  const clock = internals.clock ?? systemClock
  const voice = createVoice(ctx, internals.sink)
  const { warn } = voice
  const scheduler = new Scheduler(clock, (error) => { warn('alarm', `an alarm failed: ${String(error)}`) })
  const random = internals.random ?? Math.random
  const pace = new Pace({ clock, random })
  const budget = new Budget(clock)
  const gates = new Gates({ scheduler, clock, pace, intervalMs: config.longTermDelayMs, probe: config.probe })
  const { waits } = gates
  const journal = new Journal(clock, warn)
  const balances = new Balances(ctx, config, commands, clock, voice, (provider, reading) => { watch.read(provider, reading) })
  const watch = new Watch({ config, clock, scheduler, journal, gates, refresh: providers => balances.refresh(providers) })
  const flush = async (session: Session): Promise<void> => { await ctx.get('sessions')?.flush(session) }
  const proof = new Proof()
  const moving: Moving = { journal, gates, now: () => clock.now(), watch, budget, announcer: new Announcer(ctx, warn), resume: () => resume, flush, proof, stateOf: session => book.of(session) }
  const keep = createKeep(clock, journal, flush)
  const book = new SessionBook((...change) => { onFact(moving, ...change) })
  const settings = new SettingsWriter(ctx, config, book, warn)
  const router = new Router({ ctx, config, clock, book, journal, balances, voice })
  const absent = new AbsentRoutes({ config, clock, objection: (route, signal) => router.objection(route, signal) })
  const recovery = new Recovery({ config, clock, book, gates, journal, voice, balances, router, watch, pace, budget, random, flush })

  const resume = new Resume({ ctx, config, clock, scheduler, book, gates, journal, voice })

  const streams = streamReader(gates, proof, book)
  ctx.on('session/event', guarded(warn, 'reading an event', (session: Session, event: unknown) => {
    streams(session, streamedText(event))
    proof.said = bareText(event)
    book.observe(session, event)
  }))
  onStreamed(ctx, guarded(warn, 'reading a stream', streams))
  ctx.on('agent/created', guarded(warn, 'inheriting settings', ({ agent }: { agent: Agent }) => { settings.inherit(agent) }))
  ctx.on('agent/created', guarded(warn, 'restoring messages', ({ agent }: { agent: Agent }) => { resume.opened(agent) }))
  ctx.on('agent/inbox/inserted', guarded(warn, 'reading a message', ({ agent, message }) => {
    const wait = message.source.kind === 'user' ? holdOf(book.of(agent.session))?.wait : undefined
    if (!wait) return
    askSoon(waits, agent.session, wait, clock.now(), 'message')
    void Promise.resolve(flush(agent.session)).catch(() => {})
  }))
  onPick(ctx, guarded(warn, 'reading a pick', (picked) => {
    const waiting = waits.sessions.map(id => liveSession(ctx, id)).filter(session => session !== undefined)
    const sessions = picked === undefined ? [...new Set([...waiting, ...lastUsed(liveSessions(ctx), LOOKED_AT)])] : [picked]
    void takePicks(ctx, sessions, { router, flush }).catch((error: unknown) => { warn('pick', `a picked model could not be read: ${String(error)}`) })
  }))
  ctx.on('agent/inbox/discarded', guarded(warn, 'reading a removed message', ({ agent }) => {
    // The end of the host empties the queue too, and cancels the turn in the same breath: then nothing waits any more,
    // and the queue is given back after the restart. What the person removed is followed by another record.
    queueMicrotask(() => { gates.waits.restate(agent.session.id) })
  }))
  // Outermost: whoever answers a request in our place must not keep us from knowing that it was sent.
  onArchived(ctx, guarded(warn, 'reading the archive', (ids) => {
    for (const id of waits.sessions) if (ids.has(id)) stopWaiting(ctx, waits, resume, id)
  }))
  ctx.on('agent/request', async (payload, next) => {
    const config = await router.listener(payload, next)
    gates.asks(payload.agent.session.id)
    return config
  }, { prepend: true })
  if (config.beforeNativeRetries) ctx.on('agent/request-error', recovery.certainListener, { prepend: true })
  keepInnermost(ctx, 'agent/request-error', recovery.listener as (...args: never[]) => unknown)

  registerProjection(ctx, projectionUnit(config))
  registerCommands(ctx, {
    config, clock, book, waits, settings, balances, router, absent, journal, keep, stop: id => stopWaiting(ctx, waits, resume, id),
  })
  openChannel(ctx, { config, clock, book, waits, resume, balances, router, absent, journal, settings, keep })
  checkRow(ctx, warn)
  afterStart(ctx, () => {
    balances.check()
    void checkRoutes(config, absent, voice)
  })
  const takeUp = (): void => { startResume(ctx, config, scheduler, clock, resume, watch) }
  // Without storage, too, live sessions know what they waited for.
  takeUp()
  attachStorage(ctx, journal, takeUp)
  ctx.provide('llmQuotaRetry', createService({ config, book, waits, settings, balances, router, absent }))
  ctx.effect(() => async () => {
    resume.close()
    await Promise.all([recovery.close(), balances.close()])
    scheduler.close()
  }, 'llm-quota-retry: end every wait')
}
