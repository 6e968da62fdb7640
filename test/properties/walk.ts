/**
 * Whole session logs by a random walk through a small model of the harness: several sessions on shared providers, one
 * clock, one journal. Each number of a script is one action, so that a failing script shrinks to the few that matter.
 *
 * The model keeps its own books of what a fold must find (`Expected`), in the terms of what happened and not of how
 * records are read. What can happen is one list, {@link ACTIONS}: a new kind of event is one more entry there.
 */
import fc from 'fast-check'
import type { Failure } from '../../src/events/failure.ts'
import type { JournalRecord } from '../../src/events/journal.ts'
import { EARLY_CAUSES, type MoveCause, WAIT_CAUSES, type WaitCause } from '../../src/events/policy-key.ts'
import { MOVED_WHYS } from '../../src/events/route-notes.ts'
import { type Route, sameRoute } from '../../src/events/route.ts'
import { pruneJournal } from '../../src/reducers/journal.ts'
import { notes } from '../support/live.ts'
import { HOUR, log, type Log, MINUTE, NOON, SECOND, SPENT, THROTTLED } from '../support/build.ts'

/** Providers that sessions share; two of them have names that hurt. */
export const PROVIDERS = ['a', 'b', 'c', 'constructor', '__proto__'] as const
const MODELS = ['m', 'n'] as const

/** Refusals of all kinds. */
export const FAILURES: readonly Failure[] = [
  SPENT, THROTTLED,
  { code: 'QUOTA', message: '429: quota exceeded for requests per minute, retry in 20 s', status: 429, providerRetryAfterMs: 20_000 },
  { code: 'RATE_LIMIT', message: '429: 已达到 Token Plan 用量上限' },
  { code: 'AUTH', message: '403: usage limit reached, resets at 2026-09-01T14:00:00Z', status: 403, requestId: 'req_1' },
  { code: 'AUTH', message: '401: invalid api key', status: 401 },
  { code: 'CONTEXT_WINDOW_EXCEEDED', message: '400: prompt is too long', status: 400 },
  { code: 'SERVER', message: '503: overloaded', status: 503 },
  { code: 'UNKNOWN', message: 'x'.repeat(3_000) },
]
const COMMANDS = [
  '/quota-retry off', '/quota-retry on', '/quota-retry default', '/quota-retry status', '/quota-retry now', '/quota-retry banana',
  '/quota-pool medium', '/quota-pool off', '/quota-pool default', '/quota-pool gone', '/compact now',
] as const
const SOURCES = [{ kind: 'user' }, { kind: 'plugin', plugin: 'llm-quota-retry' }] as const
const NOISE = ['user/message', 'agent/inbox/spliced', 'session/title', 'request/context', 'tool/call', 'tool/result', 'moon/phase'] as const
const ENDS = ['completed', 'max-tokens', 'blocked', 'error'] as const
const DELAYS = [0, SECOND, MINUTE, HOUR, 2 ** 31 - 1] as const
const INTERVALS = [HOUR, 30 * MINUTE, 4 * SECOND] as const
const TIMES = [SECOND, MINUTE, HOUR, 26 * HOUR, -SECOND, -HOUR, -25 * HOUR] as const

/** The open entry, as the model knows it. */
export interface ExpectedEntry {
  readonly enteredAt: number
  readonly attempts: number
  /** Whether a wait is armed. */
  readonly armed: boolean
  /** Epoch ms of the attempt that a cut turn waited for, or of the cut. */
  readonly cutOff: number | null
}

/** What a fold of the log so far must find. */
export interface Expected {
  readonly turn: number | null
  readonly step: number | null
  readonly entry: ExpectedEntry | null
  readonly closed: number
  readonly lastReason: 'recovered' | 'disabled' | null
  readonly moves: number
  readonly confirmed: boolean | null
  readonly retry: string | null
  readonly pool: string | null
}

type Phase = 'idle' | 'turn' | 'step' | 'asking' | 'failed' | 'waiting' | 'backing-off' | 'answered'

/** Small choices out of one number. */
export class Draw {
  private left: number

  constructor(number: number) {
    this.left = number
  }

  below(limit: number): number {
    const drawn = this.left % limit
    this.left = Math.floor(this.left / limit)
    return drawn
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === oneIn - 1
  }
}

