import type { Context } from '@deepseek-ai/cordis'
import type { InvariantFailure, InvariantInstaller } from '@deepseek-ai/dsh-invariants'
import type { Session, SessionEvent } from '@deepseek-ai/dsh-session'
import { decodeEvent, decodeHeader } from '../events/decode.ts'
import type { Fact, FactOf, InStep } from '../events/facts.ts'
import { EARLY_CAUSES } from '../events/policy-key.ts'
import { type Route, routeName, sameRoute } from '../events/route.ts'
import { readLog } from './harness.ts'
import type { EnteredEvent, LeftEvent, QuotaRetryService } from './types.ts'
import { quotaRetryFacts } from '../projections/facts.ts'
import { retrySnapshot } from '../projections/snapshot.ts'
import type { RouteConfig } from '../policy/config.ts'
import { evolve, foldSession, initialState, type SessionState } from '../reducers/session.ts'

/** Checks, on loaded and live sessions, what the records of this plugin promise to whoever reads a log. */
const PACKAGE_NAME = 'dsh-llm-quota-retry'

/** Cordis companion plugin name. */
export const name = 'llm-quota-retry-invariant'
/** Service required before the companion can reserve package ownership. */
export const inject = ['invariants']

type OurRecord = FactOf<'waitPlanned'> | FactOf<'movePlanned'>

/** The numbered records of one retry id: the last planned one, where it stands, and the last attempt that began. */
interface Chain extends InStep {
  readonly last: number
  readonly started: number
}

/** Chains that are known at once: a turn may wait for weeks, and what is forgotten is checked no more. */
const MAX_CHAINS = 256

/** What the checks know of a session, apart from the fold that they check. Never mutated: an event may yet be vetoed. */
interface Trace {
  readonly state: SessionState
  /** By retry id, of the last turn; the newest of them. */
  readonly chains: ReadonlyMap<string, Chain>
  /** A move whose request is not on its way yet. */
  readonly moving: FactOf<'movePlanned'> | null
  /** Waits of the open entry, counted from their records. */
  readonly waits: number
}

const initialTrace: Trace = { state: initialState, chains: new Map(), moving: null, waits: 0 }

const place = ({ turn, step }: { readonly turn: number | null; readonly step: number | null }): string => `turn ${turn ?? 'none'}/step ${step ?? 'none'}`
const kindOf = (fact: OurRecord): string => fact.type === 'waitPlanned' ? 'a wait' : `a move to ${routeName(fact.to)}`

/** The routes of a pool as the running plugin has them; `undefined` where it does not know the pool. */
type PoolRoutes = (pool: string) => readonly Route[] | undefined

function checkPlace(fact: OurRecord, { step }: SessionState, fail: InvariantFailure): void {
  if (step.turn === null || step.step === null) fail(`${kindOf(fact)} must stand in an open turn and step, but stands outside of one`)
  if (fact.turn !== step.turn || fact.step !== step.step) fail(`${kindOf(fact)} names ${place(fact)}, but the open step is ${place(step)}`)
}

/** A move waits for its turn on the target, in ms: three thousand sessions that move at once are through by then. */
const LONGEST_TURN_MS = 600_000

function checkPool(fact: FactOf<'movePlanned'>, routesOf: PoolRoutes, fail: InvariantFailure): void {
  const routes = routesOf(fact.pool)
  if (routes?.some(route => sameRoute(route, fact.to)) === false) fail(`${kindOf(fact)} leaves its pool "${fact.pool}", which has no such route`)
  if (fact.delayMs > LONGEST_TURN_MS) fail(`${kindOf(fact)} must be due as soon as its turn on the route comes, but is delayed by ${fact.delayMs} ms`)
}

function checkStarted(fact: FactOf<'attemptStarted'>, trace: Trace, fail: InvariantFailure): void {
  const chain = trace.chains.get(fact.retryId)
  if (chain === undefined) return
  if (fact.retry > chain.last) fail(`a started record pairs no planned one: attempt ${fact.retry} of ${JSON.stringify(fact.retryId)} was never planned`)
  if (fact.retry <= chain.started) fail(`a started record repeats attempt ${fact.retry} of ${JSON.stringify(fact.retryId)}`)
  if (chain.turn !== fact.turn || chain.step !== fact.step) fail(`a started record names ${place(fact)}, but its planned one stands in ${place(chain)}`)
}

/** What shows that a step went on: between a move and these there must be a request on the target. */
const GOES_ON: ReadonlySet<Fact['type']> = new Set(['requestFailed', 'answered', 'waitPlanned', 'movePlanned', 'otherRetryPlanned'])

function checkMoving({ moving, state }: Trace, fact: Fact, fail: InvariantFailure): void {
  if (moving === null || !GOES_ON.has(fact.type)) return
  fail(`${kindOf(moving)} is followed by no request header, but the step goes on${state.step.route === null ? '' : ` on ${routeName(state.step.route)}`}`)
}

