/** Sessions that ask, wait and are answered, in any world: what the gates promise of every attempt. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Gates } from '../../src/host/gates.ts'
import { Pace } from '../../src/host/pace.ts'
import { Scheduler } from '../../src/host/scheduler.ts'
import { HOUR, MINUTE } from '../support/build.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { refuseAt } from '../support/plan.ts'

const ROUTE = { provider: 'a', model: 'm' }
const LATENCY = 1_500
const SESSIONS = 5
const EARLY = ['hint', 'second-try', 'throttle']

const hint = fc.oneof(fc.constant(undefined), fc.integer({ min: -2 * HOUR, max: 3 * HOUR }), fc.integer({ min: -2_000, max: 30_000 }))
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('begin' as const), who: fc.nat(SESSIONS - 1) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 90 * MINUTE })) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('step' as const), ms: fc.integer({ min: -HOUR, max: 2 * HOUR }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'reading' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('asked' as const, 'cancel' as const), who: fc.nat(SESSIONS - 1) }) },
)
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

/** One session; at most one of its requests or waits is open. */
interface Session {
  readonly name: number
  /** Raised when the host restarts or the turn is cancelled: what was on its way then comes to nothing. */
  life: number
  state: 'idle' | 'asking' | 'waiting' | 'answered'
  /** The time of its next attempt, as its record has it. */
  recordedAt: number
  refusals: number
  attempts: number
}

interface Attempt {
  readonly session: number
  readonly cause: string
}

const idOf = ({ name }: Session): string => `s${name}`

/** Sessions, gates and an account that comes back at some time. */
class World {
  readonly clock = new FakeClock()
  readonly sessions: Session[] = Array.from({ length: SESSIONS }, (_none, name) => ({ name, life: 0, state: 'idle', recordedAt: 0, refusals: 0, attempts: 0 }))
  readonly attempts: Attempt[] = []
  /** Promises that did not hold, in words. */
  readonly broken: string[] = []
  readings = 0
  private scheduler!: Scheduler
  private gates!: Gates
  private refusedAt = Number.NEGATIVE_INFINITY
  private refusedElapsed = Number.NEGATIVE_INFINITY
  private planCause = 'interval'
  private overdue = new Set<Session>()
  private said = 0
  private readonly backAfter: number
  private readonly hints: readonly (number | undefined)[]

  constructor(backAfter: number, hints: readonly (number | undefined)[]) {
    this.backAfter = backAfter
    this.hints = hints
    this.open()
  }

