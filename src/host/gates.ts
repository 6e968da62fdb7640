import type { WaitCause } from '../events/policy-key.ts'
import { type Route, sameRoute } from '../events/route.ts'
import { planAttempt, type PlannedWait, type RefusalTiming, rememberPlan } from '../policy/wait.ts'
import { type Gate, newGate, type Waiter, type WaitRequest, type Wake } from './gate.ts'
import { type RampParts, Ramps } from './ramp.ts'

/** Time from a probe that ended without an answer of either kind to the next one, in ms; each further one in a row waits longer. */
const RELAY_GAP_MS = 10_000
/** By how much longer. An outage must not end the sessions that wait one after another. */
const RELAY_GROWTH = 6
/** Those who wait are told of an attempt that comes earlier than they know by more than this, in ms. */
const WORTH_TELLING_MS = 60_000

/** What the gates work with. */
export interface GateParts extends RampParts {
  readonly intervalMs: number
  /** `single`: of all that wait on a route one asks per interval. `each`: every session asks for itself. */
  readonly probe: 'single' | 'each'
}

/**
 * Who may ask which route again, and when.
 *
 * Sessions that wait for the same route wait at one gate. When its time comes one of them asks for all; if it is
 * refused the gate stays shut and the others are told the new time, without a request of their own; if it is answered
 * the others follow one after another. With `probe: 'each'` every session has a gate of its own.
 */
export class Gates<K extends object> {
  private readonly parts: GateParts
  private readonly gates = new Map<string, Gate<K>>()
  private readonly waiters = new Map<K, Waiter<K>>()
  /** The gate at which a session asks for all. */
  private readonly probing = new Map<K, Gate<K>>()
  private readonly ramps: Ramps
  /** Epoch ms at which each session sent its last request. */
  private readonly sent = new WeakMap<K, number>()
  private readonly owners = new WeakMap<K, number>()
  private owned = 0
  private closed = false

  /**
   * @param parts - what the gates work with.
   */
  constructor(parts: GateParts) {
    this.parts = parts
    this.ramps = new Ramps(parts)
  }

  /** Sessions that wait. */
  get size(): number {
    return this.waiters.size
  }

  /** Who waits. */
  get keys(): K[] {
    return [...this.waiters.keys()]
  }

  /** Providers that some session waits for. */
  get providers(): Set<string> {
    return new Set([...this.gates.values()].filter(gate => gate.waiters.size > 0).map(gate => gate.route.provider))
  }

  /**
   * A session sends a request. What comes of it tells of the time at which it was sent: an answer may stream for
   * minutes after the allowance is spent, and a refusal may arrive when it is back.
   *
   * @param key - the session.
   */
  asks(key: K): void {
    this.sent.set(key, this.parts.clock.now())
  }

  /**
   * When a session sent its last request.
   *
   * @param key - the session.
   * @returns epoch ms; `undefined` when that was before this plugin was loaded.
   */
  sentAt(key: K): number | undefined {
    return this.sent.get(key)
  }

  /**
   * A route refused a request: every session that waits for it learns of it.
   *
   * @param key - whose request it was.
   * @param route - the route.
   * @param timing - what the refusal said about its end.
   * @returns when the route is asked again, and why then.
   */
  refused(key: K, route: Route, timing: RefusalTiming): PlannedWait {
    const now = this.parts.clock.now()
    this.leaveOther(key, route)
    const gate = this.gateFor(key, route)
    const sentAt = this.sent.get(key) ?? now
    const wasOpen = this.ramps.stop(route, sentAt)
    gate.refusedAt = Math.max(gate.refusedAt, sentAt)
    gate.relays = 0
    if (gate.probe === key && gate.probeCause === 'answer') gate.deaf = true
    const plan = planAttempt(now, gate.memory, timing, this.parts.intervalMs)
    // A newcomer's refusal is no news to those who wait already: it joins them and the time they wait for.
    const joins = gate.waiters.size > 0 && gate.probe !== key && !wasOpen && gate.nextAt > now
    if (joins && gate.nextAt <= now + plan.delayMs) return { delayMs: gate.nextAt - now, cause: 'shared' }
    gate.memory = rememberPlan(gate.memory, plan)
    if (!joins) this.setProbe(gate, undefined)
    this.schedule(gate, now + plan.delayMs, 'due')
    this.rearm(gate, key)
    return plan
  }

  /**
   * A route answered a request: those who wait for it follow, and other routes of the provider are worth a look. An
   * answer to a request that was sent before the last refused one is no news.
   *
   * @param key - whose request it was.
   * @param route - the route.
   */
  answered(key: K, route: Route): void {
    if (this.gates.size === 0) return
    this.leaveOther(key, route)
    const asked = this.probing.get(key)
    if (asked !== undefined) this.setProbe(asked, undefined)
    if (asked?.waiters.size === 0) this.drop(asked)
    const sentAt = this.sent.get(key) ?? (asked === undefined ? Number.NEGATIVE_INFINITY : this.parts.clock.now())
    let opens = false
    for (const gate of this.gates.values()) {
      if (gate.route.provider !== route.provider || sentAt < gate.refusedAt) continue
      if (sameRoute(gate.route, route)) {
        gate.memory = undefined
        gate.relays = 0
        opens = true
      } else if (!gate.deaf) this.askNow(gate, 'answer')
    }
    if (opens && this.firstFor(route) !== undefined) this.ramps.start(route, sentAt, () => this.follow(route))
  }

