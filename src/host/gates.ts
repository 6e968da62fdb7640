import type { WaitCause } from '../events/policy-key.ts'
import { type Route, sameRoute } from '../events/route.ts'
import type { RouteKnown } from '../policy/quota/plan.ts'
import { type PlannedWait, relayGapMs } from '../policy/quota/wait.ts'
import { remember } from '../reducers/plans.ts'
import { type Gate, newGate } from './gate.ts'
import { type RampParts, Ramps } from './ramp.ts'
import { type Waiter, type WaitingPolicy, type WaitRequest, Waits, type Wake } from './waits.ts'

/** Those who wait are told of an attempt that comes earlier than they know by more than this, in ms. */
const WORTH_TELLING_MS = 60_000

/** What the gates work with. */
export interface GateParts extends RampParts {
  readonly intervalMs: number
  /** `single`: of all that wait on a route one asks per interval. `each`: every session asks for itself. */
  readonly probe: 'single' | 'each'
}

/** A wait at the gates of some routes. */
export interface GateWait extends WaitRequest {
  /** The routes that may end it, the one that failed last first. */
  readonly routes: readonly Route[]
}

/** When a request was sent. */
interface Sent {
  /** Epoch ms. */
  readonly at: number
  /** On the clock that nobody sets: what orders requests. */
  readonly ticks: number
}

/**
 * Who may ask which route again, and when.
 *
 * Sessions that wait for the same route wait at one gate. When its time comes one of them asks for all; if it is
 * refused the gate stays shut and the others are told the new time, without a request of their own; if it is answered
 * the others follow one after another. With `probe: 'each'` every session has a gate of its own. A session stands here
 * by its id: after a restart it may wait for hours before anybody opens it. What a failure means and when a route is
 * asked again is decided in `src/policy`; here it is carried out.
 */
export class Gates {
  /** The waits that are held open here. */
  readonly waits: Waits
  private readonly parts: GateParts
  private readonly gates = new Map<string, Gate>()
  /** The gate at which a session asks for all. */
  private readonly probing = new Map<string, Gate>()
  private readonly ramps: Ramps
  /** When each session sent the last request of its open turn. */
  private readonly sent = new Map<string, Sent>()
  /** The gates at which each session waits. */
  private readonly standing = new Map<string, Gate[]>()

  /**
   * @param parts - what the gates work with.
   */
  constructor(parts: GateParts) {
    this.parts = parts
    this.ramps = new Ramps(parts)
    this.waits = new Waits(parts.scheduler, (waiter) => { this.remove(waiter) })
  }

  /** Providers that some session waits for. */
  get providers(): Set<string> {
    return new Set([...this.gates.values()].filter(gate => gate.waiters.size > 0).map(gate => gate.route.provider))
  }

  /**
   * A session sends a request. What comes of it tells of the time at which it was sent: an answer may stream for
   * minutes after the allowance is spent, and a refusal may arrive when it is back.
   *
   * @param session - its id.
   */
  asks(session: string): void {
    const { clock } = this.parts
    this.sent.set(session, { at: clock.now(), ticks: clock.ticks() })
  }

  /**
   * When a session sent its last request.
   *
   * @param session - its id.
   * @returns epoch ms; `undefined` when that was before this plugin was loaded.
   */
  sentAt(session: string): number | undefined {
    const { clock } = this.parts
    const at = this.sent.get(session)?.at
    // A clock that was set back since must not make an old request the newest of all.
    return at === undefined ? undefined : Math.min(at, clock.now())
  }

  /**
   * What is known of a route to whoever decides when it is asked again.
   *
   * @param session - id of the session whose request failed there, or that would use it.
   * @param route - the route.
   * @param policy - the policy that asks.
   */
  known(session: string, route: Route, policy: WaitingPolicy = 'quota'): RouteKnown {
    const gate = this.gates.get(this.idOf(session, route, policy))
    if (gate === undefined) return {}
    const { memory, nextAt } = gate
    return {
      ...memory === undefined ? {} : { memory },
      ...gate.probe === undefined && Number.isFinite(nextAt) ? { nextAt } : {},
      ...this.joins(gate, session) ? { sharedAt: nextAt } : {},
    }
  }

  /** A newcomer's refusal is no news to those who wait already: it joins them and the time they wait for. */
  private joins(gate: Gate, session: string): boolean {
    return gate.waiters.size > 0 && gate.probe !== session && gate.nextAt > this.parts.clock.now()
      && !this.ramps.isRefutedBy(gate.route, this.ticksOf(session))
  }

  private ticksOf(session: string): number {
    return this.sent.get(session)?.ticks ?? this.parts.clock.ticks()
  }