/** One session of the walk. */
export class Session {
  readonly log: Log
  readonly id: string
  readonly world: World
  /** Rows that the session took over from its parent. */
  ownFrom = 1
  phase: Phase = 'idle'
  /** The route of the next request, and that of the last one as the log has it. */
  route: Route = { provider: 'a', model: 'm' }
  logged: Route | null = null
  failure: Failure = SPENT
  /** Epoch ms of the last request. */
  sentAt = 0
  entry: { enteredAt: number; attempts: number; wait: number | null; cutOff: number | null; turn: number } | null = null
  closed = 0
  lastReason: Expected['lastReason'] = null
  moves = 0
  /** The last move: where it went, and whether a request was sent there in its step. */
  last: { to: Route; turn: number; step: number; confirmed: boolean } | null = null
  retry: string | null = null
  pool: string | null = null
  /** Commands that were never settled: they hold once their host is gone. */
  pending: string[] = []
  /** The books after each action: how many rows there were by then. */
  readonly books: { readonly rows: number; readonly expected: Expected; readonly action: string }[] = []

  constructor(world: World, id: string, given: Log) {
    this.world = world
    this.id = id
    this.log = given
  }

  get rows(): readonly any[] {
    return this.log.rows
  }

  get expected(): Expected {
    const { entry, closed, lastReason, last, moves, retry, pool } = this
    return {
      turn: this.log.inTurn ? this.log.turnNo : null,
      step: this.log.inStep ? this.log.stepNo : null,
      entry: entry === null ? null : { enteredAt: entry.enteredAt, attempts: entry.attempts, armed: entry.wait !== null, cutOff: entry.cutOff },
      closed, lastReason, moves, confirmed: last?.confirmed ?? null, retry, pool,
    }
  }

  /** The request goes out: the header is logged where it is another than before. */
  send(always = false): void {
    const { provider, model } = this.route
    if (always || !sameRoute(this.logged, this.route)) {
      this.log.asks(provider, model, always ? 'high' : undefined)
      this.logged = { provider, model }
      const { last, log: { turnNo, stepNo } } = this
      if (last !== null && last.turn === turnNo && last.step === stepNo && sameRoute(last.to, this.route)) last.confirmed = true
    }
    this.phase = 'asking'
    this.sentAt = this.world.now
  }

  plan(cause: WaitCause, delayMs: number, intervalMs: number, on?: Route): void {
    const { entry, log: { time, turnNo } } = this
    const early = entry !== null && entry.wait !== null && EARLY_CAUSES.has(cause)
    this.log.waits(delayMs, { cause, intervalMs, failure: this.failure, on })
    this.entry = {
      enteredAt: entry?.enteredAt ?? time,
      attempts: (entry?.attempts ?? 0) + (early ? 0 : 1),
      wait: time + delayMs, cutOff: null, turn: turnNo,
    }
    this.phase = 'waiting'
    this.world.note({ type: 'sessionWaiting', session: this.id, at: Math.max(0, time), nextAttemptAt: time + delayMs, provider: this.log.provider, turn: turnNo, closed: this.closed })
  }

  move(to: Route, pool: string, afterWait?: MoveCause): void {
    this.log.moves(pool, to.provider, to.model, this.failure, afterWait).starts()
    this.moves += 1
    this.last = { to, turn: this.log.turnNo, step: this.log.stepNo, confirmed: false }
    this.disarm()
    this.route = to
    this.send()
  }

  disarm(): void {
    if (this.entry !== null && this.entry.wait !== null) {
      this.entry.wait = null
      this.world.note({ type: 'sessionReleased', session: this.id, at: this.log.time })
    }
  }

  /** The turn ended; `cut` where that was the end of the host and not of the run. */
  ended(cut: boolean): void {
    const { entry, log: { time, turnNo } } = this
    if (cut && entry !== null && entry.turn === turnNo) entry.cutOff = entry.wait ?? time
    // Whoever was cut off is still waited for, and its index entry stays.
    if (cut && entry !== null) entry.wait = null
    else this.disarm()
    this.phase = 'idle'
  }

  close(reason: 'recovered' | 'disabled'): void {
    if (this.entry === null) return
    this.disarm()
    this.entry = null
    this.closed += 1
    this.lastReason = reason
    if (this.phase === 'waiting') this.phase = 'failed'
  }

  /** A new host has the session: what was typed and not answered holds. */
  seeded(): void {
    const words = this.pending.splice(0).map(line => this.set(line))
    // The last word counts.
    if (this.retry === 'off' && words.some(word => word !== undefined)) this.close('disabled')
  }

