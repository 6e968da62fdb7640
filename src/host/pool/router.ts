import type { Context, Events } from '@deepseek-ai/cordis'
import type { LlmCallConfig } from '@deepseek-ai/dsh-llm'
import type { Session } from '@deepseek-ai/dsh-session'
import { cutText } from '../../events/failure.ts'
import { type Route, sameRoute } from '../../events/route.ts'
import type { Choice, World } from '../../policy/pool/choose.ts'
import type { Config, RouteConfig } from '../../policy/config.ts'
import { decideRequest, initialMemory, isAlready, type RequestDecision, type RouteMemory, type Target } from '../../policy/pool/request.ts'
import type { UnfitRoute } from '../../projections/routes.ts'
import type { Balances } from './balances.ts'
import type { SessionBook } from '../book.ts'
import type { Clock } from '../clock.ts'
import { agentOf, showSelection } from '../harness.ts'
import type { Journal } from '../journal-store.ts'
import { untilAborted } from '../patience.ts'
import type { Voice } from '../voice.ts'

type RequestPayload = Parameters<Events['agent/request']>[0]
type Next = () => Promise<LlmCallConfig>

/** What the router works with. */
export interface RouterParts {
  readonly ctx: Context
  readonly config: Config
  readonly clock: Clock
  readonly book: SessionBook
  readonly journal: Journal
  readonly balances: Balances
  readonly voice: Voice
}

/** Routes found unfit that are kept for the report. */
const KEPT_UNFIT = 50

/** A request that was moved before it was sent. */
interface MovedInStep {
  readonly turn: number
  readonly step: number
  readonly from: Route
}

/** Routes found unfit in one step of a session. */
interface UnfitInStep {
  readonly turn: number
  readonly step: number
  readonly routes: Route[]
}

/** Sends each request where the policy decides, from cached state alone. */
export class Router {
  private readonly parts: RouterParts
  private readonly memories = new WeakMap<Session, RouteMemory>()
  private readonly unfitInStep = new WeakMap<Session, UnfitInStep>()
  private readonly movedInStep = new WeakMap<Session, MovedInStep>()
  private readonly unfitRoutes: UnfitRoute[] = []

  /**
   * @param parts - what the router works with.
   */
  constructor(parts: RouterParts) {
    this.parts = parts
  }

  /** What is known of the providers now. */
  get world(): World {
    const { balances, clock, journal } = this.parts
    return { marks: journal.marks, readings: balances.readings, now: clock.now() }
  }

  /** Routes that were found unfit, oldest first. */
  get unfit(): readonly UnfitRoute[] {
    return this.unfitRoutes
  }

  /**
   * The `agent/request` listener, outermost: its word on the route is the last.
   *
   * @param payload - the request.
   * @param next - the next listener.
   */
  readonly listener = async (payload: RequestPayload, next: Next): Promise<LlmCallConfig> => {
    const base = await next()
    try {
      return await this.route(payload, base)
    } catch (error) {
      this.parts.voice.warn('request', `a request could not be looked at and goes where it would without this plugin: ${String(error)}`)
      return base
    }
  }

  /**
   * Send the session's requests to a route from now on.
   *
   * @param session - the session.
   * @param to - the route.
   */
  redirect(session: Session, to: Target): void {
    const memory = this.memories.get(session) ?? initialMemory
    this.memories.set(session, { ...memory, to, picked: null })
    showSelection(agentOf(this.parts.ctx, session), this.parts.ctx, to)
  }

  /**
   * The person picked a model while the session waits: its next request goes there, whatever the step began with.
   *
   * @param session - the session.
   * @param shown - the model that the picker shows.
   * @returns whether it is another than the one the session used.
   */
  picks(session: Session, shown: Target): boolean {
    const memory = this.memories.get(session) ?? initialMemory
    if ([memory.base, memory.to, memory.sent].some(known => sameRoute(shown, known))) return false
    this.memories.set(session, { ...memory, to: shown, picked: shown, overruled: false })
    return true
  }

  /**
   * Whether the session's next request goes where its person picked during the wait.
   *
   * @param session - the session.
   */
  isPicked(session: Session): boolean {
    const memory = this.memories.get(session)
    return memory !== undefined && memory.to !== null && sameRoute(memory.to, memory.picked)
  }

  /**
   * The route that a request of a step was moved off before it was sent.
   *
   * @param session - the session.
   * @param turn - the turn of the step.
   * @param step - the step.
   */
  cameFrom(session: Session, turn: number, step: number): Route | undefined {
    const moved = this.movedInStep.get(session)
    return moved?.turn === turn && moved.step === step ? moved.from : undefined
  }