  /**
   * The provider began to answer the session that asks for all, which is as good as an answer.
   *
   * @param key - the session.
   */
  streaming(key: K): void {
    const gate = this.probing.get(key)
    if (gate !== undefined) this.answered(key, gate.route)
  }

  /**
   * Whether a session asks for all at some gate.
   *
   * @param key - the session.
   */
  isProbing(key: K): boolean {
    return this.probing.has(key)
  }

  /**
   * A session's turn ended. If it asked for all and got no answer, the next one asks soon.
   *
   * @param key - the session.
   */
  left(key: K): void {
    const gate = this.probing.get(key)
    if (gate === undefined) return
    this.setProbe(gate, undefined)
    if (gate.waiters.size === 0) this.drop(gate)
    else {
      const gap = Math.min(this.parts.intervalMs, RELAY_GAP_MS * RELAY_GROWTH ** gate.relays)
      gate.relays += 1
      this.schedule(gate, this.parts.clock.now() + gap, 'relay')
    }
  }

  /**
   * Who asks for all goes on under another key: a session that was asleep has been opened.
   *
   * @param from - the key that asks.
   * @param to - the key it goes on under.
   */
  handOver(from: K, to: K): void {
    const gate = this.probing.get(from)
    if (gate !== undefined) this.setProbe(gate, to)
  }

  /**
   * Something says that a provider has allowance again: one session asks now.
   *
   * @param provider - the provider.
   */
  providerBack(provider: string): void {
    for (const gate of this.gates.values()) {
      if (gate.route.provider === provider) this.askNow(gate, 'reading')
    }
  }

  /**
   * Make a route that was not refused here, but is out of allowance, worth an attempt at some time.
   *
   * @param key - the session that would use it.
   * @param route - the route.
   * @param at - epoch ms; the time of a route that is waited for already stays.
   */
  hold(key: K, route: Route, at: number): void {
    const gate = this.gateFor(key, route)
    if (gate.nextAt === Number.POSITIVE_INFINITY) this.schedule(gate, at, 'due')
  }

  /**
   * When the first of some routes is asked again.
   *
   * @param key - the session that would ask.
   * @param routes - the routes.
   * @returns epoch ms; `Infinity` when none of them has a time.
   */
  nextAt(key: K, routes: readonly Route[]): number {
    return Math.min(...routes.map(route => this.gateFor(key, route).nextAt))
  }

