import type { Events } from '@deepseek-ai/cordis'
import type { RequestErrorAction } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import { readFailure } from '../events/failure.ts'
import { moveKey, type WaitCause, waitKey } from '../events/policy-key.ts'
import { type Route, sameRoute } from '../events/route.ts'
import { chooseMove, type Choice } from '../policy/choose.ts'
import { type Config, MAX_DELAY_MS } from '../policy/config.ts'
import { type Response, respond } from '../policy/respond.ts'
import { resolvePool } from '../policy/settings.ts'
import type { PlannedWait } from '../policy/wait.ts'
import { clockText, durationText, oneLine } from '../projections/text.ts'
import { type Mark, markOf } from '../reducers/marks.ts'
import type { Balances } from './balances.ts'
import type { SessionBook } from './book.ts'
import type { Clock } from './clock.ts'
import type { Gates } from './gates.ts'
import type { Journal } from './journal-store.ts'
import { type PlannedRecord, recordPlanned, recordStarted } from './records.ts'
import type { Router } from './router.ts'
import type { Voice } from './voice.ts'
import type { Watch } from './watch.ts'

/** Refusals of one provider within this time, in ms, are one piece of news. */
const SAME_REFUSAL_MS = 5_000

type RequestError = Parameters<Events['agent/request-error']>[0]
type Next = () => Promise<RequestErrorAction>
type WaitResponse = Extract<Response, { kind: 'wait' }>

/** What the recovery works with. */
export interface RecoveryParts {
  readonly config: Config
  readonly clock: Clock
  readonly book: SessionBook
  readonly gates: Gates<Session>
  readonly journal: Journal
  readonly balances: Balances
  readonly router: Router
  readonly voice: Voice
  readonly watch: Watch
  /** Have the host write a session's log to its disk. */
  readonly flush: (session: Session) => unknown
}

/** Answers failed requests: reads the folded state, asks the policy, records, moves or waits. */
export class Recovery {
  private readonly parts: RecoveryParts
  private readonly lifetime = new AbortController()
  private readonly active = new Set<Promise<RequestErrorAction>>()

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
  readonly listener = (payload: RequestError, next: Next): Promise<RequestErrorAction> => this.track(payload, next, false)

  /**
   * The same, to be outermost: only for failures that certainly are a spent allowance, which the harness's own quick
   * retries cannot mend.
   *
   * @param payload - the failed request.
   * @param next - the next listener.
   */
  readonly certainListener = (payload: RequestError, next: Next): Promise<RequestErrorAction> => this.track(payload, next, true)

  /** End every wait and wait for the listeners to return: disposing a fiber does not. */
  async close(): Promise<void> {
    this.lifetime.abort()
    this.parts.gates.close()
    await Promise.allSettled([...this.active])
  }

  private track(payload: RequestError, next: Next, certainOnly: boolean): Promise<RequestErrorAction> {
    // A waterfall may have captured this listener before it was removed.
    if (this.lifetime.signal.aborted) return next()
    const handled = this.handle(payload, next, certainOnly)
    const tracked: Promise<RequestErrorAction> = handled.finally(() => { this.active.delete(tracked) })
    this.active.add(tracked)
    return tracked
  }

  private async handle(payload: RequestError, next: Next, certainOnly: boolean): Promise<RequestErrorAction> {
    let retry: boolean
    try {
      retry = await this.recover(payload, certainOnly)
    } catch (error) {
      // A listener that throws would lose the failure: the turn would end with ours instead.
      this.parts.voice.warn('recovery', `a failed request could not be handled and is left to the harness: ${String(error)}`)
      retry = false
    }
    return retry ? { kind: 'retry' } : next()
  }

  /** @returns whether to ask again; false leaves the failure as it was. */
  private async recover(payload: RequestError, certainOnly: boolean): Promise<boolean> {
    let response = this.decide(payload)
    if (this.isOver(payload)) return false
    if (certainOnly && (response.kind === 'delegate' || response.verdict.confidence !== 'certain')) return false
    const plan = this.learn(payload, response)
    // A target that the host refuses is none in the next round.
    while (response.kind === 'move') {
      const objection = await this.parts.router.objection(response.choice.route, payload.signal)
      if (this.isOver(payload)) return false
      if (objection === undefined) return this.move(payload, response.choice)
      this.parts.router.noteUnfit(payload.agent.session, payload, response.choice.route, objection)
      response = this.decide(payload)
    }
    return response.kind === 'wait' && this.wait(payload, response, plan)
  }

  private isOver({ signal }: RequestError): boolean {
    return signal.aborted || this.lifetime.signal.aborted
  }

  private decide({ agent: { session }, turn, step, provider, failure }: RequestError): Response {
    const { book, config, router } = this.parts
    return respond({
      state: book.of(session), failure: readFailure(failure), provider, turn, step,
      world: router.world, unfit: router.unfitFor(session, turn, step),
    }, config)
  }

  /**
   * What a refusal tells about its provider or its route, whatever is done about it.
   *
   * @returns when the route is asked again, where it is out of allowance.
   */
  private learn(payload: RequestError, response: Response): PlannedWait | undefined {
    const { agent: { session }, provider, failure } = payload
    const { gates, journal, router, watch } = this.parts
    if (response.mark !== undefined) watch.refused(provider, gates.sentAt(session) ?? response.mark.at)
    if (response.mark !== undefined && !this.saidAlready(response.mark)) journal.append(response.mark)
    if (response.kind !== 'delegate' && response.unfit !== undefined) {
      router.noteUnfit(session, payload, response.unfit, readFailure(failure).message)
      return undefined
    }
    // Who waits for this route already learns of it, also when this session moves on.
    return response.verdict.kind === 'spent-allowance' ? gates.refused(session, this.routeOf(session, provider), response.verdict) : undefined
  }