  /**
   * A route failed a request: every session that waits for it learns of it.
   *
   * @param session - id of the session whose request it was.
   * @param route - the route.
   * @param plan - when the route is asked again, and why then.
   * @param policy - the policy that planned it.
   */
  refused(session: string, route: Route, plan: PlannedWait, policy: WaitingPolicy = 'quota'): void {
    const now = this.parts.clock.now()
    this.leaveOther(session, route)
    const gate = this.gateFor(session, route, policy)
    const joins = this.joins(gate, session)
    const ticks = this.ticksOf(session)
    this.ramps.stop(route, ticks)
    gate.refusedAt = Math.max(gate.refusedAt, ticks)
    gate.relays = 0
    if (gate.probe === session && gate.probeCause === 'answer') gate.modelApart = true
    if (joins && plan.cause === 'shared') return
    gate.memory = remember(gate.memory, { at: now, ...plan })
    if (!joins) this.setProbe(gate, undefined)
    this.schedule(gate, now + plan.delayMs, 'due')
    this.rearm(gate, session)
  }

  /**
   * A route answered a request: those who wait for it follow, and other routes of the provider are worth a look. An
   * answer to a request that was sent before the last refused one is no news.
   *
   * @param session - id of the session whose request it was.
   * @param route - the route.
   */
  answered(session: string, route: Route): void {
    if (this.gates.size === 0) return
    this.leaveOther(session, route)
    const asked = this.probing.get(session)
    if (asked !== undefined) this.setProbe(asked, undefined)
    if (asked?.waiters.size === 0) this.drop(asked)
    const sentAt = this.sent.get(session)?.ticks ?? (asked === undefined ? Number.NEGATIVE_INFINITY : this.parts.clock.ticks())
    let opens = false
    for (const gate of this.gates.values()) {
      if (gate.route.provider !== route.provider || sentAt < gate.refusedAt) continue
      if (sameRoute(gate.route, route)) {
        gate.memory = undefined
        gate.relays = 0
        opens = true
      } else if (!gate.modelApart) this.askNow(gate, 'answer')
    }
    if (opens && this.firstFor(route) !== undefined) this.ramps.start(route, sentAt, () => this.follow(route))
  }

  /**
   * A route began to answer the session that asks for all, which is as good as an answer.
   *
   * @param session - its id.
   * @param route - the route that its request went to.
   */
  streaming(session: string, route: Route): void {
    if (this.probing.has(session)) this.answered(session, route)
  }

  /**
   * Whether a session asks for all at some gate.
   *
   * @param session - its id.
   */
  isProbing(session: string): boolean {
    return this.probing.has(session)
  }

  /**
   * A session's turn ended. If it asked for all and got no answer, the next one asks soon.
   *
   * @param session - its id.
   */
  left(session: string): void {
    this.sent.delete(session)
    this.giveUp(session)
  }

  /**
   * A session that was to ask for all will not.
   *
   * @param session - its id.
   */
  giveUp(session: string): void {
    const gate = this.probing.get(session)
    if (gate === undefined) return
    this.setProbe(gate, undefined)
    if (gate.waiters.size === 0) this.drop(gate)
    else {
      const gap = relayGapMs(gate.relays, this.parts.intervalMs)
      gate.relays += 1
      this.schedule(gate, this.parts.clock.now() + gap, 'relay')
    }
  }

  /**
   * Something says that a provider has allowance again: one session asks now.
   *
   * @param provider - the provider.
   */
  providerBack(provider: string): void {
    for (const gate of this.gates.values()) {
      if (gate.policy === 'quota' && gate.route.provider === provider) this.askNow(gate, 'reading')
    }
  }

  /**
   * Make a route that was not refused here, but is out of allowance, worth an attempt at some time.
   *
   * @param session - id of the session that would use it.
   * @param route - the route.
   * @param at - epoch ms; the time of a route that is waited for already stays.
   */
  hold(session: string, route: Route, at: number): void {
    const gate = this.gateFor(session, route, 'quota')
    if (gate.nextAt === Number.POSITIVE_INFINITY) this.schedule(gate, at, 'due')
  }

  /**
   * Have a route asked earlier than planned, as when its mark lapses; not while somebody asks it.
   *
   * @param session - id of the session that would use it.
   * @param route - the route.
   * @param at - epoch ms; a later time changes nothing.
   */
  offer(session: string, route: Route, at: number): void {
    const gate = this.gateFor(session, route, 'quota')
    if (gate.probe === undefined && at < gate.nextAt) this.schedule(gate, at, 'due')
  }

  /**
   * When the first of some routes is asked again.
   *
   * @param session - id of the session that would ask.
   * @param routes - the routes.
   * @param policy - the policy that asks.
   * @returns epoch ms; `Infinity` when none of them has a time.
   */
  nextAt(session: string, routes: readonly Route[], policy: WaitingPolicy = 'quota'): number {
    return Math.min(...routes.map(route => this.gateFor(session, route, policy).nextAt))
  }

