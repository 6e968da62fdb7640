/**
 * Raw session logs in the shapes that the harness writes, for tests that need no harness.
 *
 * A {@link Log} keeps what a real loop keeps (the open turn and step, the route, the numbers of each retry chain), so
 * that a test says only what happens: `log().turn().asks('a', 'm').refused().waits(HOUR)`.
 */
import { backoffKey, type MoveCause, moveKey, type WaitCause, waitKey } from '../../src/events/policy-key.ts'
import type { Route } from '../../src/events/route.ts'

export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
/** Where every log begins unless told otherwise. */
export const NOON = Date.UTC(2026, 8, 1, 12)

/** A refusal for a spent allowance, as the harness's own adapter words it. */
export const SPENT = { code: 'QUOTA', message: '402: Insufficient Balance', status: 402 } as const
/** An ordinary throttle. */
export const THROTTLED = { code: 'RATE_LIMIT', message: '429: slow down', status: 429 } as const

/** One row of a log. */
export interface Row {
  readonly type: string
  readonly seq: number
  readonly time: number
  readonly data: any
}

/** A stream chunk that ends a request in a failure. */
export const errorChunk = (failure: unknown) => ({ type: 'finish', reason: { kind: 'error', failure } })
/** A stream chunk like nineteen of twenty events. */
export const textChunk = (text = 'word') => ({ type: 'text-delta', index: 0, text })

interface Planned {
  readonly retryId: string
  readonly retry: number
  readonly turn: number
  readonly step: number
}

/** A session log in the making. */
export class Log {
  /** The rows so far; a head line, if any, comes first. */
  readonly rows: any[] = []
  /** Epoch ms of the next event. */
  time = NOON
  turnNo = 0
  stepNo = 0
  inTurn = false
  inStep = false
  provider = 'a'
  model = 'm'
  private seq = 0
  private commands = 0
  private readonly chains = new Map<string, Planned>()
  private planned: Planned | undefined

  /** Let time pass. */
  after(ms: number): this {
    this.time += ms
    return this
  }

  /** Any event at all. */
  event(type: string, data: unknown): this {
    this.rows.push({ type, seq: this.seq, time: this.time, data })
    this.seq += 1
    return this
  }

  /** The head line of a stored log. */
  head(head: object = {}): this {
    this.rows.push({ type: 'session', version: 0, id: 's1', createdAt: this.time, ...head })
    return this
  }

  turn(): this {
    if (this.inTurn) this.endTurn('completed')
    this.turnNo += 1
    this.stepNo = 0
    this.inTurn = true
    return this.event('turn/start', { turn: this.turnNo })
  }

  step(): this {
    if (!this.inTurn) this.turn()
    if (this.inStep) this.endStep()
    this.stepNo += 1
    this.inStep = true
    this.chains.clear()
    return this.event('step/start', this.where)
  }

  /** A request goes out on a route; the harness logs the header when it is another than before. */
  asks(provider = this.provider, model = this.model, reasoningEffort?: string): this {
    if (!this.inStep) this.step()
    this.provider = provider
    this.model = model
    const config = { provider, model, ...reasoningEffort === undefined ? {} : { reasoningEffort } }
    return this.event('request/header', { header: { config, system: 'be brief' }, reason: 'change' })
  }

  chunk(text?: string): this {
    return this.event('assistant/chunk', { ...this.where, chunk: textChunk(text) })
  }

  /** The request fails, as releases up to 0.1.2 log it. */
  refused(failure: unknown = SPENT): this {
    return this.event('assistant/chunk', { ...this.where, chunk: errorChunk(failure) })
  }

  /** The request fails, as later releases log it. */
  refusedInAttempt(failure: unknown = SPENT): this {
    const stream = [textChunk(), errorChunk(failure)].map(chunk => ({ type: 'chunk', time: this.time, chunk }))
    return this.event('assistant/attempt', { ...this.where, stream })
  }

  answers(): this {
    return this.event('assistant/message', {
      ...this.where,
      message: {
        id: `m${this.seq}`,
        role: 'assistant',
        content: [{ type: 'text', text: 'done' }],
        source: { kind: 'model', provider: this.provider, model: this.model },
      },
    })
  }

  /** What a cancelled stream leaves behind. */
  interrupted(): this {
    const message = { id: `m${this.seq}`, role: 'assistant', content: [], source: { kind: 'model', provider: this.provider, model: this.model } }
    return this.event('assistant/message', { ...this.where, message, interrupted: true })
  }