  settle(line: string): void {
    if (this.set(line) === 'off') this.close('disabled')
  }

  /** @returns what the switch was set to, if it was. */
  private set(line: string): string | undefined {
    const [, name, word] = /^\/(\S+) (?:inherit )?(\S+)$/.exec(line)!
    if (name === 'quota-pool') this.pool = word === 'default' ? null : word!
    if (name !== 'quota-retry' || !['on', 'off', 'default'].includes(word!)) return undefined
    this.retry = word === 'default' ? null : word!
    return word
  }
}

/** Several sessions, their clock and their journal. */
export class World {
  now = NOON
  readonly sessions: Session[] = []
  /** The journal as it was written, and as it stands after some prunings. */
  readonly written: JournalRecord[] = []
  kept: unknown[] = []
  /** Names of the actions that were done. */
  readonly did = new Map<string, number>()

  constructor() {
    this.open()
  }

  note(...records: JournalRecord[]): void {
    // The one name that no record may have: nothing of such a provider is kept.
    const able = records.filter(record => !JSON.stringify(record).includes('"__proto__"'))
    this.written.push(...able)
    this.kept.push(...able)
  }

  open(parent?: Session): Session {
    const id = `s${this.sessions.length}`
    const given = log().after(this.now - NOON).head({ id, ...parent === undefined ? {} : { parentSession: parent.id } })
    const session = new Session(this, id, given)
    this.sessions.push(session)
    return session
  }

  /** One action. */
  act(number: number): void {
    const draw = new Draw(number)
    const session = this.sessions[Math.max(0, draw.below(this.sessions.length + 3) - 3)]!
    const able = ACTIONS.filter(({ can }) => can(session, this))
    let place = draw.below(able.reduce((sum, { weight }) => sum + weight, 0))
    const action = able.find(({ weight }) => (place -= weight) < 0)!
    this.now += 1
    session.log.time = this.now
    action.act(session, draw, this)
    this.did.set(action.name, (this.did.get(action.name) ?? 0) + 1)
    session.books.push({ rows: session.rows.length, expected: session.expected, action: action.name })
  }
}

/** One thing that the loop, a person, the plugin or the machine does. */
interface Action {
  readonly name: string
  /** How often, against the others that can be done. */
  readonly weight: number
  readonly can: (session: Session, world: World) => boolean
  readonly act: (session: Session, draw: Draw, world: World) => void
}

const at = (...phases: Phase[]) => ({ phase }: Session): boolean => phases.includes(phase)
const always = (): boolean => true
const inTurn = ({ phase }: Session): boolean => phase !== 'idle'
const anyRoute = (draw: Draw): Route => ({ provider: draw.pick(PROVIDERS), model: draw.pick(MODELS) })
/** Causes that can stand in the first record of a wait; any of them once one is armed. */
const FIRST_CAUSES = WAIT_CAUSES.filter(cause => !EARLY_CAUSES.has(cause))