  async do(next: Act): Promise<void> {
    switch (next.do) {
      case 'begin': {
        const session = this.sessions[next.who]!
        if (session.state === 'idle') this.ask(session)
        break
      }
      case 'pass':
        await this.pass(next.ms)
        break
      case 'step':
        this.clock.step(next.ms)
        break
      case 'restart':
        this.restart()
        break
      case 'reading':
        this.readings += 1
        this.gates.providerBack('a')
        break
      case 'asked':
        this.gates.waits.end(idOf(this.sessions[next.who]!), { kind: 'go', cause: 'asked' })
        break
      case 'cancel':
        this.cancel(this.sessions[next.who]!)
    }
    await this.settle()
    this.check()
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      // What takes hours is passed in strides, what takes seconds in steps, for one answer may start many.
      const stride = left > 10 * MINUTE && this.sessions.every(({ state }) => state !== 'asking') ? 5 * MINUTE : 500
      this.clock.pass(Math.min(stride, left))
      left -= stride - 500
      await this.settle()
    }
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1) await Promise.resolve()
  }

  /** Nobody stands at a gate that nothing will open. */
  private check(): void {
    const waiting = this.sessions.filter(({ state }) => state === 'waiting')
    expect(this.gates.waits.size).toBe(waiting.length)
    for (const session of waiting) expect(this.gates.nextAt(idOf(session), [ROUTE])).toBeLessThan(Number.POSITIVE_INFINITY)
    if (waiting.length > 0) expect([this.scheduler.size > 0, this.clock.pending > 0]).toEqual([true, true])
  }

  private open(): void {
    this.scheduler = new Scheduler(this.clock, (error) => { throw error })
    this.gates = new Gates({ scheduler: this.scheduler, clock: this.clock, pace: new Pace({ clock: this.clock, random: () => 0.5 }), intervalMs: HOUR, probe: 'single' })
  }

  private ask(session: Session): void {
    const { life } = session
    session.state = 'asking'
    this.gates.asks(idOf(session))
    const accepted = this.clock.elapsed >= this.backAfter
    this.clock.after(() => {
      if (session.life !== life) return
      if (accepted) this.answered(session)
      else this.refused(session)
    }, LATENCY)
  }

  private answered(session: Session): void {
    session.state = 'answered'
    this.gates.answered(idOf(session), ROUTE)
    this.gates.left(idOf(session))
  }

  private refused(session: Session): void {
    const inMs = this.hints[this.said++ % Math.max(1, this.hints.length)]
    const plan = refuseAt(this.gates, this.clock.wall, idOf(session), ROUTE, inMs === undefined ? {} : { resetsAt: this.clock.wall + inMs })
    session.refusals += 1
    // A newcomer joins those who wait; its refusal moves nothing.
    if (plan.cause !== 'shared') {
      this.planCause = plan.cause
      this.refusedAt = this.clock.wall
      this.refusedElapsed = this.clock.elapsed
    }
    this.wait(session)
  }

  private wait(session: Session): void {
    const { life } = session
    session.state = 'waiting'
    session.recordedAt = this.gates.nextAt(idOf(session), [ROUTE])
    let ends = 0
    void this.gates.wait({
      session: idOf(session), policy: 'quota', routes: [ROUTE], nextAttemptAt: session.recordedAt, signal: new AbortController().signal,
      rearm: (at) => { session.recordedAt = at },
    }).then((wake) => {
      ends += 1
      if (ends > 1) this.broken.push('a wait that ended twice')
      if (session.life !== life || wake.kind !== 'go') return
      if (session.state !== 'waiting') this.broken.push('an attempt of one who did not wait')
      session.attempts += 1
      this.attempts.push({ session: session.name, cause: wake.cause })
      // After a restart what was due meanwhile is asked at once; its log says that it was due.
      const named = wake.cause !== 'due' || EARLY.includes(this.planCause) || this.overdue.has(session)
      // By whichever clock saw more time pass: one of them may have been set back, or have slept.
      const gap = Math.max(this.clock.wall - this.refusedAt, this.clock.elapsed - this.refusedElapsed)
      if (!named && gap < HOUR) this.broken.push(`an attempt ${gap} ms after a refusal, for no cause`)
      this.overdue.delete(session)
      this.ask(session)
    })
  }

  private cancel(session: Session): void {
    if (session.state === 'waiting' || session.state === 'asking') {
      session.life += 1
      session.state = 'idle'
      this.gates.waits.end(idOf(session), { kind: 'aborted' })
      this.gates.left(idOf(session))
    }
  }

  /** The host ends without a word; every session that waited or asked waits again for the time that it recorded. */
  private restart(): void {
    this.gates.close()
    this.scheduler.close()
    this.open()
    const held = this.sessions.filter(({ state, refusals }) => (state === 'waiting' || state === 'asking') && refusals > 0)
    for (const session of this.sessions) {
      session.life += 1
      if (session.state === 'asking' && session.refusals === 0) session.state = 'idle'
    }
    for (const session of held.sort((a, b) => a.recordedAt - b.recordedAt)) {
      this.gates.hold(idOf(session), ROUTE, session.recordedAt)
      if (session.recordedAt <= this.clock.wall) this.overdue.add(session)
      this.wait(session)
    }
  }
}

describe('whatever the provider says and the clocks do', () => {
  it('attempts are an interval apart or have a cause, nobody is left behind, and no cause serves twice', async () => {
    const world = fc.record({ backAfter: fc.integer({ min: 0, max: 8 * HOUR }), hints: fc.array(hint, { maxLength: 6 }), acts: fc.array(act, { maxLength: 40 }) })
    await fc.assert(fc.asyncProperty(world, async ({ backAfter, hints, acts }) => {
      const given = new World(backAfter, hints)
      for (const next of acts) await given.do(next)
      const back = acts.reduce((sum, next) => next.do === 'step' && next.ms < 0 ? sum - next.ms : sum, 0)
      // Nothing but time from here on: the allowance returns, and every deadline lies within an interval of that.
      await given.pass(Math.max(0, backAfter - given.clock.elapsed) + back + 2 * HOUR)
      for (const { state } of given.sessions) expect(['idle', 'answered']).toContain(state)
      expect(given.broken).toEqual([])
      const readings = given.attempts.filter(({ cause }) => cause === 'reading')
      expect(readings.length).toBeLessThanOrEqual(given.readings)
      // Every attempt answers one refusal of that session, or one restart that cut an attempt off.
      const restarts = acts.filter(next => next.do === 'restart').length
      for (const { attempts, refusals } of given.sessions) expect(attempts).toBeLessThanOrEqual(refusals + restarts)
    }), { numRuns: 400 })
  })
})