  /** A wait of ours begins. */
  waits(delayMs = HOUR, { cause = 'interval' as WaitCause, intervalMs = HOUR, failure = SPENT as unknown, on = undefined as Route | undefined } = {}): this {
    return this.plan(waitKey({ intervalMs, cause, ...on === undefined ? {} : { on } }), delayMs, failure)
  }

  /** A move of ours begins. */
  moves(pool: string, provider: string, model: string, failure: unknown = SPENT, afterWait?: MoveCause): this {
    return this.plan(moveKey(pool, provider, model, afterWait), 0, failure)
  }

  /** One more try of ours after a failure that passes begins. */
  tries(delayMs = SECOND, { cause = 'backoff' as WaitCause, failure = THROTTLED as unknown } = {}): this {
    return this.plan(backoffKey(cause), delayMs, failure)
  }

  /** A quick retry of the harness begins. */
  retries(delayMs = SECOND, failure: unknown = THROTTLED): this {
    return this.plan('normal:5', delayMs, failure, { mode: 'normal', maxRetries: 5 })
  }

  /** The attempt that was planned last begins. */
  starts(): this {
    const { planned } = this
    this.planned = undefined
    return planned === undefined ? this : this.event('llm/retry-started', planned)
  }

  endStep(): this {
    this.inStep = false
    this.planned = undefined
    return this.event('step/end', this.where)
  }

  endTurn(kind: string, more: object = {}): this {
    if (this.inStep) this.endStep()
    this.inTurn = false
    return this.event('turn/end', { turn: this.turnNo, reason: { kind, ...more } })
  }

  cancels(): this {
    return this.endTurn('aborted', { reason: { kind: 'user' } })
  }

  /** The process dies; the harness mends the log when it loads it again. */
  crashes(): this {
    this.inStep = false
    this.planned = undefined
    if (this.inTurn) {
      this.inTurn = false
      this.event('turn/end', { turn: this.turnNo, reason: { kind: 'interrupted' } })
    }
    return this.event('session/end-seed', {})
  }

  /** Everything so far came from a parent; newer releases say so in the event. */
  forks(inherited = true): this {
    this.inStep = false
    this.inTurn = false
    this.planned = undefined
    return this.event('session/end-seed', inherited ? { inherited: true } : {})
  }

  /** A command runs and is not settled yet. */
  runs(line: string, source: object = { kind: 'user' }): this {
    const [, name, args] = /^\/(\S+)(.*)$/.exec(line)!
    this.commands += 1
    return this.event('command/run', { commandId: `c${this.commands}`, name, args, source })
  }

  /** The command that ran last settles. */
  settles(kind = 'success'): this {
    return this.event('command/done', { commandId: `c${this.commands}`, kind, text: '' })
  }

  /** A command runs and succeeds. */
  command(line: string, source?: object): this {
    return this.runs(line, source).settles()
  }

  /** A setting that our plugin recorded: `/quota-retry by-plugin off`. */
  records(line: string): this {
    return this.command(line)
  }

  /** Another log that begins with the same rows, the head line apart. */
  copy(head: object): Log {
    const copied = Object.assign(new Log(), this)
    const rows = this.rows.filter(({ type }) => type !== 'session')
    Object.assign(copied, { rows: [], chains: new Map() })
    copied.head(head)
    copied.rows.push(...rows)
    return copied
  }

  /** How many events the log holds. */
  get length(): number {
    return this.seq
  }

  private get where(): { turn: number; step: number } {
    return { turn: this.turnNo, step: this.stepNo }
  }

  private plan(policyKey: string, delayMs: number, failure: unknown, more: object = { mode: 'always' }): this {
    const key = JSON.stringify([this.provider, policyKey])
    const before = this.chains.get(key)
    const planned = { retryId: before?.retryId ?? `r${this.seq}`, retry: (before?.retry ?? 0) + 1, ...this.where }
    this.chains.set(key, planned)
    this.planned = planned
    return this.event('llm/retry', { ...planned, provider: this.provider, policyKey, delayMs, failure, ...more })
  }
}

/** An empty log. */
export const log = (): Log => new Log()

/** A log whose step is open and whose request was refused. */
export const refusedLog = (): Log => log().head().turn().step().asks().refused()

/** A log whose session holds a wait. */
export const waitingLog = (delayMs = HOUR): Log => refusedLog().waits(delayMs)

/** Freeze a value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const key of Reflect.ownKeys(value)) deepFreeze((value as Record<PropertyKey, unknown>)[key])
  }
  return value
}