function movingAfter(moving: Trace['moving'], fact: Fact): Trace['moving'] {
  switch (fact.type) {
    case 'movePlanned':
      return fact
    // Most often the target. Another route is the word of the person, who picked it meanwhile, or of the host.
    case 'routed':
    case 'stepStarted':
    case 'stepEnded':
    case 'turnStarted':
    case 'turnEnded':
    case 'seedEnded':
      return null
    default:
      return moving
  }
}

function chainsAfter(chains: Trace['chains'], fact: Fact): Trace['chains'] {
  switch (fact.type) {
    case 'waitPlanned':
    case 'movePlanned': {
      const { turn, step, retryId, retry } = fact
      const next = new Map(chains)
      // Behind the others again: the oldest is the one that nobody went on with for longest.
      next.delete(retryId)
      next.set(retryId, { turn, step, last: retry, started: chains.get(retryId)?.started ?? 0 })
      const [oldest] = next.keys()
      if (next.size > MAX_CHAINS && oldest !== undefined) next.delete(oldest)
      return next
    }
    case 'attemptStarted': {
      const mine = chains.get(fact.retryId)
      return mine === undefined ? chains : new Map(chains).set(fact.retryId, { ...mine, started: fact.retry })
    }
    case 'turnStarted':
      return chains.size === 0 ? chains : new Map()
    default:
      return chains
  }
}

/** An entry's waits, counted from the records: one that brings an armed wait forward, or states it again, is no other. */
function waitsAfter({ waits, state }: Trace, fact: Fact, after: SessionState): number {
  if (after.entries.open === null) return 0
  if (fact.type !== 'waitPlanned') return waits
  const armed = state.entries.open?.wait ?? null
  return armed !== null && EARLY_CAUSES.has(fact.cause) ? waits : waits + 1
}

/** Check one fact against what came before it, and take it in. */
function take(trace: Trace, fact: Fact, routesOf: PoolRoutes, fail: InvariantFailure): Trace {
  checkMoving(trace, fact, fail)
  if (fact.type === 'waitPlanned' || fact.type === 'movePlanned') checkPlace(fact, trace.state, fail)
  if (fact.type === 'movePlanned') checkPool(fact, routesOf, fail)
  if (fact.type === 'attemptStarted') checkStarted(fact, trace, fail)
  const state = evolve(trace.state, fact)
  const waits = waitsAfter(trace, fact, state)
  const { open } = state.entries
  if (open !== null && open.attempts !== waits) fail(`the open entry counts ${open.attempts} attempts, but its records are ${waits}`)
  return { state, chains: chainsAfter(trace.chains, fact), moving: movingAfter(trace.moving, fact), waits }
}

/** A stored log may have been written under other pools than those of today. */
const anyPool: PoolRoutes = () => undefined

function headed(session: Session): SessionState {
  const head = decodeHeader(session.header)
  return head === undefined ? initialState : evolve(initialState, head)
}