  /** A hundred sessions may be refused in one breath; one mark says it for all. */
  private saidAlready(mark: Mark): boolean {
    const held = markOf(this.parts.router.world.marks, mark.provider, mark.at)
    return held !== undefined && held.rule === mark.rule && mark.at - held.at < SAME_REFUSAL_MS
  }

  /** The route of the failed request; a log that does not name its model leaves the provider. */
  private routeOf(session: Session, provider: string): Route {
    const { route } = this.parts.book.of(session).step
    return route?.provider === provider ? route : { provider, model: '' }
  }

  private move(payload: RequestError, choice: Choice): boolean {
    this.recordMove(payload, choice.pool, choice.route)
    this.parts.router.redirect(payload.agent.session, choice.route)
    // Behind the request: the next choice in this pool should know more than this one did.
    void this.parts.balances.refresh(choice.standings.map(({ route }) => route.provider))
    return true
  }

  private recordMove({ agent: { session }, turn, step, provider, failure }: RequestError, pool: string, to: Route): void {
    const policyKey = moveKey(pool, to.provider, to.model)
    recordStarted(session, recordPlanned(session, this.parts.book.of(session).step, { turn, step, provider, policyKey, delayMs: 0, failure }))
  }

  private async wait(payload: RequestError, response: WaitResponse, plan: PlannedWait | undefined): Promise<boolean> {
    const { session } = payload.agent
    const { clock, config, gates } = this.parts
    const on = response.on ?? this.routeOf(session, payload.provider)
    if (plan === undefined) gates.hold(session, on, clock.now() + config.longTermDelayMs)
    const routes = [on, ...this.holdOthers(payload, on)]
    const first = this.deadline(session, routes, response.limitAt, plan?.cause ?? 'interval')
    const record = (at: number, cause: WaitCause): PlannedRecord => this.recordWait(payload, response, at, cause)
    let planned = record(first.at, first.cause)
    this.say(session, on.provider, response, first.at)
    const waiting = gates.wait({
      key: session, routes, nextAttemptAt: first.at, limitAt: response.limitAt,
      // The end of the plugin closes the gates; a signal made of two would add a kilobyte to every wait.
      signal: payload.signal,
      rearm: (at, cause) => { planned = this.rearm(() => record(at, cause)) ?? planned },
    })
    this.parts.watch.start()
    this.keep(session)
    const wake = await waiting
    if (wake.kind !== 'go') return false
    if (wake.cause !== 'due' && wake.cause !== 'limit') planned = record(clock.now(), wake.cause)
    recordStarted(session, planned)
    await this.chooseAfterWait(payload, wake.route, response.on)
    return !this.isOver(payload)
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

  /** Other routes of the pool are worth an attempt when their marks lapse; the wait is over when any of them answers. */
  private holdOthers({ agent: { session }, turn, step }: RequestError, on: Route): Route[] {
    const { book, clock, config, gates, router } = this.parts
    const { settings, step: { route } } = book.of(session)
    const { pool } = resolvePool(settings, route, config)
    const unfit = router.unfitFor(session, turn, step)
    const others = (pool === null ? [] : config.pools[pool]?.routes ?? [])
      .filter(other => !sameRoute(other, on) && !unfit.some(found => sameRoute(found, other)))
    for (const other of others) {
      const mark = markOf(router.world.marks, other.provider, clock.now())
      gates.hold(session, other, mark?.until ?? clock.now() + config.longTermDelayMs)
    }
    return others
  }

  private deadline(session: Session, routes: readonly Route[], limitAt: number | undefined, cause: WaitCause): { at: number; cause: WaitCause } {
    const at = this.parts.gates.nextAt(session, routes)
    return limitAt !== undefined && limitAt < at ? { at: limitAt, cause: 'limit' } : { at, cause }
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

  /** After a wait every route may be asked once more: the one whose time came, else the pool's order of preference. */
  private async chooseAfterWait(payload: RequestError, due: Route | undefined, waitedOn: Route | undefined): Promise<void> {
    const { agent: { session }, turn, step, signal } = payload
    const { book, config, gates, router } = this.parts
    const { settings, step: { route: current } } = book.of(session)
    const { pool } = resolvePool(settings, current, config)
    const choice = pool === null ? undefined : chooseMove(pool, router.unfitFor(session, turn, step), router.world, config)
    const to = due ?? choice?.route ?? waitedOn
    if (to === undefined || sameRoute(to, current)) return
    const held = pool === null ? undefined : config.pools[pool]?.routes.find(route => sameRoute(route, to))
    const target = held ?? to
    const objection = await router.objection(target, signal)
    if (objection !== undefined) {
      router.noteUnfit(session, payload, target, objection)
      gates.left(session)
      return
    }
    if (pool !== null && held !== undefined) this.recordMove(payload, pool, target)
    router.redirect(session, target)
  }

  /** One line for each wait: a headless run has nothing else that says why it stands still. */
  private say(session: Session, provider: string, { verdict }: WaitResponse, at: number): void {
    const hint = verdict.resetHint === undefined ? '' : `; the provider says: ${oneLine(verdict.resetHint, 120)}`
    this.parts.voice.wait(`session ${session.id} waits: ${provider} is out of allowance (${verdict.reason}); `
      + `next check ${clockText(at)}, in ${durationText(at - this.parts.clock.now())}${hint}`)
  }
}