  /**
   * Hold a wait open.
   *
   * @param request - the wait; an older one of the same session ends as aborted.
   * @returns what ended it. Never rejects.
   */
  wait(request: GateWait): Promise<Wake> {
    const { policy, routes, session } = request
    return this.waits.hold(request, (waiter) => {
      const gates = routes.map(route => this.gateFor(session, route, policy))
      this.standing.set(session, gates)
      for (const gate of gates) gate.waiters.add(waiter)
    })
  }

  /** End every wait as aborted, also those that would begin later. */
  close(): void {
    this.waits.close()
    for (const gate of [...this.gates.values()]) this.drop(gate)
    this.ramps.close()
  }

  /** One gate for a route and a policy, or one for each session besides. */
  private idOf(session: string, { model, provider }: Route, policy: WaitingPolicy): string {
    return JSON.stringify([policy, provider, model, ...this.parts.probe === 'single' ? [] : [session]])
  }

  private gateFor(session: string, route: Route, policy: WaitingPolicy): Gate {
    const id = this.idOf(session, route, policy)
    const known = this.gates.get(id)
    if (known !== undefined) return known
    const gate = newGate(id, policy, route)
    this.gates.set(id, gate)
    return gate
  }

  private schedule(gate: Gate, at: number, cause: WaitCause | 'due'): void {
    gate.cancelAlarm()
    gate.nextAt = at
    gate.cause = cause
    gate.cancelAlarm = this.parts.scheduler.at(at, () => { this.due(gate) })
  }

  /** Something says that a route answers again: one who waits asks, unless one does already or all are on their way. */
  private askNow(gate: Gate, cause: WaitCause): void {
    // A balance says nothing about a throttle.
    if (cause === 'reading' && gate.memory?.cause === 'throttle') return
    const busy = gate.probe !== undefined || this.ramps.has(gate.route)
    if (gate.waiters.size > 0 && !busy) this.schedule(gate, this.parts.clock.now(), cause)
  }

  /** The gate's time came: the one who waits longest asks for all. */
  private due(gate: Gate): void {
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
    this.setProbe(gate, first.session)
    gate.probeCause = cause
    first.end({ kind: 'go', cause, route: gate.route })
  }

  /** Tell those who wait at a gate its new time, where theirs has passed, comes too early, or much too late. */
  private rearm(gate: Gate, except: string): void {
    const now = this.parts.clock.now()
    for (const waiter of [...gate.waiters]) {
      const times = (this.standing.get(waiter.session) ?? []).map(({ nextAt }) => nextAt)
      const next = Math.min(...times, waiter.limitAt ?? Number.POSITIVE_INFINITY)
      const holds = waiter.nextAttemptAt > now && next <= waiter.nextAttemptAt && waiter.nextAttemptAt - next <= WORTH_TELLING_MS
      if (waiter.session === except || holds) continue
      waiter.nextAttemptAt = next
      waiter.rearm(next, 'shared')
    }
  }

  /** Who was to ask here for all, and went elsewhere (a pick, a move before sending), leaves the asking to the next. */
  private leaveOther(session: string, route: Route): void {
    const asked = this.probing.get(session)
    if (asked !== undefined && !sameRoute(asked.route, route)) this.giveUp(session)
  }

  /** Let the next one who waits for a route go. @returns whether more are left. */
  private follow(route: Route): boolean {
    this.firstFor(route)?.end({ kind: 'go', cause: 'ramp', route })
    return this.firstFor(route) !== undefined
  }

  private firstFor(route: Route): Waiter | undefined {
    for (const gate of this.gates.values()) {
      const [first] = sameRoute(gate.route, route) ? gate.waiters : []
      if (first !== undefined) return first
    }
    return undefined
  }

  private remove(waiter: Waiter): void {
    const gates = this.standing.get(waiter.session) ?? []
    this.standing.delete(waiter.session)
    for (const gate of gates) {
      gate.waiters.delete(waiter)
      if (gate.waiters.size === 0 && gate.probe === undefined) this.drop(gate)
    }
  }

  private setProbe(gate: Gate, session: string | undefined): void {
    // The one who asked here may by now ask at another gate.
    if (gate.probe !== undefined && this.probing.get(gate.probe) === gate) this.probing.delete(gate.probe)
    gate.probe = session
    if (session !== undefined) this.probing.set(session, gate)
  }

  private drop(gate: Gate): void {
    this.setProbe(gate, undefined)
    gate.cancelAlarm()
    this.gates.delete(gate.id)
  }
}
