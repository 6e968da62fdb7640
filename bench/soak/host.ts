import { interruptedTurnClosers } from '@deepseek-ai/dsh-session'
import type { Context } from '@deepseek-ai/cordis'
import type { Clock } from '../../src/host/clock.ts'
import { apply } from '../../src/host/plugin.ts'
import type { QuotaRetryService } from '../../src/host/types.ts'
import type { ConfigInput } from '../../src/policy/config.ts'
import { foldInbox } from '../../src/reducers/inbox.ts'
import type { SoakClock } from './clock.ts'
import type { Disk } from './disk.ts'
import type { SoakLog } from './log.ts'

type Listener = (...args: any[]) => any
type Queue = 'next-turn' | 'next-step'
type Message = { readonly id: string; readonly source: object; readonly content: readonly object[] }

/** What answers a request, after a while. */
export interface SoakProvider {
  /** @returns the refusal, or nothing for an answer. */
  ask(provider: string): Promise<object | undefined>
}

/** A session that is open. */
export interface SoakSession {
  readonly id: string
  readonly header: { readonly id: string; readonly createdAt: number }
  readonly events: readonly any[]
  append(type: string, data: unknown): void
}

/** One life of a host: as much of the harness as the plugin touches, and the whole plugin. */
export class SoakHost {
  /** Lines that the plugin printed. */
  readonly lines: string[] = []
  readonly agents = new Map<string, SoakAgent>()
  readonly disk: Disk
  readonly clock: SoakClock
  readonly provider: SoakProvider
  /** Aborts with the life. */
  readonly life = new AbortController()
  readonly service: () => QuotaRetryService
  private readonly listeners = new Map<string, Listener[]>()
  private readonly disposers: Listener[] = []

  /**
   * @param parts - what it is made of.
   */
  constructor(parts: { readonly disk: Disk; readonly clock: SoakClock; readonly provider: SoakProvider; readonly config: ConfigInput; readonly random: () => number }) {
    const { disk, clock, provider, config, random } = parts
    this.disk = disk
    this.clock = clock
    this.provider = provider
    const provided = new Map<string, unknown>()
    this.service = () => provided.get('llmQuotaRetry') as QuotaRetryService
    const services: Record<string, unknown> = {
      sessions: { get: (id: string) => this.agents.get(id)?.session, list: () => [...this.agents.values()].map(({ session }) => session), flush: (session: SoakSession) => this.flush(session.id) },
      agents: { get: (id: string) => this.agents.get(id), resume: ({ resumeSessionId }: { resumeSessionId: string }) => Promise.resolve({ agent: this.open(resumeSessionId) }) },
      sessionPersistence: {
        list: () => Promise.resolve([...disk.logs.keys()].map(id => ({ id }))),
        readFrom: (id: string) => Promise.resolve({ meta: { ...headerOf(id), origin: undefined }, events: disk.log(id).read() }),
      },
      storageDomain: disk.storage,
    }
    const quiet = (): void => {}
    const ctx = {
      on: (name: string, listener: Listener, options?: { prepend?: boolean }) => this.on(name, listener, options?.prepend === true),
      inject: (names: readonly string[], run: (inner: unknown) => void) => { if (names.every(name => services[name] !== undefined)) run(ctx) },
      provide: (name: string, value: unknown) => { provided.set(name, value) },
      emit: quiet,
      effect: (run: () => Listener) => { this.disposers.push(run()) },
      get: (name: string) => services[name],
      logger: { warn: (_format: string, line: string) => { this.lines.push(line) }, info: (_format: string, line: string) => { this.lines.push(line) }, exporters: new Map([['one', 1], ['two', 2]]) },
      llm: { resolveCallConfig: async () => ({}) },
    } as unknown as Context
    // Nothing of a process goes on once that was killed.
    const timers: Clock = { now: () => clock.now(), ticks: () => clock.ticks(), after: (run, delayMs) => clock.after(() => { if (!this.life.signal.aborted) run() }, delayMs) }
    apply(ctx, config, { clock: timers, random })
  }

