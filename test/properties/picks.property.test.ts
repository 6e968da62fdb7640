/**
 * Where requests go, for any history of a session on a host that keeps a person's pick to itself, as the pinned one does:
 * every live object may be dropped at any point, and the next decision is the same.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Route, sameRoute } from '../../src/events/route.ts'
import { parseConfig } from '../../src/policy/config.ts'
import type { World } from '../../src/policy/pool/choose.ts'
import { decideRequest, type RequestDecision } from '../../src/policy/pool/request.ts'
import { respond } from '../../src/policy/respond.ts'
import { evolveMarks, initialMarks, type MarksState } from '../../src/reducers/marks.ts'
import { evolveEvent, foldSession, initialState, type SessionState } from '../../src/reducers/session.ts'
import { HOUR, MINUTE, SPENT } from '../support/build.ts'
import { ALONE } from '../support/world.ts'
import { Live, notes } from '../support/live.ts'

const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'n' }
const C = { provider: 'c', model: 'o' }
const OUTSIDE = { provider: 'z', model: 'z' }
const config = parseConfig({ pools: { medium: { routes: [A, B, C] } } })
const route = fc.constantFrom<Route>(A, B, C, OUTSIDE)

type Act =
  | { readonly do: 'ask'; readonly spent: readonly string[] }
  | { readonly do: 'turn' | 'restart' | 'put' | 'cancel' }
  | { readonly do: 'pick'; readonly route: Route }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'mark'; readonly provider: string }

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('ask' as const), spent: fc.subarray(['a', 'b', 'c', 'z']) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pick' as const), route }) },
  { weight: 4, arbitrary: fc.constantFrom('turn', 'restart', 'restart', 'put', 'cancel').map(name => ({ do: name as 'turn' })) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(MINUTE, HOUR) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('mark' as const), provider: fc.constantFrom('a', 'b', 'c') }) },
)

const reach = { requests: 0, picks: 0, picksAfterRestart: 0, stood: 0, moved: 0, restarts: 0 }

/** A session on the pinned web host: its picker, its log, and what is known of the providers. */
class Host {
  readonly live = new Live()
  marks: MarksState = initialMarks
  /** What the person picked in this life of the host. */
  private picker: Route | null = null
  /** What they picked last, and no request has gone to yet. */
  private wanted: Route | null = null
  private restarted = false
  private base: Route | null = null
  /** Folded event by event, as the plugin does while it lives. */
  private folded: { rows: number; state: SessionState } = { rows: 0, state: initialState }

  constructor() {
    this.live.log.head().turn()
  }

  get known(): World {
    return { marks: this.marks, readings: {}, now: this.live.log.time }
  }

  act(next: Act): void {
    const { log } = this.live
    switch (next.do) {
      case 'ask': return this.ask(new Set(next.spent))
      case 'turn':
        log.turn()
        return
      case 'cancel':
        if (log.inTurn) log.cancels()
        return
      case 'put':
        log.command('/quota-pool medium')
        this.wanted = null
        return
      case 'restart':
        log.crashes().turn()
        this.picker = null
        this.restarted = true
        reach.restarts += 1
        return
      case 'pick': return this.pick(next.route)
      case 'pass':
        log.after(next.ms)
        return
      case 'mark':
        this.marks = evolveMarks(this.marks, { type: 'providerMarked', provider: next.provider, at: log.time, until: log.time + HOUR, rule: 'r', message: 'spent' })
    }
  }

  /** A pick; the plugin is told of it, and notes what the log would show with the next request alone. */
  private pick(to: Route): void {
    this.picker = to
    const { picks, step } = this.state
    const known = [picks.base, picks.to, step.route]
    // What looks like where the session is already cannot be told from it.
    this.wanted = step.route === null || known.some(one => sameRoute(one, to)) ? null : to
    this.restarted = false
    if (this.wanted !== null) notes(this.live.log, { kind: 'picked', route: to })
  }

  private get state(): SessionState {
    const { rows } = this.live.log
    let { state } = this.folded
    for (const row of rows.slice(this.folded.rows)) state = evolveEvent(state, row)
    this.folded = { rows: rows.length, state }
    return state
  }

  private ask(spent: ReadonlySet<string>): void {
    const { log } = this.live
    log.step()
    // The harness's own route is settled when the step begins.
    this.base = this.picker ?? this.live.logged ?? A
    let decision = this.request()
    for (let asked = 0; spent.has(decision.route.provider) && asked < 6; asked += 1) {
      log.refused()
      const response = respond({
        state: this.state, failure: SPENT, provider: decision.route.provider, turn: log.turnNo, step: log.stepNo, world: this.known, unfit: [], ...ALONE,
      }, config)
      if (response.mark !== undefined) this.marks = evolveMarks(this.marks, response.mark)
      if (response.kind !== 'move') {
        log.cancels()
        return
      }
      log.moves('medium', response.choice.route.provider, response.choice.route.model).starts()
      decision = this.request()
    }
    log.answers()
    this.marks = evolveMarks(this.marks, { type: 'providerLifted', provider: decision.route.provider, at: log.time, by: 'answer' })
  }

  private request(): RequestDecision {
    const base = this.base ?? A
    const context = { base, world: this.known }
    const decision = decideRequest({ ...context, state: this.state }, config)
    // Every live object is dropped here, and folded again from what is on the disk.
    const stored: unknown[] = JSON.parse(JSON.stringify(this.live.log.rows)) as unknown[]
    expect(decideRequest({ ...context, state: foldSession(stored) }, config)).toEqual(decision)
    this.live.sends(base, this.known, config)
    reach.requests += 1
    if (decision.notes.some(({ kind }) => kind === 'stands')) reach.stood += 1
    if (decision.why.kind === 'marked') reach.moved += 1
    if (this.wanted !== null) {
      expect([decision.why.kind, sameRoute(decision.route, this.wanted)]).toEqual(['picked', true])
      reach.picks += 1
      if (this.restarted) reach.picksAfterRestart += 1
      this.wanted = null
    }
    return decision
  }
}

describe('for any history of a session', () => {
  it('the next request is decided alike by a plugin that has lived through it and by one that reads its log, and a pick wins', () => {
    fc.assert(fc.property(fc.array(act, { maxLength: 40, size: 'max' }), (script) => {
      const world = new Host()
      for (const next of script) world.act(next)
    }), { numRuns: 300 })
    expect(reach.requests).toBeGreaterThan(2_000)
    expect(reach.picks).toBeGreaterThan(200)
    expect(reach.picksAfterRestart).toBeGreaterThan(3)
    expect(reach.stood).toBeGreaterThan(50)
    expect(reach.moved).toBeGreaterThan(20)
  })
})