function loaded(session: Session, fail: InvariantFailure): Trace {
  let trace: Trace = { ...initialTrace, state: headed(session) }
  for (const event of readLog(session)) {
    const fact = decodeEvent(event)
    if (fact !== undefined && fact.type !== 'sessionOpened') trace = take(trace, fact, anyPool, fail)
  }
  return trace
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The keys in which two flat values differ, for a sentence. */
function differing(a: object, b: object): string {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  const value = (of: object, key: string): unknown => (of as Readonly<Record<string, unknown>>)[key]
  return [...keys].filter(key => !isEqual(value(a, key), value(b, key)))
    .map(key => `${key} is ${JSON.stringify(value(a, key))} and should be ${JSON.stringify(value(b, key))}`).join(', ')
}

/** Hold what the service says of a session to a fold that it has no part in. */
function checkService(service: QuotaRetryService, session: Session, state: SessionState, what: string, fail: InvariantFailure): void {
  const pools = Object.fromEntries(service.report().pools.map(({ pool, routes }) => [pool, { routes: [...routes] as RouteConfig[] }]))
  const facts = service.facts(session)
  // The deployment is the service's to know; that it stays the same one is not looked at.
  const config = { defaultEnabled: facts.defaultEnabled, pools, transient: { enabled: true },
    resumeOnStart: facts.wait?.pending === false && facts.wait.nextAttemptAt !== null }
  const folded = quotaRetryFacts(state, config)
  if (!isEqual(facts, folded)) fail(`the service and ${what} disagree on session ${session.id}: ${differing(facts, folded)}`)
  const snapshot = service.stateOf(session) ?? {}
  const expected = retrySnapshot(state, config) ?? {}
  if (!isEqual(snapshot, expected)) fail(`the service and ${what} disagree on the entry of session ${session.id}: ${differing(snapshot, expected)}`)
}

/** The checks of one host. */
export class Checks {
  private readonly ctx: Context
  private readonly fail: InvariantFailure
  private readonly traces = new WeakMap<Session, Trace>()
  /** What follows from the event that is about to be committed. Kept for none but it: logs keep their events for ever. */
  private staged: { readonly event: SessionEvent; readonly trace: Trace } | undefined
  /** States that the service was held to already: most events change nothing. */
  private readonly compared = new WeakMap<Session, SessionState>()
  /** Sessions whose entry was announced, or was open when they were loaded, and not left since. */
  private readonly announced = new WeakMap<Session, boolean>()

  constructor(ctx: Context, fail: InvariantFailure) {
    this.ctx = ctx
    this.fail = fail
  }

  open(session: Session): Trace {
    const trace = loaded(session, this.fail)
    this.traces.set(session, trace)
    this.announced.set(session, trace.state.entries.open !== null)
    return trace
  }

  /** An event is about to be committed; a throw vetoes it. */
  before(session: Session, event: SessionEvent): void {
    const fact = decodeEvent(event)
    if (fact === undefined || fact.type === 'sessionOpened') return
    const trace = this.of(session)
    // Another companion may yet veto the event, so what follows from it is only laid ready.
    this.staged = { event, trace: take(trace, fact, this.routesOf, this.fail) }
    // Every listener of the event before is done, so the live fold must be where the log is.
    this.compare(session, trace.state, 'the fold of its log')
    if (fact.type === 'turnEnded' && this.service !== undefined) {
      checkService(this.service, session, foldSession(readLog(session), headed(session)), 'a fresh fold of its log', this.fail)
    }
  }

  /** An event was committed. */
  after(session: Session, event: SessionEvent): void {
    if (this.staged?.event === event) this.traces.set(session, this.staged.trace)
    this.staged = undefined
  }

  /**
   * What is known of a session.
   *
   * @param session - the session.
   */
  trace(session: Session): Trace {
    return this.of(session)
  }

  entered({ session, enteredAt }: EnteredEvent): void {
    if (this.announced.get(session) === true) this.fail(`"entered" is announced twice for session ${session.id} without a "left" in between`)
    this.announced.set(session, true)
    this.match(session, enteredAt, 'entered')
  }

  left({ session, enteredAt, attempts, reason }: LeftEvent): void {
    if (this.announced.get(session) !== true) this.fail(`"left" is announced for session ${session.id} without an "entered" before it`)
    this.announced.set(session, false)
    this.match(session, enteredAt, 'left')
    const { lastClosed } = this.of(session).state.entries
    if (lastClosed?.enteredAt === enteredAt && (lastClosed.attempts !== attempts || lastClosed.reason !== reason)) {
      this.fail(`"left" of session ${session.id} says ${reason} after ${attempts} attempts, but its log says ${lastClosed.reason} after ${lastClosed.attempts}`)
    }
  }

  /** Whether the log knows the entry that is announced. */
  private match(session: Session, enteredAt: number, what: string): void {
    const { open, lastClosed } = this.of(session).state.entries
    if (open?.enteredAt !== enteredAt && lastClosed?.enteredAt !== enteredAt) {
      this.fail(`"${what}" of session ${session.id} is of an entry at ${enteredAt}, which its log does not have`)
    }
  }

  private of(session: Session): Trace {
    return this.traces.get(session) ?? this.open(session)
  }

  private compare(session: Session, state: SessionState, what: string): void {
    const { service } = this
    if (service === undefined || this.compared.get(session) === state) return
    checkService(service, session, state, what, this.fail)
    this.compared.set(session, state)
  }

  private get service(): QuotaRetryService | undefined {
    return this.ctx.get('llmQuotaRetry' as never) as QuotaRetryService | undefined
  }

  private readonly routesOf: PoolRoutes = pool => this.service?.report().pools.find(known => known.pool === pool)?.routes
}

/** Install the checks for loaded sessions and for every record and announcement from here on. */
const install: InvariantInstaller = Object.assign((ctx: Context, fail: InvariantFailure) => {
  const checks = new Checks(ctx, fail)
  for (const session of ctx.sessions.list()) checks.open(session)
  ctx.on('session/created', (session) => { checks.open(session) }, { global: true })
  ctx.on('session/event', (session, event) => { checks.after(session, event) }, { global: true })
  ctx.on('internal/dispatch', (_mode, eventName, args) => {
    switch (eventName as string) {
      case 'session/event': return checks.before(...args as [Session, SessionEvent])
      case 'llm-quota-retry/entered': return checks.entered(args[0] as EnteredEvent)
      case 'llm-quota-retry/left': return checks.left(args[0] as LeftEvent)
    }
  }, { global: true })
}, { inject: ['sessions'] })

/**
 * Register the companion.
 *
 * @param ctx - Cordis context carrying the invariant service.
 * @returns the installed registration's disposer after setup succeeds.
 */
export const apply = (ctx: Context): Promise<() => void> =>
  Promise.resolve(ctx.invariants.register(PACKAGE_NAME, install))