  /**
   * Routes that cannot serve a step of a session.
   *
   * @param session - the session.
   * @param turn - the turn of the step.
   * @param step - the step.
   */
  unfitFor(session: Session, turn: number, step: number): readonly Route[] {
    const known = this.unfitInStep.get(session)
    return known?.turn === turn && known.step === step ? known.routes : []
  }

  /**
   * Note that a route cannot serve a step of a session, and why, for the report.
   *
   * @param session - the session.
   * @param where - the step.
   * @param route - the route.
   * @param why - the host's or the provider's words.
   */
  noteUnfit(session: Session, where: { readonly turn: number; readonly step: number }, route: Route, why: string): void {
    const routes = [...this.unfitFor(session, where.turn, where.step), route]
    this.unfitInStep.set(session, { turn: where.turn, step: where.step, routes })
    const known = this.unfitRoutes.findIndex(unfit => sameRoute(unfit.route, route))
    if (known >= 0) this.unfitRoutes.splice(known, 1)
    this.unfitRoutes.push({ route: { provider: route.provider, model: route.model }, why: cutText(why, 300), at: this.parts.clock.now() })
    if (this.unfitRoutes.length > KEPT_UNFIT) this.unfitRoutes.shift()
  }

  /**
   * Ask the host whether it would send to a route at all: an unknown model or an unsupported effort would end the turn.
   *
   * @param route - the route.
   * @param signal - ends the look at once, also where the host does not heed it.
   * @returns what the host has against it, or `undefined`.
   */
  async objection(route: RouteConfig, signal: AbortSignal): Promise<string | undefined> {
    const { provider, model, reasoningEffort } = route
    const look = async (): Promise<unknown> => this.parts.ctx.llm.resolveCallConfig({
      provider, model, ...reasoningEffort === undefined ? {} : { reasoningEffort },
    } as LlmCallConfig, signal)
    try {
      await untilAborted(look(), signal)
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : 'the host gave no reason'
    }
  }

  private async route(payload: RequestPayload, base: LlmCallConfig): Promise<LlmCallConfig> {
    const { agent: { session }, signal } = payload
    if (!base.provider || !base.model) return base
    let decision = this.decide(payload, base)
    // A route that the host refuses would end the turn right here; it is none in the next round.
    while (isMove(decision) && !isAlready(base, decision.route)) {
      const objection = await this.objection(decision.route, signal)
      if (signal.aborted) return base
      if (objection === undefined) break
      this.noteUnfit(session, payload, decision.route, objection)
      decision = this.decide(payload, base)
    }
    this.memories.set(session, decision.memory)
    if (isMove(decision) && !sameRoute(decision.from, decision.route)) this.note(payload, decision)
    return isAlready(base, decision.route) ? base : withRoute(base, decision.route)
  }

  private decide({ agent: { session }, turn, step }: RequestPayload, base: LlmCallConfig): RequestDecision {
    return decideRequest({
      base, memory: this.memories.get(session) ?? initialMemory, state: this.parts.book.of(session), world: this.world,
      unfit: this.unfitFor(session, turn, step),
    }, this.parts.config)
  }

  /** A move before a refusal stands in no log but ours: the header only shows that the route changed. */
  private note({ agent: { session }, turn, step }: RequestPayload, { why, from, route }: RequestDecision): void {
    if (why.kind !== 'marked' && why.kind !== 'assigned') return
    this.movedInStep.set(session, { turn, step, from })
    this.parts.journal.append({
      type: 'requestMoved', session: session.id, at: this.parts.clock.now(), pool: why.choice.pool,
      from, to: { provider: route.provider, model: route.model }, why: reasonText(why.kind, why.choice),
    })
    showSelection(agentOf(this.parts.ctx, session), this.parts.ctx, route)
  }
}

/** Whether a request goes to another route than the one before it, by our own decision. */
const isMove = ({ why }: RequestDecision): boolean => why.kind === 'marked' || why.kind === 'assigned'

const reasonText = (kind: 'marked' | 'assigned', choice: Choice): string =>
  kind === 'assigned' ? `the session was put in pool ${choice.pool}` : 'its provider reported the allowance spent'

/** The effort and the token limit belong to the old model; the new one has its own, or its provider's. */
function withRoute(base: LlmCallConfig, { provider, model, reasoningEffort }: Target): LlmCallConfig {
  const { reasoningEffort: _effort, maxTokens, ...kept } = base
  const limit = sameRoute(base, { provider, model }) && maxTokens !== undefined ? { maxTokens } : {}
  return { ...kept, ...limit, provider, model, ...reasoningEffort === undefined ? {} : { reasoningEffort } } as LlmCallConfig
}