  /**
   * Hold a wait open.
   *
   * @param request - the wait; an older one of the same key ends as aborted.
   * @returns what ended it. Never rejects.
   */
  wait(request: WaitRequest<K>): Promise<Wake> {
    this.waiters.get(request.key)?.end({ kind: 'aborted' })
    if (this.closed || request.signal.aborted) return Promise.resolve({ kind: 'aborted' })
    return new Promise((resolve) => {
      const onAbort = (): void => { waiter.end({ kind: 'aborted' }) }
      const waiter: Waiter<K> = {
        ...request,
        gates: request.routes.map(route => this.gateFor(request.key, route)),
        cancelAlarm: request.limitAt === undefined ? () => {} : this.alarm(request.key, request.limitAt, 'limit'),
        end: (wake) => {
          if (this.waiters.get(request.key) !== waiter) return
          this.remove(waiter)
          request.signal.removeEventListener('abort', onAbort)
          resolve(wake)
        },
      }
      this.waiters.set(request.key, waiter)
      for (const gate of waiter.gates) gate.waiters.add(waiter)
      request.signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /**
   * End the wait of one session.
   *
   * @param key - the session.
   * @param wake - what ends it.
   * @returns whether there was one.
   */
  end(key: K, wake: Wake): boolean {
    const waiter = this.waiters.get(key)
    waiter?.end(wake)
    return waiter !== undefined
  }

  /**
   * Have one session ask earlier than planned; a later time changes nothing.
   *
   * @param key - the session.
   * @param at - epoch ms.
   * @param cause - why.
   */
  bringForward(key: K, at: number, cause: WaitCause): void {
    const waiter = this.waiters.get(key)
    if (waiter === undefined || at >= waiter.nextAttemptAt) return
    waiter.nextAttemptAt = at
    waiter.cancelAlarm()
    waiter.cancelAlarm = this.alarm(key, at, cause)
  }

  /**
   * Have a wait written to the log again as it is.
   *
   * @param key - the session.
   */
  restate(key: K): void {
    const waiter = this.waiters.get(key)
    waiter?.rearm(waiter.nextAttemptAt, 'restated')
  }

  /** End every wait as aborted, also those that would begin later. */
  close(): void {
    this.closed = true
    for (const waiter of [...this.waiters.values()]) waiter.end({ kind: 'aborted' })
    for (const gate of [...this.gates.values()]) this.drop(gate)
    this.ramps.close()
  }

  private alarm(key: K, at: number, cause: WaitCause): () => void {
    return this.parts.scheduler.at(at, () => { this.end(key, { kind: 'go', cause }) })
  }

  /** One gate for a route, or one for each session and route. */
  private gateFor(key: K, route: Route): Gate<K> {
    const id = JSON.stringify(this.parts.probe === 'single' ? [route.provider, route.model] : [route.provider, route.model, this.ownerOf(key)])
    const known = this.gates.get(id)
    if (known !== undefined) return known
    const gate = newGate<K>(id, route)
    this.gates.set(id, gate)
    return gate
  }

  private ownerOf(key: K): number {
    const known = this.owners.get(key)
    if (known !== undefined) return known
    this.owned += 1
    this.owners.set(key, this.owned)
    return this.owned
  }

  private schedule(gate: Gate<K>, at: number, cause: WaitCause | 'due'): void {
    gate.cancelAlarm()
    gate.nextAt = at
    gate.cause = cause
    gate.cancelAlarm = this.parts.scheduler.at(at, () => { this.due(gate) })
  }

  /** Something says that a route answers again: one who waits asks, unless one does already or all are on their way. */
  private askNow(gate: Gate<K>, cause: WaitCause): void {
    // A balance says nothing about a throttle.
    if (cause === 'reading' && gate.memory?.cause === 'throttle') return
    const busy = gate.probe !== undefined || this.ramps.has(gate.route)
    if (gate.waiters.size > 0 && !busy) this.schedule(gate, this.parts.clock.now(), cause)
  }

  /** The gate's time came: the one who waits longest asks for all. */
  private due(gate: Gate<K>): void {
    const [first] = gate.waiters
    // Nobody waits any more; or the one who asked never came back, and the next one asks.
    if (first === undefined) {
      if (gate.probe === undefined) this.drop(gate)
      // Its answer takes longer than an interval; a time in the past must not be taken for one.
      else gate.nextAt = Number.POSITIVE_INFINITY
      return
    }
    const { cause } = gate
    this.schedule(gate, this.parts.clock.now() + this.parts.intervalMs, 'relay')
    // They follow already, one after another; one more would only come in between.
    if (this.ramps.has(gate.route)) return
    this.setProbe(gate, first.key)
    gate.probeCause = cause
    first.end({ kind: 'go', cause, route: gate.route })
  }

  /** Tell those who wait at a gate its new time, where theirs has passed, comes too early, or much too late. */
  private rearm(gate: Gate<K>, except: K): void {
    const now = this.parts.clock.now()
    for (const waiter of [...gate.waiters]) {
      const next = Math.min(...waiter.gates.map(({ nextAt }) => nextAt), waiter.limitAt ?? Number.POSITIVE_INFINITY)
      const holds = waiter.nextAttemptAt > now && next <= waiter.nextAttemptAt && waiter.nextAttemptAt - next <= WORTH_TELLING_MS
      if (waiter.key === except || holds) continue
      waiter.nextAttemptAt = next
      waiter.rearm(next, 'shared')
    }
  }

  /** Who was to ask here for all, and went elsewhere (a pick, a move before sending), leaves the asking to the next. */
  private leaveOther(key: K, route: Route): void {
    const asked = this.probing.get(key)
    if (asked !== undefined && !sameRoute(asked.route, route)) this.left(key)
  }

  /** Let the next one who waits for a route go. @returns whether more are left. */
  private follow(route: Route): boolean {
    this.firstFor(route)?.end({ kind: 'go', cause: 'ramp', route })
    return this.firstFor(route) !== undefined
  }

  private firstFor(route: Route): Waiter<K> | undefined {
    for (const gate of this.gates.values()) {
      const [first] = sameRoute(gate.route, route) ? gate.waiters : []
      if (first !== undefined) return first
    }
    return undefined
  }

  private remove(waiter: Waiter<K>): void {
    this.waiters.delete(waiter.key)
    waiter.cancelAlarm()
    for (const gate of waiter.gates) {
      gate.waiters.delete(waiter)
      if (gate.waiters.size === 0 && gate.probe === undefined) this.drop(gate)
    }
  }

  private setProbe(gate: Gate<K>, key: K | undefined): void {
    // The one who asked here may by now ask at another gate.
    if (gate.probe !== undefined && this.probing.get(gate.probe) === gate) this.probing.delete(gate.probe)
    gate.probe = key
    if (key !== undefined) this.probing.set(key, gate)
  }

  private drop(gate: Gate<K>): void {
    this.setProbe(gate, undefined)
    gate.cancelAlarm()
    this.gates.delete(gate.id)
  }
}
