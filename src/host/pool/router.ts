import type { Context, Events } from '@deepseek-ai/cordis'
import type { LlmCallConfig } from '@deepseek-ai/dsh-llm'
import type { Session } from '@deepseek-ai/dsh-session'
import { cutText } from '../../events/failure.ts'
import { type Route, sameRoute } from '../../events/route.ts'
import type { RouteNote } from '../../events/route-notes.ts'
import type { World } from '../../policy/pool/choose.ts'
import type { Config, RouteConfig } from '../../policy/config.ts'
import { decideRequest, isAlready, type RequestDecision, type Target } from '../../policy/pool/request.ts'
import { noteText } from '../../projections/notes.ts'
import type { UnfitRoute } from '../../projections/routes.ts'
import { isPending } from '../../reducers/picks.ts'
import type { Balances } from './balances.ts'
import type { SessionBook } from '../book.ts'
import type { Clock } from '../clock.ts'
import { agentOf, showSelection } from '../harness.ts'
import type { Journal } from '../journal-store.ts'
import { untilAborted } from '../patience.ts'
import { recordNote } from '../records.ts'
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

/** Routes found unfit in one step of a session: a cache, the host is asked again for what is not in it. */
interface UnfitInStep {
  readonly turn: number
  readonly step: number
  readonly routes: Route[]
}

/** Sends each request where the policy decides, from the folded log and cached state alone. */
export class Router {
  private readonly parts: RouterParts
  private readonly unfitInStep = new WeakMap<Session, UnfitInStep>()
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
   * Show in the picker, where the host lets us, where the log sends the session's requests from now on.
   *
   * @param session - the session.
   * @param to - the route.
   */
  show(session: Session, to: Target): void {
    showSelection(agentOf(this.parts.ctx, session), this.parts.ctx, to)
  }

  /**
   * Note a model that the person picked, where the harness logs it only with the next request: what they chose must
   * outlive the host.
   *
   * @param session - the session.
   * @param shown - the model that the picker shows.
   * @returns whether it is another than the one the session used.
   */
  picks(session: Session, shown: Target): boolean {
    const { picks, step } = this.parts.book.of(session)
    // Before its first request a session shows the deployment's default, which any pick anywhere rewrites.
    if (step.route === null) return false
    if ([picks.base, picks.to, step.route].some(known => sameRoute(shown, known))) return false
    const { provider, model, reasoningEffort } = shown
    this.tell(session, { kind: 'picked', route: { provider, model }, ...reasoningEffort === undefined ? {} : { reasoningEffort } })
    return true
  }

  /**
   * Whether the session's next request goes where its person picked since the last one.
   *
   * @param session - the session.
   */
  isPicked(session: Session): boolean {
    return isPending(this.parts.book.of(session).picks)
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
    for (const note of decision.notes) this.tell(session, note)
    this.parts.journal.append(...decision.trial)
    if (isMove(decision) && !sameRoute(decision.from, decision.route)) this.show(session, decision.route)
    return isAlready(base, decision.route) ? base : withRoute(base, decision.route)
  }

  private decide({ agent: { session }, turn, step }: RequestPayload, base: LlmCallConfig): RequestDecision {
    return decideRequest({
      base, state: this.parts.book.of(session), world: this.world, unfit: this.unfitFor(session, turn, step),
    }, this.parts.config)
  }

  private tell(session: Session, note: RouteNote): void {
    recordNote(session, note, noteText(note, this.parts.book.of(session)))
  }
}

/** Whether a request goes to another route than the one before it, by our own decision. */
const isMove = ({ why }: RequestDecision): boolean => 'choice' in why

/** The effort and the token limit belong to the old model; the new one has its own, or its provider's. */
function withRoute(base: LlmCallConfig, { provider, model, reasoningEffort }: Target): LlmCallConfig {
  const { reasoningEffort: _effort, maxTokens, ...kept } = base
  const limit = sameRoute(base, { provider, model }) && maxTokens !== undefined ? { maxTokens } : {}
  return { ...kept, ...limit, provider, model, ...reasoningEffort === undefined ? {} : { reasoningEffort } } as LlmCallConfig
}
