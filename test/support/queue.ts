/** Sessions at the gates, without a host: what each was told, and how each of its waits ended. */
import type { Route } from '../../src/events/route.ts'
import { Gates, type GateParts } from '../../src/host/gates.ts'
import { Pace } from '../../src/host/pace.ts'
import { Scheduler } from '../../src/host/scheduler.ts'
import type { Wake } from '../../src/host/waits.ts'
import type { PlannedWait, RefusalTiming } from '../../src/policy/quota/wait.ts'
import { HOUR } from './build.ts'
import { FakeClock } from './fake-clock.ts'
import { refuseAt } from './plan.ts'

export const ROUTE: Route = { provider: 'a', model: 'm' }
export const SIBLING: Route = { provider: 'a', model: 'n' }
export const ELSEWHERE: Route = { provider: 'b', model: 'm' }

/** One session that asks and waits. */
export interface Sitter {
  readonly name: string
  /** New times that it was told, in ms from the start of the test. */
  readonly told: number[]
  /** How its waits ended: the cause or the kind, and when, in ms from the start of the test. */
  readonly woken: [string, number][]
  readonly wakes: Wake[]
  /** When it sent requests, in ms from the start of the test. */
  readonly sent: number[]
}

/** Gates on a fake clock. */
export class Queue {
  readonly clock = new FakeClock()
  readonly scheduler: Scheduler
  readonly gates: Gates
  private readonly start: number
  private readonly intervalMs: number

  constructor(more: Partial<GateParts> = {}) {
    this.start = this.clock.wall
    this.intervalMs = more.intervalMs ?? HOUR
    this.scheduler = new Scheduler(this.clock, (error) => { throw error })
    this.gates = new Gates({ scheduler: this.scheduler, clock: this.clock, pace: new Pace({ clock: this.clock, random: () => 0 }), intervalMs: HOUR, probe: 'single', ...more })
  }

  get now(): number {
    return this.clock.wall - this.start
  }

  sitter(name: string): Sitter {
    return { name, told: [], woken: [], wakes: [], sent: [] }
  }

  asks(sitter: Sitter): void {
    sitter.sent.push(this.now)
    this.gates.asks(sitter.name)
  }

  /** Its last request is refused, and it waits. */
  refuse(sitter: Sitter, timing: RefusalTiming = {}, routes: readonly Route[] = [ROUTE], limitIn?: number): PlannedWait {
    const plan = refuseAt(this.gates, this.clock.wall, sitter.name, routes[0]!, timing, this.intervalMs)
    for (const other of routes.slice(1)) this.gates.hold(sitter.name, other, this.clock.wall + HOUR)
    this.wait(sitter, routes, limitIn)
    return plan
  }

  wait(sitter: Sitter, routes: readonly Route[] = [ROUTE], limitIn?: number, signal = new AbortController().signal): void {
    const limitAt = limitIn === undefined ? undefined : this.clock.wall + limitIn
    void this.gates.wait({
      session: sitter.name, policy: 'quota', routes, nextAttemptAt: Math.min(this.gates.nextAt(sitter.name, routes), limitAt ?? Number.POSITIVE_INFINITY), limitAt, signal,
      rearm: (at) => { sitter.told.push(at - this.start) },
    }).then((wake) => {
      sitter.wakes.push(wake)
      sitter.woken.push([wake.kind === 'go' ? wake.cause : wake.kind, this.now])
    })
  }

  /** Sessions that asked and were refused one after another, a second apart. */
  async waiting(count: number, timing: RefusalTiming = {}): Promise<Sitter[]> {
    const sitters: Sitter[] = []
    for (let index = 0; index < count; index += 1) {
      const sitter = this.sitter(`s${index}`)
      sitters.push(sitter)
      this.asks(sitter)
      await this.pass(1_000)
      this.refuse(sitter, timing)
    }
    return sitters
  }

  /** Let time pass in small steps, so that a wake-up is noted when it happens. */
  async pass(ms: number, stepMs = 100): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.pass(Math.min(stepMs, left))
      await Promise.resolve()
    }
  }

  /** Let time pass up to a moment from the start. */
  async until(ms: number, stepMs?: number): Promise<void> {
    await this.pass(ms - this.now, stepMs)
  }
}
