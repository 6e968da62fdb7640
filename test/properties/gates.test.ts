import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Route } from '../../src/events/route.ts'
import { Gates } from '../../src/host/gates.ts'
import { Pace } from '../../src/host/pace.ts'
import { Scheduler } from '../../src/host/scheduler.ts'
import type { Wake } from '../../src/host/waits.ts'
import { HOUR, MINUTE } from '../support/build.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { refuseAt } from '../support/plan.ts'

const ROUTES: readonly Route[] = [{ provider: 'a', model: 'm' }, { provider: 'a', model: 'n' }, { provider: 'b', model: 'm' }]
const key = fc.nat(3)
const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('refused' as const), key, routes: fc.subarray([0, 1, 2], { minLength: 1 }), resetsIn: fc.option(fc.integer({ min: -MINUTE, max: HOUR })), limitIn: fc.option(fc.integer({ min: 1, max: 3 * HOUR })), aborted: fc.constantFrom(false, false, true) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answered' as const), key, route: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('left' as const, 'asked' as const, 'disabled' as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), which: fc.nat(15) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forward' as const), key, inMs: fc.integer({ min: -MINUTE, max: HOUR }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('back' as const), provider: fc.constantFrom('a', 'b') }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: HOUR }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('step' as const), ms: fc.integer({ min: -HOUR, max: 2 * HOUR }) }) },
)
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never
interface Wait { readonly key: number; readonly abort: AbortController; readonly ends: Wake[] }

/** Gates, and every wait that was ever held at them. */
class Watch {
  readonly clock = new FakeClock()
  readonly scheduler = new Scheduler(this.clock, (error) => { throw error })
  readonly gates: Gates
  readonly keys = ['s0', 's1', 's2', 's3']
  readonly waits: Wait[] = []

  constructor(probe: 'single' | 'each') {
    this.gates = new Gates({ scheduler: this.scheduler, clock: this.clock, pace: new Pace({ clock: this.clock, random: () => 0.5 }), intervalMs: HOUR, probe })
  }

  do(next: Act): void {
    const { clock, gates, keys } = this
    switch (next.do) {
      case 'refused':
        this.refused(next)
        return
      case 'answered':
        gates.answered(keys[next.key]!, ROUTES[next.route]!)
        return
      case 'left':
        gates.left(keys[next.key]!)
        return
      case 'asked':
        gates.waits.end(keys[next.key]!, { kind: 'go', cause: 'asked' })
        return
      case 'disabled':
        gates.waits.end(keys[next.key]!, { kind: 'disabled' })
        return
      case 'abort':
        this.waits[next.which]?.abort.abort()
        return
      case 'forward':
        gates.waits.bringForward(keys[next.key]!, clock.wall + next.inMs, 'message')
        return
      case 'back':
        gates.providerBack(next.provider)
        return
      case 'pass':
        clock.pass(next.ms)
        return
      case 'step':
        clock.step(next.ms)
    }
  }

  get live(): Wait[] {
    return this.waits.filter(({ ends }) => ends.length === 0)
  }

  /** A request of a session that does not wait is refused, and the session waits for the routes. */
  private refused(next: Extract<Act, { do: 'refused' }>): void {
    const { clock, gates } = this
    if (this.live.some(({ key: whose }) => whose === next.key)) return
    const session = this.keys[next.key]!
    const routes = next.routes.map(index => ROUTES[index]!)
    for (const route of routes) refuseAt(gates, clock.wall, session, route, next.resetsIn === null ? {} : { resetsAt: clock.wall + next.resetsIn })
    const wait: Wait = { key: next.key, abort: new AbortController(), ends: [] }
    if (next.aborted) wait.abort.abort()
    this.waits.push(wait)
    void gates.wait({
      session, policy: 'quota', routes, nextAttemptAt: gates.nextAt(session, routes), signal: wait.abort.signal, rearm: () => {},
      ...next.limitIn === null ? {} : { limitAt: clock.wall + next.limitIn },
    }).then((wake) => { wait.ends.push(wake) })
  }
}

describe.each(['single', 'each'] as const)('waits with probe: %s, whatever happens to them', (probe) => {
  it('each end exactly once, and nobody is forgotten', async () => {
    await fc.assert(fc.asyncProperty(fc.array(act, { maxLength: 30 }), async (acts) => {
      const watch = new Watch(probe)
      for (const next of acts) {
        watch.do(next)
        await Promise.resolve()
        expect(watch.gates.waits.size).toBe(watch.live.length)
      }
      // Even if nobody who asks ever comes back with an answer, each of the others has its turn.
      for (let round = 0; round < 8; round += 1) {
        watch.clock.pass(HOUR)
        await Promise.resolve()
      }
      expect(watch.live).toEqual([])
      watch.gates.close()
      await Promise.resolve()
      for (const { ends } of watch.waits) expect(ends).toHaveLength(1)
      expect([watch.gates.waits.size, watch.scheduler.size, watch.clock.pending]).toEqual([0, 0, 0])
    }), { numRuns: 200 })
  })
})