  /**
   * Open a session, as a click or the plugin does: its log is mended first.
   *
   * @param id - its id.
   */
  open(id: string): SoakAgent {
    const known = this.agents.get(id)
    if (known !== undefined) return known
    const log = this.disk.log(id)
    const stored = log.read()
    const agent = new SoakAgent(this, id, log, stored)
    this.agents.set(id, agent)
    if (stored.length > 0) {
      for (const { type, data } of interruptedTurnClosers(stored)) agent.session.append(type, data)
      agent.session.append('session/end-seed', {})
    }
    this.publish('agent/created', { agent })
    return agent
  }

  /** Everything that the log of a session holds is written, a moment later. */
  async flush(id: string): Promise<void> {
    await this.clock.sleep(3)
    if (!this.life.signal.aborted) this.disk.log(id).flush()
  }

  /** End without a word. */
  kill(): void {
    this.life.abort()
    this.listeners.clear()
  }

  /** End as a supervisor has it: queues are emptied, turns aborted, plugins unloaded, everything written. */
  async stop(): Promise<void> {
    for (const agent of this.agents.values()) agent.dispose()
    await Promise.all(this.disposers.toReversed().map(dispose => dispose()))
    for (const id of this.agents.keys()) this.disk.log(id).flush()
    this.kill()
  }

  publish(name: string, ...args: unknown[]): void {
    for (const listener of this.listeners.get(name) ?? []) listener(...args)
  }

  async waterfall(name: string, payload: unknown, last: () => unknown): Promise<any> {
    const listeners = [...this.listeners.get(name) ?? []]
    const next = async (index: number): Promise<unknown> => index < listeners.length ? listeners[index]!(payload, () => next(index + 1)) : last()
    return next(0)
  }

  private on(name: string, listener: Listener, prepend: boolean): () => void {
    const listeners = this.listeners.get(name) ?? []
    this.listeners.set(name, listeners)
    if (prepend) listeners.unshift(listener)
    else listeners.push(listener)
    return () => { listeners.splice(listeners.indexOf(listener), 1) }
  }
}

const headerOf = (id: string): { id: string; createdAt: number } => ({ id, createdAt: 0 })

/** Drives one open session, as the harness's loop does. */
export class SoakAgent {
  readonly session: SoakSession
  readonly id: string
  status: 'idle' | 'running' = 'idle'
  readonly inbox = {
    append: (queue: Queue, message: Message): void => { this.splice(queue, this.queues[queue].length, 0, [message]) },
    remove: (id: string): boolean => this.remove(id),
  }
  private readonly host: SoakHost
  private readonly queues: Record<Queue, Message[]>
  private turn = 0
  private step = 0
  private route: string | undefined
  private stopper = new AbortController()
  private reason: object = { kind: 'completed' }

  constructor(host: SoakHost, id: string, log: SoakLog, stored: readonly any[]) {
    this.host = host
    this.id = id
    const { pending } = foldInbox(stored)
    this.queues = { 'next-turn': [...pending['next-turn'] as Message[]], 'next-step': [...pending['next-step'] as Message[]] }
    this.turn = stored.findLast(({ type }) => type === 'turn/start')?.data.turn ?? 0
    this.session = {
      id, header: headerOf(id),
      get events() { return log.read() },
      append: (type, data) => {
        if (host.life.signal.aborted) return
        const event = { type, seq: log.count, time: host.clock.now(), data }
        log.append(event)
        host.publish('session/event', this.session, event)
      },
    }
  }

  get pending(): number {
    return this.queues['next-turn'].length + this.queues['next-step'].length
  }

  /** A person's message. */
  followup(message: Message): void {
    this.inbox.append('next-turn', message)
    this.wake()
  }

  steer(message: Message): void {
    this.inbox.append('next-step', message)
    this.wake()
  }

  /** The person stops the run. */
  cancel(): void {
    this.clear()
    this.reason = { kind: 'aborted', reason: { kind: 'user' } }
    this.stopper.abort()
  }

  /** The host ends. */
  dispose(): void {
    this.clear()
    this.reason = { kind: 'aborted', reason: { kind: 'disposed' } }
    this.stopper.abort()
  }

