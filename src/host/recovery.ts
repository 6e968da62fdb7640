import type { Events } from '@deepseek-ai/cordis'
import type { RequestErrorAction } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import { readFailure } from '../events/failure.ts'
import { moveKey, waitKey } from '../events/policy-key.ts'
import { type Route, sameRoute } from '../events/route.ts'
import { chooseMove } from '../policy/choose.ts'
import type { Config } from '../policy/config.ts'
import { type Response, respond } from '../policy/respond.ts'
import { resolvePool } from '../policy/settings.ts'
import { clockText, durationText, oneLine } from '../projections/text.ts'
import type { Balances } from './balances.ts'
import { type Mark, markOf } from '../reducers/marks.ts'
import type { SessionBook } from './book.ts'
import type { Clock } from './clock.ts'
import type { Journal } from './journal-store.ts'
import { recordPlanned, recordStarted } from './records.ts'
import type { Router } from './router.ts'
import type { Waits } from './waits.ts'
import type { Voice } from './voice.ts'

/** Refusals of one provider within this time, in ms, are one piece of news. */
const SAME_REFUSAL_MS = 5_000

type RequestError = Parameters<Events['agent/request-error']>[0]
type Next = () => Promise<RequestErrorAction>

/** What the recovery works with. */
export interface RecoveryParts {
  readonly config: Config
  readonly clock: Clock
  readonly book: SessionBook
  readonly waits: Waits<Session>
  readonly journal: Journal
  readonly balances: Balances
  readonly router: Router
  readonly voice: Voice
}

/** Answers failed requests: reads the folded state, asks the policy, records, waits. */
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
   * The `agent/request-error` listener.
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

  private track(payload: RequestError, next: Next, certainOnly: boolean): Promise<RequestErrorAction> {
    // A waterfall may have captured this listener before it was removed.
    if (this.lifetime.signal.aborted) return next()
    const handled = this.handle(payload, next, certainOnly)
    const tracked: Promise<RequestErrorAction> = handled.finally(() => { this.active.delete(tracked) })
    this.active.add(tracked)
    return tracked
  }

  /** End every wait and wait for the listeners to return: disposing a fiber does not. */
  async close(): Promise<void> {
    this.lifetime.abort()
    this.parts.waits.close()
    await Promise.allSettled([...this.active])
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
    const { agent: { session }, signal } = payload
    // Each round names one target, and a target that the host refuses is none in the next.
    for (let round = 0; ; round += 1) {
      if (signal.aborted || this.lifetime.signal.aborted) return false
      const response = this.decide(payload)
      if (certainOnly && (response.kind === 'delegate' || response.verdict.confidence !== 'certain')) return false
      if (round === 0) this.learn(payload, response)
      switch (response.kind) {
        case 'delegate':
          return false
        case 'wait':
          return this.wait(payload, response)
        case 'move': {
          const { route } = response.choice
          const objection = await this.parts.router.objection(route, signal)
          if (signal.aborted || this.lifetime.signal.aborted) return false
          if (objection === undefined) return this.move(payload, response)
          this.parts.router.noteUnfit(session, payload, route, objection)
        }
      }
    }
  }

  private decide({ agent: { session }, turn, step, provider, failure }: RequestError): Response {
    const { book, config, router } = this.parts
    return respond({
      state: book.of(session), failure: readFailure(failure), provider, turn, step,
      world: router.world, unfit: router.unfitFor(session, turn, step),
    }, config)
  }

  /** What a refusal tells about its provider or its route, whatever is done about it. */
  private learn(payload: RequestError, response: Response): void {
    const { journal, router } = this.parts
    if (response.mark !== undefined && !this.saidAlready(response.mark)) journal.append(response.mark)
    if (response.kind !== 'delegate' && response.unfit !== undefined) {
      router.noteUnfit(payload.agent.session, payload, response.unfit, readFailure(payload.failure).message)
    }
  }

  /** A hundred sessions may be refused in one breath; one mark says it for all. */
  private saidAlready(mark: Mark): boolean {
    const held = markOf(this.parts.router.world.marks, mark.provider, mark.at)
    return held !== undefined && held.rule === mark.rule && mark.at - held.at < SAME_REFUSAL_MS
  }

  private move(payload: RequestError, { choice }: Extract<Response, { kind: 'move' }>): boolean {
    const { agent: { session }, turn, step, provider, failure } = payload
    const { book, router, balances } = this.parts
    const { provider: toProvider, model } = choice.route
    recordStarted(session, recordPlanned(session, book.of(session).step, {
      turn, step, provider, policyKey: moveKey(choice.pool, toProvider, model), delayMs: 0, failure,
    }))
    router.redirect(session, choice.route)
    // Behind the request: the next choice in this pool should know more than this one did.
    void balances.refresh(choice.standings.map(({ route }) => route.provider))
    return true
  }

  private async wait(payload: RequestError, plan: Extract<Response, { kind: 'wait' }>): Promise<boolean> {
    const { agent: { session }, turn, step, provider } = payload
    const { book, clock, config, waits } = this.parts
    const deadline = clock.now() + plan.delayMs
    const policyKey = waitKey({ intervalMs: config.longTermDelayMs, cause: plan.cause, ...plan.on === undefined ? {} : { on: plan.on } })
    const planned = recordPlanned(session, book.of(session).step, { turn, step, provider, policyKey, delayMs: plan.delayMs, failure: plan.failure })
    this.say(session, plan.on?.provider ?? provider, plan, deadline)
    const reason = await waits.begin(session, deadline, AbortSignal.any([payload.signal, this.lifetime.signal]))
    if (reason === 'aborted' || reason === 'disabled') return false
    recordStarted(session, planned)
    this.chooseAfterWait(payload, plan.on)
    return true
  }

  /** After a wait every route may be asked once more, and the pool's order of preference counts again. */
  private chooseAfterWait({ agent: { session }, turn, step, provider, failure }: RequestError, waitedOn: Route | undefined): void {
    const { book, config, router } = this.parts
    const state = book.of(session)
    const { pool } = resolvePool(state.settings, state.step.route, config)
    const choice = pool === null ? undefined : chooseMove(pool, router.unfitFor(session, turn, step), router.world, config)
    const to = choice?.route ?? waitedOn
    if (to === undefined || sameRoute(to, state.step.route)) return
    if (choice !== undefined) {
      recordStarted(session, recordPlanned(session, state.step, {
        turn, step, provider, policyKey: moveKey(choice.pool, to.provider, to.model), delayMs: 0, failure,
      }))
    }
    router.redirect(session, to)
  }

  /** One line for each wait: a headless run has nothing else that says why it stands still. */
  private say(session: Session, provider: string, plan: Extract<Response, { kind: 'wait' }>, deadline: number): void {
    const hint = plan.verdict.resetHint === undefined ? '' : `; the provider says: ${oneLine(plan.verdict.resetHint, 120)}`
    this.parts.voice.wait(`session ${session.id} waits: ${provider} is out of allowance (${plan.verdict.reason}); `
      + `next check ${clockText(deadline)}, in ${durationText(plan.delayMs)}${hint}`)
  }
}
