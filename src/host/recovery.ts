import type { Events } from '@deepseek-ai/cordis'
import type { RequestErrorAction } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import { readFailure } from '../events/failure.ts'
import { backoffKey, type MoveCause, moveKey, type WaitCause, waitKey } from '../events/policy-key.ts'
import { type Route, routeName, sameRoute } from '../events/route.ts'
import { chooseAfterWait, firstWayOut, type WaitContext } from '../policy/pool/after-wait.ts'
import type { Choice } from '../policy/pool/choose.ts'
import { type Config, MAX_DELAY_MS, type RouteConfig } from '../policy/config.ts'
import { type DelegateReason, type Response, respond } from '../policy/respond.ts'
import { clockText, durationText, oneLine } from '../projections/text.ts'
import { endText } from '../projections/transient.ts'
import { refusedRoute } from '../reducers/step.ts'
import type { Balances } from './pool/balances.ts'
import type { SessionBook } from './book.ts'
import type { Clock } from './clock.ts'
import type { Gates } from './gates.ts'
import type { Journal } from './journal-store.ts'
import type { Pace } from './pace.ts'
import { within } from './patience.ts'
import { type PlannedRecord, recordPlanned, recordStarted } from './records.ts'
import type { Router } from './pool/router.ts'
import { pause } from './pause.ts'
import type { Budget } from './transient/budget.ts'
import type { Voice } from './voice.ts'
import type { Wake } from './waits.ts'
import type { Watch } from './pool/watch.ts'

/** How long the end of a cancelled turn waits for the journal at most, in ms. */
const STOP_PATIENCE_MS = 250

type RequestError = Parameters<Events['agent/request-error']>[0]
type Next = () => Promise<RequestErrorAction>
type WaitResponse = Extract<Response, { kind: 'wait' }>
type RetryResponse = Extract<Response, { kind: 'retry' }>

/** What the recovery works with. */
export interface RecoveryParts {
  readonly config: Config
  readonly clock: Clock
  readonly book: SessionBook
  readonly gates: Gates
  readonly journal: Journal
  readonly balances: Balances
  readonly router: Router
  readonly voice: Voice
  readonly watch: Watch
  readonly pace: Pace
  readonly budget: Budget
  /** A number from 0 to 1. */
  readonly random: () => number
  /** Have the host write a session's log to its disk. */
  readonly flush: (session: Session) => unknown
}

/** Answers failed requests: reads the folded state, asks the policy, records, moves or waits. */
export class Recovery {
  private readonly parts: RecoveryParts
  private readonly lifetime = new AbortController()
  /** What of ours is under way; whoever else answers a failed request may take as long as it likes. */
  private readonly active = new Set<Promise<boolean>>()
  /** Failed requests that were answered once: both listeners are told of the same. */
  private readonly answered = new WeakSet<object>()

  /**
   * @param parts - what the recovery works with.
   */
  constructor(parts: RecoveryParts) {
    this.parts = parts
  }

  /**
   * The `agent/request-error` listener, to be innermost: whoever else recovers comes first.
   *
   * @param payload - the failed request.
   * @param next - the next listener.
   */
  readonly listener = (payload: RequestError, next: Next): Promise<RequestErrorAction> => this.handle(payload, next, false)

  /**
   * The same, to be outermost: only for failures that certainly are a spent allowance, which the harness's own quick
   * retries cannot mend.
   *
   * @param payload - the failed request.
   * @param next - the next listener.
   */
  readonly certainListener = (payload: RequestError, next: Next): Promise<RequestErrorAction> => this.handle(payload, next, true)

  /** End every wait, and wait for what of ours is under way: disposing a fiber does not. */
  async close(): Promise<void> {
    this.lifetime.abort()
    this.parts.gates.close()
    await Promise.allSettled([...this.active])
  }

  private async handle(payload: RequestError, next: Next, certainOnly: boolean): Promise<RequestErrorAction> {
    // A waterfall may have captured this listener before it was removed.
    if (this.lifetime.signal.aborted) return next()
    const recovered = this.recover(payload, certainOnly).catch((error: unknown) => {
      // A listener that throws would lose the failure: the turn would end with ours instead.
      this.parts.voice.warn('recovery', `a failed request could not be handled and is left to the harness: ${String(error)}`)
      return false
    })
    this.active.add(recovered)
    const retry = await recovered.finally(() => { this.active.delete(recovered) })
    return retry ? { kind: 'retry' } : next()
  }

