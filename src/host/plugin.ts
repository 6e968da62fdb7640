import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import type { Fact } from '../events/facts.ts'
import { clears } from '../policy/choose.ts'
import { type Config, type ConfigInput, parseConfig } from '../policy/config.ts'
import type { Reading } from '../policy/readings.ts'
import { projectionUnit } from '../projections/unit.ts'
import { markOf } from '../reducers/marks.ts'
import type { SessionState } from '../reducers/session.ts'
import { transitions } from '../reducers/transitions.ts'
import { Announcer } from './announce.ts'
import { Balances } from './balances.ts'
import { SessionBook } from './book.ts'
import { type Clock, systemClock } from './clock.ts'
import { registerCommands } from './commands.ts'
import { keepInnermost, registerProjection } from './harness.ts'
import { attachStorage, Journal } from './journal-store.ts'
import { Recovery } from './recovery.ts'
import { Router } from './router.ts'
import { Scheduler } from './scheduler.ts'
import { createService } from './service.ts'
import { SettingsWriter } from './settings.ts'
import { Waits } from './waits.ts'
import { createVoice, type Sink, type Warn } from './voice.ts'

/** Cordis plugin name; also the row id. */
export const name = 'llm-quota-retry'
/** What every harness that runs agents has. Everything else is used where it is there. */
export const inject = ['agents', 'sessions', 'llm']

/** What tests pass in place of the platform. */
export interface Internals {
  readonly clock?: Clock
  /** Takes the lines that would go to the terminal. */
  readonly sink?: Sink
}

/** A new message brings a planned attempt forward, but not closer to the last refusal than this, in ms. */
const MESSAGE_GAP_MS = 10_000

/** Everything that a fact of a session sets in motion. */
function onFact(journal: Journal, waits: Waits<Session>, announcer: Announcer) {
  return (session: Session, fact: Fact, before: SessionState, after: SessionState): void => {
    const found = transitions(before, after)
    for (const transition of found) {
      if (transition.type === 'left' && transition.entry.reason === 'disabled') waits.end(session, 'disabled')
    }
    indexWait(journal, session, before, after, fact.at)
    const answering = fact.type === 'answered' ? fact.route?.provider ?? after.step.route?.provider : undefined
    if (answering !== undefined) journal.answered(answering, fact.at)
    announcer.announce(session, found)
  }
}

function indexWait(journal: Journal, session: Session, before: SessionState, after: SessionState, at: number): void {
  const was = before.entries.open?.wait ?? null
  const entry = after.entries.open
  const is = entry?.wait ?? null
  if (was === is) return
  if (entry !== null && is !== null) {
    journal.append({ type: 'sessionWaiting', session: session.id, at, nextAttemptAt: is.nextAttemptAt, provider: entry.provider })
  } else if (was !== null) {
    journal.append({ type: 'sessionReleased', session: session.id, at })
  }
}

/**
 * A reading that shows allowance lifts a mark, but only one taken a while after the refusal: the very probe that the
 * failure triggered, or a script with a cache of its own, must not send sessions straight back.
 */
function liftByReading(journal: Journal, config: Config, provider: string, reading: Reading): void {
  const source = config.balances.find(balance => balance.provider === provider)
  const mark = markOf(journal.marks, provider, reading.at)
  if (source === undefined || mark === undefined || reading.at < mark.at + source.refreshMs) return
  if (clears(reading, source.minimumRemaining)) journal.append({ type: 'providerLifted', provider, at: reading.at, by: 'reading' })
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
  const config = parseConfig(input)
  const clock = internals.clock ?? systemClock
  const voice = createVoice(ctx, internals.sink)
  const { warn } = voice
  const scheduler = new Scheduler(clock, (error) => { warn('alarm', `an alarm failed: ${String(error)}`) })
  const waits = new Waits<Session>(scheduler)
  const journal = new Journal(clock, warn)
  const book = new SessionBook(onFact(journal, waits, new Announcer(ctx, warn)))
  const settings = new SettingsWriter(ctx, config, book)
  const balances = new Balances(ctx, config, clock, voice, (provider, reading) => { liftByReading(journal, config, provider, reading) })
  const router = new Router({ ctx, config, clock, book, journal, balances, voice })
  const recovery = new Recovery({ config, clock, book, waits, journal, voice, balances, router })

  ctx.on('session/event', guarded(warn, 'reading an event', (session: Session, event: unknown) => { book.observe(session, event) }))
  ctx.on('agent/created', guarded(warn, 'inheriting settings', ({ agent }: { agent: Agent }) => { settings.inherit(agent) }))
  ctx.on('agent/inbox/inserted', guarded(warn, 'reading a message', ({ agent, message }) => {
    const wait = message.source.kind === 'user' ? book.of(agent.session).entries.open?.wait : undefined
    if (wait) waits.bringForward(agent.session, Math.max(clock.now(), wait.plannedAt + MESSAGE_GAP_MS))
  }))
  ctx.on('agent/request', router.listener, { prepend: true })
  if (config.beforeNativeRetries) ctx.on('agent/request-error', recovery.certainListener, { prepend: true })
  keepInnermost(ctx, 'agent/request-error', () => ctx.on('agent/request-error', recovery.listener))

  registerProjection(ctx, projectionUnit(config))
  registerCommands(ctx, { config, clock, book, waits, settings, balances, router })
  attachStorage(ctx, journal)
  ctx.provide('llmQuotaRetry', createService({ config, book, waits, settings, balances, router }))
  ctx.effect(() => async () => {
    await Promise.all([recovery.close(), balances.close()])
    scheduler.close()
  }, 'llm-quota-retry: end every wait')
}