  private wake(): void {
    if (this.status === 'running') return
    this.status = 'running'
    void this.drive()
  }

  private async drive(): Promise<void> {
    do {
      this.stopper = new AbortController()
      this.reason = { kind: 'completed' }
      await this.takeTurn()
    } while (!this.host.life.signal.aborted && !this.stopper.signal.aborted && this.pending > 0)
    this.status = 'idle'
    if (!this.host.life.signal.aborted && this.pending > 0) this.wake()
  }

  private async takeTurn(): Promise<void> {
    const { host, session } = this
    const { signal } = host.life
    this.turn += 1
    this.step = 0
    session.append('turn/start', { turn: this.turn })
    for (let target: Queue = 'next-turn'; ; target = 'next-step') {
      const messages = this.claim(target)
      await host.flush(this.id)
      if (signal.aborted || messages.length === 0 || this.stopper.signal.aborted) break
      this.step += 1
      session.append('step/start', this.where)
      for (const message of messages) session.append('user/message', message)
      const went = await this.ask()
      if (signal.aborted) return
      session.append('step/end', this.where)
      if (!went || this.queues['next-step'].length === 0) break
    }
    if (!signal.aborted) session.append('turn/end', { turn: this.turn, reason: this.reason })
  }

  /** @returns whether it was answered. */
  private async ask(): Promise<boolean> {
    const { host, session } = this
    const seed = this.route ?? `p${this.id.length % 2 === 0 ? 0 : 1}`
    for (;;) {
      const signal = this.stopper.signal
      const payload = { agent: this, turn: this.turn, step: this.step, signal }
      const config = await host.waterfall('agent/request', payload, () => ({ provider: seed, model: 'm' }))
      if (this.over) return false
      session.append('request/header', { header: { config }, reason: 'change' })
      await host.flush(this.id)
      const failure = await host.provider.ask(config.provider)
      if (this.over) return false
      this.route = config.provider
      if (failure === undefined) {
        session.append('assistant/message', { ...this.where, message: { id: `${this.id}.${this.turn}.${this.step}`, role: 'assistant', content: [], source: { kind: 'model', provider: config.provider, model: 'm' } } })
        return true
      }
      session.append('assistant/chunk', { ...this.where, chunk: { type: 'finish', reason: { kind: 'error', failure } } })
      const action = await host.waterfall('agent/request-error', { ...payload, provider: config.provider, failure }, () => undefined)
      if (this.over) return false
      if (action?.kind !== 'retry') {
        this.reason = { kind: 'error', error: failure }
        return false
      }
    }
  }

  private get over(): boolean {
    return this.host.life.signal.aborted || this.stopper.signal.aborted
  }

  private get where(): { turn: number; step: number } {
    return { turn: this.turn, step: this.step }
  }

  private clear(): void {
    for (const queue of ['next-step', 'next-turn'] as const) this.splice(queue, 0, this.queues[queue].length, [], true)
  }

  private remove(id: string): boolean {
    for (const queue of ['next-turn', 'next-step'] as const) {
      const at = this.queues[queue].findIndex(message => message.id === id)
      if (at < 0) continue
      this.splice(queue, at, 1, [], true)
      return true
    }
    return false
  }

  private claim(target: Queue): Message[] {
    const claimed = this.splice('next-step', 0, this.queues['next-step'].length, [], false)
    return target === 'next-step' ? claimed : [...claimed, ...this.splice('next-turn', 0, Math.min(1, this.queues['next-turn'].length), [], false)]
  }

  private splice(target: Queue, start: number, removedCount: number, inserted: Message[], dropped = false): Message[] {
    if (removedCount === 0 && inserted.length === 0) return []
    this.session.append('agent/inbox/spliced', { target, start, ...removedCount === 0 ? {} : { removedCount }, inserted, ...dropped && removedCount > 0 ? { outcome: 'canceled' } : {} })
    const removed = this.queues[target].splice(start, removedCount, ...inserted)
    if (dropped) for (const message of removed) this.host.publish('agent/inbox/discarded', { agent: this, message })
    for (const message of inserted) this.host.publish('agent/inbox/inserted', { agent: this, message })
    return removed
  }
}