  /** @returns whether to ask again; false leaves the failure as it was. */
  private async recover(payload: RequestError, certainOnly: boolean): Promise<boolean> {
    // Already answered as a certain one: what the person switched off since is not to be learnt again from an old refusal.
    if (this.isOver(payload) || this.answered.has(payload)) return false
    let response = this.decide(payload)
    if (certainOnly && (response.kind === 'delegate' || response.verdict.confidence !== 'certain')) return false
    this.answered.add(payload)
    this.learn(payload, response)
    // A target that the host refuses is none in the next round, nor is one that was spent before its turn came.
    while (response.kind === 'move') {
      const objection = await this.objection(response.choice.route, payload)
      if (this.isOver(payload)) return false
      if (objection !== undefined) this.parts.router.noteUnfit(payload.agent.session, payload, response.choice.route, objection)
      else if (await this.move(payload, response.choice)) return true
      if (this.isOver(payload)) return false
      response = this.decide(payload)
    }
    if (response.kind === 'wait') return this.wait(payload, response)
    if (response.kind === 'retry') return this.retry(payload, response)
    this.sayEnd(payload, response.why)
    return false
  }

  private isOver({ signal }: RequestError): boolean {
    return signal.aborted || this.lifetime.signal.aborted
  }

  /** What the host has against a route; a look is over when the turn or the plugin is. */
  private objection(route: RouteConfig, { signal }: RequestError): Promise<string | undefined> {
    return this.parts.router.objection(route, AbortSignal.any([signal, this.lifetime.signal]))
  }

  private decide({ agent: { session }, turn, step, provider, failure, retryPolicy }: RequestError): Response {
    const { book, config, gates, random, router } = this.parts
    return respond({
      state: book.of(session), failure: readFailure(failure), provider, turn, step,
      world: router.world, unfit: router.unfitFor(session, turn, step),
      known: (route, policy) => gates.known(session.id, route, policy),
      ...retryPolicy === undefined ? {} : { retryPolicy }, random: random(),
    }, config)
  }

  /** What a refusal tells about its provider or its route, whatever is done about it. */
  private learn(payload: RequestError, response: Response): void {
    const { agent: { session }, provider, failure } = payload
    const { clock, gates, journal, router, watch } = this.parts
    const unfit = response.kind === 'move' || response.kind === 'wait' ? response.unfit : undefined
    // What one model has spent refutes no reading of the whole account.
    const spent = response.verdict.kind === 'spent-allowance' && unfit === undefined
    if (spent && response.verdict.scope === 'provider') watch.refused(provider, gates.sentAt(session.id) ?? clock.now())
    if (response.mark !== undefined) journal.append(response.mark)
    if (unfit !== undefined) router.noteUnfit(session, payload, unfit, readFailure(failure).message)
    // Sessions that wait for this route already learn of it, also when this one moves on.
    if (response.asked === undefined) return
    gates.refused(session.id, this.routeOf(session, provider), response.asked, response.kind === 'retry' ? 'transient' : 'quota')
  }

  /** The route of the failed request; a log that does not name its model leaves the provider. */
  private routeOf(session: Session, provider: string): Route {
    return refusedRoute(this.parts.book.of(session).step, provider) ?? { provider, model: '' }
  }

  /** @returns false where the target is spent by the time its turn comes. */
  private async move(payload: RequestError, choice: Choice): Promise<boolean> {
    const { balances, clock, pace, router } = this.parts
    const { agent: { session }, signal } = payload
    // Ten sessions that move at once would knock the target over.
    const delayMs = Math.round(pace.take(choice.route))
    const planned = this.planMove(payload, choice.pool, choice.route, undefined, delayMs)
    if (delayMs > 0) {
      await pause(clock, delayMs, AbortSignal.any([signal, this.lifetime.signal]))
      if (this.isOver(payload)) return false
      const again = this.decide(payload)
      if (again.kind !== 'move' || !sameRoute(again.choice.route, choice.route)) return false
    }
    recordStarted(session, planned)
    router.show(session, choice.route)
    // Behind the request: the next choice in this pool should know more than this one did.
    void balances.refresh(choice.standings.map(({ route }) => route.provider))
    return true
  }

