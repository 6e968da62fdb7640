import type { Context } from '@deepseek-ai/cordis'
import { apply } from '../../src/host/plugin.ts'
import type { ConfigInput } from '../../src/policy/config.ts'
import type { SimClock } from './clock.ts'
import type { SimProvider } from './provider.ts'

/** The route of every session here. */
export const ROUTE = { provider: 'a', model: 'm' } as const

type Listener = (...args: any[]) => any

/** A session log in memory that publishes what is appended, as the harness does. */
export interface SimSession {
  readonly id: string
  readonly header: { readonly id: string; readonly createdAt: number }
  readonly events: { readonly type: string; readonly seq: number; readonly time: number; readonly data: any }[]
  append(type: string, data: unknown): void
}

/** What one session does: when its last good answer ends, and how long it had been going on. */
export interface SessionPlan {
  /** Epoch ms of the last request before the allowance is spent. */
  readonly sentAt: number
  /** Epoch ms at which its answer ends and the request follows that is refused. */
  readonly outAt: number
}

/** What a simulated host is made of. */
export interface HostParts {
  readonly clock: SimClock
  readonly provider: SimProvider
  readonly config: ConfigInput
  readonly random: () => number
  /** Prints one balance reading and says how long that takes, in ms; where there is an endpoint. */
  readonly balance?: () => { readonly text: string; readonly tookMs: number }
  /** `false` leaves the plugin out. */
  readonly plugin?: boolean
  /** What nobody else answers is never answered: the refused session stands still, as in a wait. */
  readonly parked?: boolean
}

/**
 * As much of the harness as the plugin touches, on simulated time: the whole plugin runs in it unchanged. A request is
 * one call of the `agent/request` waterfall, a refusal one of `agent/request-error`, and the log says what the
 * harness's own loop would write.
 */
export class SimHost {
  /** Epoch ms at which the first word of each session's next answer came after its first refusal. */
  readonly backAt = new Map<number, number>()
  /** Balance readings taken. */
  reads = 0
  /** Every session by its number. */
  readonly sessions = new Map<number, SimSession>()
  private readonly parts: HostParts
  private readonly listeners = new Map<string, Listener[]>()
  private readonly disposers: Listener[] = []
  /** The context that the plugin is given. */
  readonly ctx: Context

  /**
   * @param parts - what the host is made of.
   */
  constructor(parts: HostParts) {
    this.parts = parts
    const quiet = (): void => {}
    const services: Record<string, unknown> = parts.balance === undefined ? {} : { subprocess: { spawn: () => this.spawn() } }
    this.ctx = {
      on: (name: string, listener: Listener, options?: { prepend?: boolean }) => this.on(name, listener, options?.prepend === true),
      // Commands, projections and storage are not part of a wait.
      inject: quiet, provide: quiet, emit: quiet,
      effect: (run: () => Listener) => { this.disposers.push(run()) },
      get: (name: string) => services[name],
      logger: { warn: (_format: string, line: string) => { throw new Error(line) }, info: quiet, exporters: new Map([['one', 1], ['two', 2]]) },
      llm: { resolveCallConfig: async () => ({}) },
    } as unknown as Context
    if (parts.plugin !== false) apply(this.ctx, parts.config, { clock: parts.clock, random: parts.random })
  }

  /**
   * A session: one good request, then one that is refused, and on until it is answered.
   *
   * @param index - its number.
   * @param plan - when.
   * @param stop - aborts its turn.
   */
  async session(index: number, plan: SessionPlan, stop = new AbortController()): Promise<void> {
    const { clock } = this.parts
    await clock.sleep(plan.sentAt - clock.now())
    const session = this.open(index)
    session.append('turn/start', { turn: 1 })
    session.append('request/header', { header: { config: ROUTE }, reason: 'initial' })
    await this.step(session, index, 1, plan.outAt, stop.signal)
    const outcome = await this.step(session, index, 2, 0, stop.signal)
    session.append('turn/end', { turn: 1, reason: { kind: outcome } })
  }

  /** Unload the plugin. */
  async dispose(): Promise<void> {
    for (const dispose of this.disposers) await dispose()
  }

  /** One step: requests until one is answered. The answer ends at `endsAt`, or a moment after its first word. */
  private async step(session: SimSession, index: number, step: number, endsAt: number, signal: AbortSignal): Promise<'completed' | 'error'> {
    const { clock, provider } = this.parts
    const at = { turn: 1, step }
    const agent = { session }
    session.append('step/start', at)
    for (;;) {
      await this.waterfall('agent/request', { agent, ...at, signal }, () => ({ ...ROUTE }))
      const { latencyMs, refusal } = provider.ask(index, clock)
      await clock.sleep(latencyMs)
      if (refusal === undefined) {
        session.append('assistant/chunk', { ...at, chunk: { type: 'text-delta', index: 0, text: 'a'.repeat(1_000) } })
        if (step > 1) this.backAt.set(index, clock.now())
        await clock.sleep(Math.max(1_000, endsAt - clock.now()))
        session.append('assistant/message', { ...at, message: { id: `${index}.${step}`, role: 'assistant', content: [], source: { kind: 'model', ...ROUTE } } })
        session.append('step/end', at)
        return 'completed'
      }
      session.append('assistant/chunk', { ...at, chunk: { type: 'finish', reason: { kind: 'error', failure: refusal } } })
      const action = await this.waterfall('agent/request-error', { agent, ...at, provider: ROUTE.provider, failure: refusal, signal }, () => this.parts.parked === true ? new Promise(() => {}) : { kind: 'fail' })
      if (action.kind !== 'retry') return 'error'
    }
  }

  private open(index: number): SimSession {
    const { clock } = this.parts
    const events: SimSession['events'] = []
    const session: SimSession = {
      id: `s${index}`, header: { id: `s${index}`, createdAt: clock.now() }, events,
      append: (type, data) => {
        const event = { type, seq: events.length, time: clock.now(), data }
        events.push(event)
        for (const listener of this.listeners.get('session/event') ?? []) listener(session, event)
      },
    }
    this.sessions.set(index, session)
    return session
  }

  private spawn(): unknown {
    const { balance, clock } = this.parts
    const { text, tookMs } = balance!()
    this.reads += 1
    return { done: clock.sleep(tookMs).then(() => ({ exitCode: 0 })), collected: { stdout: { readFrom: () => ({ text, lossy: false }) } } }
  }

  private on(name: string, listener: Listener, prepend: boolean): () => void {
    const listeners = this.listeners.get(name) ?? []
    this.listeners.set(name, listeners)
    if (prepend) listeners.unshift(listener)
    else listeners.push(listener)
    return () => { listeners.splice(listeners.indexOf(listener), 1) }
  }

  private async waterfall(name: string, payload: unknown, last: () => unknown): Promise<any> {
    const listeners = [...this.listeners.get(name) ?? []]
    const next = async (index: number): Promise<unknown> => index < listeners.length ? listeners[index]!(payload, () => next(index + 1)) : last()
    return next(0)
  }
}