/** Everything that can happen. */
export const ACTIONS: readonly Action[] = [
  { name: 'turn', weight: 120, can: at('idle'), act: (session) => {
    session.log.turn()
    if (session.entry !== null && session.entry.cutOff !== null) Object.assign(session.entry, { cutOff: null, turn: session.log.turnNo })
    session.phase = 'turn'
  } },
  { name: 'step', weight: 160, can: at('turn', 'answered'), act: (session) => {
    session.log.step()
    session.phase = 'step'
  } },
  { name: 'request', weight: 200, can: at('step'), act: (session, draw) => { session.send(draw.chance(8)) } },
  { name: 'request moved before it is sent', weight: 14, can: at('step'), act: (session, draw, world) => {
    const from = session.route
    session.route = anyRoute(draw)
    notes(session.log, { kind: 'moved', base: draw.chance(2) ? from : anyRoute(draw), from, to: session.route, pool: 'medium', why: draw.pick(MOVED_WHYS) })
    session.moves += 1
    session.last = { to: session.route, turn: session.log.turnNo, step: session.log.stepNo, confirmed: false }
    // Where earlier versions told of it.
    if (draw.chance(2)) world.note({ type: 'requestMoved', session: session.id, at: world.now, pool: 'medium', from, to: session.route, why: 'marked' })
    session.send()
  } },
  { name: 'chunk', weight: 8, can: at('asking'), act: (session) => { session.log.chunk() } },
  { name: 'answer', weight: 24, can: at('asking'), act: (session, _draw, world) => {
    session.log.answers()
    const { provider, model } = session.route
    const lifted = { provider, at: Math.max(0, session.sentAt), heardAt: world.now, by: 'answer' as const }
    world.note({ type: 'routeLifted', ...lifted, model }, { type: 'providerLifted', ...lifted })
    session.close('recovered')
    session.phase = 'answered'
  } },
  { name: 'refusal', weight: 110, can: at('asking'), act: (session, draw, world) => {
    session.failure = draw.chance(2) ? draw.pick(FAILURES) : SPENT
    if (draw.chance(2)) session.log.refusedInAttempt(session.failure)
    else session.log.refused(session.failure)
    const { provider } = session.route
    if (session.failure === SPENT) {
      const mark = { provider, at: world.now, until: world.now + draw.pick([MINUTE, HOUR]), rule: 'spent', message: SPENT.message }
      world.note(draw.chance(2) ? { type: 'routeMarked', ...mark, model: session.route.model } : { type: 'providerMarked', ...mark })
    }
    session.phase = 'failed'
  } },
  { name: 'wait', weight: 90, can: session => session.phase === 'failed' && session.retry !== 'off', act: (session, draw) => {
    session.plan(draw.pick(FIRST_CAUSES), draw.pick(DELAYS), draw.pick(INTERVALS), draw.chance(6) ? anyRoute(draw) : undefined)
  } },
  // What another version or another host wrote may begin with a cause that usually comes second.
  { name: 'wait with any cause', weight: 14, can: at('failed'), act: (session, draw) => { session.plan(draw.pick(WAIT_CAUSES), draw.pick(DELAYS), HOUR) } },
  { name: 'wait restated or brought forward', weight: 90, can: at('waiting'), act: (session, draw) => {
    session.plan(draw.pick(WAIT_CAUSES), draw.pick(DELAYS), draw.pick(INTERVALS))
  } },
  { name: 'attempt after a wait', weight: 70, can: at('waiting'), act: (session) => {
    session.log.starts()
    session.disarm()
    session.send()
  } },
  { name: 'move after a wait', weight: 40, can: at('waiting'), act: (session, draw) => {
    session.log.starts()
    session.disarm()
    session.move(anyRoute(draw), 'medium', draw.pick<MoveCause>(['due', ...WAIT_CAUSES]))
  } },
  { name: 'move', weight: 50, can: at('failed'), act: (session, draw) => { session.move(anyRoute(draw), draw.pick(['medium', 'large'])) } },
  { name: 'quick retry', weight: 30, can: at('failed'), act: (session) => {
    session.log.retries(SECOND, session.failure)
    session.phase = 'backing-off'
  } },
  { name: 'try after a failure that passes', weight: 30, can: at('failed'), act: (session, draw) => {
    session.log.tries(draw.pick(DELAYS), { cause: draw.pick(WAIT_CAUSES), failure: session.failure })
    session.phase = 'backing-off'
  } },
  { name: 'attempt after a quick retry', weight: 120, can: at('backing-off'), act: (session) => {
    session.log.starts()
    session.send()
  } },
  { name: 'wait given up without a record', weight: 5, can: at('waiting'), act: (session) => {
    session.log.refused(session.failure)
    session.disarm()
    session.phase = 'failed'
  } },
  { name: 'pick', weight: 5, can: always, act: (session, draw) => { session.route = anyRoute(draw) } },
  // Where the log says so by itself: newer hosts do, and our own notes.
  { name: 'pick that is told of', weight: 5, can: always, act: (session, draw) => {
    session.route = anyRoute(draw)
    if (draw.chance(2)) session.log.event('model/selection', session.route)
    else notes(session.log, { kind: 'picked', route: session.route })
  } },
  { name: 'pick that goes on', weight: 4, can: at('step'), act: (session, draw) => { notes(session.log, { kind: 'stands', route: anyRoute(draw) }) } },
  { name: 'command', weight: 20, can: always, act: (session, draw) => {
    const line = draw.pick(COMMANDS)
    session.log.runs(line, draw.pick(SOURCES))
    const end = draw.pick(['success', 'success', 'success', 'error', 'never'])
    if (end !== 'never') session.log.settles(end)
    if (end === 'success') session.settle(line)
    if (end === 'never') session.pending.push(line)
  } },
  { name: 'noise', weight: 4, can: always, act: (session, draw) => {
    session.log.event(draw.pick(NOISE), { turn: session.log.turnNo, step: session.log.stepNo, id: 'x', text: 'y' })
  } },
  { name: 'end of a step', weight: 10, can: at('step', 'answered'), act: (session) => {
    session.log.endStep()
    session.phase = 'turn'
  } },
  { name: 'end of a turn', weight: 16, can: at('turn', 'answered', 'failed'), act: (session, draw) => {
    session.log.endTurn(draw.pick(ENDS))
    session.ended(false)
  } },
  // A wait that is given up with the turn: the plugin was unloaded in it.
  { name: 'unload', weight: 6, can: at('waiting'), act: (session) => {
    session.log.endTurn('error', { error: session.failure })
    session.ended(true)
  } },
  { name: 'cancel', weight: 8, can: inTurn, act: (session, draw) => {
    if (session.phase === 'asking' && draw.chance(2)) session.log.interrupted()
    session.log.cancels()
    session.ended(false)
  } },
  { name: 'kill', weight: 6, can: always, act: (session, draw) => {
    if (session.log.inStep && draw.chance(2)) session.log.endStep()
    if (session.log.inTurn) {
      session.log.crashes()
      session.ended(true)
    } else session.log.event('session/end-seed', {})
    session.seeded()
    session.log.after(SECOND)
  } },
  { name: 'stop of the host', weight: 4, can: inTurn, act: (session, draw) => {
    session.log.endTurn('aborted', { reason: { kind: 'disposed' } })
    session.ended(true)
    if (!draw.chance(2)) return
    session.log.event('session/end-seed', {})
    session.seeded()
  } },
  // The end of the log was never written, and the harness could not mend it.
  { name: 'kill that nothing tells of', weight: 2, can: always, act: (session) => {
    Object.assign(session.log, { inStep: false, inTurn: false })
    session.log.event('session/end-seed', {})
    session.disarm()
    session.seeded()
    session.phase = 'idle'
  } },
  { name: 'subagent', weight: 2, can: ({ world }) => world.sessions.length < 4, act: (parent, _draw, world) => {
    const child = world.open(parent)
    child.route = parent.route
    if (parent.retry !== null) {
      child.log.records(`/quota-retry inherit ${parent.retry}`)
      child.settle(`/quota-retry inherit ${parent.retry}`)
    }
  } },
  { name: 'fork', weight: 3, can: ({ world }) => world.sessions.length < 4, act: (parent, draw, world) => {
    const id = `s${world.sessions.length}`
    const given = parent.log.copy({ id, parentSession: parent.id, seedLength: parent.log.length })
    const child = new Session(world, id, given)
    Object.assign(child, { route: parent.route, logged: parent.logged, retry: parent.retry, pool: parent.pool, pending: [...parent.pending] })
    // Newer releases say in the event that a parent's history ends there; older ones by where it stands.
    given.forks(draw.chance(2))
    child.seeded()
    child.ownFrom = given.rows.length
    world.sessions.push(child)
    child.books.push({ rows: given.rows.length, expected: child.expected, action: 'fork' })
  } },
  { name: 'time', weight: 6, can: always, act: (session, draw, world) => {
    world.now = Math.max(0, world.now + draw.pick(TIMES))
    session.log.time = world.now
  } },
  { name: 'reading lifts a mark', weight: 2, can: (_session, world) => world.written.length > 0, act: (_session, draw, world) => {
    const lifted = { provider: draw.pick(PROVIDERS), at: world.now, by: draw.pick(['reading' as const, 'person' as const]) }
    world.note(draw.chance(4) ? { type: 'routeLifted', ...lifted, model: draw.pick(MODELS) } : { type: 'providerLifted', ...lifted })
  } },
  { name: 'pruning of the journal', weight: 3, can: (_session, world) => world.kept.length > 0, act: (_session, _draw, world) => {
    world.kept = pruneJournal(world.kept)
  } },
]

/** A script: each number is an action. */
export const script = fc.array(fc.noBias(fc.maxSafeNat()), { maxLength: 200, size: 'max' })

/** What a script makes. */
export function walkOf(numbers: readonly number[]): World {
  const world = new World()
  for (const number of numbers) world.act(number)
  return world
}

/** Several sessions on shared providers, with their journal. */
export const walk: fc.Arbitrary<World> = script.map(walkOf)

/** The session of a walk that has most to tell. */
export const longest = ({ sessions }: World): Session => sessions.reduce((best, next) => next.rows.length > best.rows.length ? next : best)