  private planMove({ agent: { session }, turn, step, provider, failure }: RequestError, pool: string, to: Route, afterWait: MoveCause | undefined, delayMs: number): PlannedRecord {
    const policyKey = moveKey(pool, to.provider, to.model, afterWait)
    return recordPlanned(session, this.parts.book.of(session).step, { turn, step, provider, policyKey, delayMs, failure })
  }

  private async wait(payload: RequestError, response: WaitResponse): Promise<boolean> {
    const { session } = payload.agent
    const { clock, gates } = this.parts
    const { limitAt, plan } = response
    const on = response.on ?? this.routeOf(session, payload.provider)
    gates.hold(session.id, on, clock.now() + plan.own.delayMs)
    for (const way of plan.ways) gates.offer(session.id, way.route, way.at)
    const routes: Route[] = [on, ...plan.ways.map(({ route }) => route)]
    const record = (at: number, cause: WaitCause): PlannedRecord => this.recordWait(payload, response, at, cause)
    // The record leaves a route that would not take the conversation: a wait that is cancelled must not leave the session on it.
    let planned = record(plan.first.at, plan.first.cause)
    if (response.on !== undefined) this.parts.router.show(session, response.on)
    this.say(session, on, response)
    const waiting = gates.wait({
      session: session.id, policy: 'quota', routes, nextAttemptAt: plan.first.at, limitAt,
      // The end of the plugin closes the gates; a signal made of two would add a kilobyte to every wait.
      signal: payload.signal,
      rearm: (at, cause) => { planned = this.rearm(() => record(at, cause)) ?? planned },
    })
    this.parts.watch.start()
    this.keep(session)
    const wake = await waiting
    if (wake.kind !== 'go') {
      await this.stopped(payload)
      return false
    }
    if (wake.cause !== 'due' && wake.cause !== 'limit') planned = record(clock.now(), wake.cause)
    recordStarted(session, planned)
    await this.goAfterWait(payload, wake, response.on)
    return !this.isOver(payload)
  }

  /** One more try after a failure that passes. If it cannot be recorded there is none. */
  private async retry(payload: RequestError, { ladder }: RetryResponse): Promise<boolean> {
    const { agent: { session }, provider, signal } = payload
    const { budget, clock, gates } = this.parts
    const route = this.routeOf(session, provider)
    const record = (at: number, cause: WaitCause): PlannedRecord => this.recordTry(payload, ladder.of, at, cause)
    const at = clock.now() + ladder.asked.delayMs
    let planned = record(at, ladder.asked.cause)
    const waiting = gates.wait({
      session: session.id, policy: 'transient', routes: [route], nextAttemptAt: at, signal,
      rearm: (next, cause) => { planned = this.rearm(() => record(next, cause)) ?? planned },
    })
    this.keep(session)
    const wake = await waiting
    if (wake.kind !== 'go') {
      await this.stopped(payload)
      return false
    }
    if (wake.cause !== 'due') planned = record(clock.now(), wake.cause)
    // An empty budget delays, and fails nothing; who follows an answer needs none.
    const debtMs = wake.cause === 'ramp' ? 0 : budget.take(provider)
    if (debtMs > 0) {
      planned = record(clock.now() + debtMs, 'budget')
      await pause(clock, debtMs, AbortSignal.any([signal, this.lifetime.signal]))
      if (this.isOver(payload)) {
        await this.stopped(payload)
        return false
      }
    }
    recordStarted(session, planned)
    return !this.isOver(payload)
  }

  private recordTry({ agent: { session }, turn, step, provider, failure }: RequestError, of: number | null, at: number, cause: WaitCause): PlannedRecord {
    const { book, clock } = this.parts
    const delayMs = Math.round(Math.min(MAX_DELAY_MS, Math.max(0, at - clock.now())))
    return recordPlanned(session, book.of(session).step, {
      turn, step, provider, failure, delayMs, policyKey: backoffKey(cause),
      // Only planned tries are counted in the record: what others bring forward has numbers of its own.
      ...of === null || cause !== 'backoff' ? {} : { maxRetries: of },
    })
  }

  /** A person who cancels is not undone by a host that is killed: the index says so before the turn ends. */
  private async stopped({ agent: { session }, signal }: RequestError): Promise<void> {
    if ((signal.reason as { kind?: unknown } | undefined)?.kind !== 'user') return
    const { clock, journal } = this.parts
    journal.release(session.id, clock.now())
    await within(clock, journal.settled(), STOP_PATIENCE_MS)
  }

  /**
   * What the log holds of a wait must be on the disk, for a host that is killed has nothing else to go by. The index goes
   * first: a wait that only the log knows would not be found, one that only the index knows is.
   */
  private keep(session: Session): void {
    void this.parts.journal.settled().then(() => this.parts.flush(session)).catch(() => {})
  }

  /** Runs while another session's refusal is handled, and must not harm that. */
  private rearm(record: () => PlannedRecord): PlannedRecord | undefined {
    try {
      return record()
    } catch (error) {
      this.parts.voice.warn('rearm', `a new time of a wait could not be recorded: ${String(error)}`)
      return undefined
    }
  }

  private recordWait(payload: RequestError, response: WaitResponse, at: number, cause: WaitCause): PlannedRecord {
    const { agent: { session }, turn, step, provider } = payload
    const { book, clock, config } = this.parts
    return recordPlanned(session, book.of(session).step, {
      turn, step, provider, failure: response.failure,
      delayMs: Math.min(MAX_DELAY_MS, Math.max(0, at - clock.now())),
      policyKey: waitKey({ intervalMs: config.longTermDelayMs, cause, ...response.on === undefined ? {} : { on: response.on } }),
    })
  }

  private async goAfterWait(payload: RequestError, { cause, route: due }: Extract<Wake, { kind: 'go' }>, waitedOn: Route | undefined): Promise<void> {
    const { agent: { session } } = payload
    const { book, config, gates, router } = this.parts
    if (router.isPicked(session)) return
    let next = chooseAfterWait(due, waitedOn, this.context(payload), config)
    for (;;) {
      if (next === undefined) return
      const objection = await this.objection(next.route, payload)
      if (this.isOver(payload)) return
      if (objection === undefined) break
      router.noteUnfit(session, payload, next.route, objection)
      gates.giveUp(session.id)
      // A person who asks means whatever else the pool holds.
      if (!book.of(session).step.asking) return
      next = chooseAfterWait(undefined, waitedOn, this.context(payload), config)
    }
    if (next.pool !== null) recordStarted(session, this.planMove(payload, next.pool, next.route, cause, 0))
    router.show(session, next.route)
  }

  private context({ agent: { session }, turn, step }: RequestError): WaitContext {
    const { book, router } = this.parts
    return { state: book.of(session), world: router.world, unfit: router.unfitFor(session, turn, step) }
  }

  /** One line for each wait: a headless run has nothing else that says why it stands still. */
  private say(session: Session, on: Route, { plan: { first: { at, cause }, ways }, verdict, why }: WaitResponse): void {
    const { book, clock, config, voice } = this.parts
    const pool = why === 'outage' ? null : firstWayOut(book.of(session), config)?.pool ?? null
    // The plan knows of every route; the log only of those that this session asked.
    const next = cause === 'other-route' ? ways.find(way => way.at === at)?.route ?? on : on
    const what = pool === null
      ? `${on.provider} is ${why === 'outage' ? 'not back yet' : 'out of allowance'} (${verdict.reason})`
      : `every route of pool ${pool} is out of allowance, ${oneLine(routeName(on), 120)} as the last (${verdict.reason})`
    const where = pool === null ? '' : `, on ${oneLine(routeName(next), 120)}`
    const hint = verdict.resetHint === undefined ? '' : `; the provider says: ${oneLine(verdict.resetHint, 120)}`
    voice.wait(`session ${session.id} waits: ${what}; next check ${clockText(at)}, in ${durationText(at - clock.now())}${where}${hint}`)
  }

  /** Why no further try is made: a run that ends in silence is a riddle in the morning. */
  private sayEnd({ agent: { session }, failure, provider }: RequestError, why: DelegateReason): void {
    const text = endText(why, { provider, code: failure.code, tries: this.parts.book.of(session).transient.ladder?.tries ?? 0 })
    if (text === undefined) return
    // A policy of a provider is no news at each of its failures.
    if (why === 'provider-retries-always') this.parts.voice.warn(`always-${provider}`, text)
    else this.parts.voice.wait(`session ${session.id}: ${text}`)
  }
}
