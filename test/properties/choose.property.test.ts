import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/events/failure.ts'
import { type Route, sameRoute } from '../../src/events/route.ts'
import { chooseMove, chooseStart, type Choice, type Grade, GRADES, standingOf, type World } from '../../src/policy/pool/choose.ts'
import { classifyFailure } from '../../src/policy/judge/classify.ts'
import { type Config, parseConfig } from '../../src/policy/config.ts'
import type { MissingReading, Reading } from '../../src/policy/pool/readings.ts'
import { decideRequest, type RequestContext } from '../../src/policy/pool/request.ts'
import { type Refusal, respond } from '../../src/policy/respond.ts'
import { resolvePool, resolveSwitch } from '../../src/policy/settings.ts'
import { type Mark, markOf, type MarksState } from '../../src/reducers/marks.ts'
import { initialPicks, isPending, type MovedTo, type PicksState } from '../../src/reducers/picks.ts'
import { foldSession, initialState, type SessionState } from '../../src/reducers/session.ts'
import { deepFreeze, HOUR, log, MINUTE, NOON, SPENT, THROTTLED } from '../support/build.ts'
import { ALONE } from '../support/world.ts'

const PROVIDERS = ['a', 'b', 'c', 'constructor', '__proto__'] as const
const provider = fc.constantFrom(...PROVIDERS)
const route: fc.Arbitrary<Route> = fc.record({ provider, model: fc.constantFrom('m', 'n') })
const routes = fc.uniqueArray(route, { minLength: 1, maxLength: 6, selector: ({ provider: p, model }) => JSON.stringify([p, model]) })

const amount = fc.oneof(fc.constantFrom(0, -0, -1, 0.5, 1, 5, 100), fc.double({ min: -10, max: 200, noNaN: true }))
/** `at` of marks and readings lies around the present, so that some marks lapsed and some readings are old. */
const at = fc.integer({ min: NOON - 3 * HOUR, max: NOON + HOUR })
const mark = fc.record({ at, until: fc.oneof(at, fc.constantFrom(NOON, NOON + 1, NOON - 1)) })
const reading: fc.Arbitrary<Reading | MissingReading> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ remaining: amount, at }) },
  { weight: 1, arbitrary: fc.record({ missing: fc.constantFrom<MissingReading['missing']>('exit', 'timeout', 'output', 'no-service', 'spawn'), at }) },
)
/** Something for each of some providers. */
const perProvider = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.array(fc.tuple(provider, value), { maxLength: 6 }).map(entries => Object.fromEntries(entries) as Record<string, T>)

const marks: fc.Arbitrary<MarksState> = perProvider(mark).map(all =>
  Object.fromEntries(Object.entries(all).map(([name, held]): [string, Mark] => [name, { provider: name, rule: 'spent', message: 'spent', ...held }])))
const world: fc.Arbitrary<World> = fc.record({ marks, readings: perProvider(reading), now: fc.constant(NOON) })

const minimums = perProvider(fc.constantFrom(0, 0.5, 5, 50))
const config: fc.Arbitrary<Config> = fc.tuple(routes, routes, minimums, fc.boolean(), fc.boolean()).map(([one, two, minimum, failOpen, defaultEnabled]) => {
  const pooled = new Set([...one, ...two].map(({ provider: p }) => p))
  const balances = Object.entries(minimum).filter(([name]) => pooled.has(name))
    .map(([name, minimumRemaining]) => ({ provider: name, script: ['node', 'x.mjs'] as [string, string], minimumRemaining }))
  return parseConfig({ pools: { one: { routes: one }, two: { routes: two } }, balances, failOpen, defaultEnabled })
})

const rank = (grade: Grade): number => GRADES.indexOf(grade)
const routesOf = (deployment: Config, pool: string): readonly Route[] => deployment.pools[pool]?.routes ?? []
const holds = (list: readonly Route[], one: Route): boolean => list.some(other => sameRoute(other, one))
const gradeOf = (one: Route, known: World, deployment: Config): Grade => standingOf(one, known, deployment).grade
const start = (known: World, deployment: Config): Choice => chooseStart('one', known, deployment)!

/** More allowance: a reading that is higher, or a mark that is gone. */
function richer(known: World, name: string, more: number | 'unmarked'): World {
  if (more === 'unmarked') return { ...known, marks: Object.fromEntries(Object.entries(known.marks).filter(([held]) => held !== name)) }
  const last = Object.hasOwn(known.readings, name) ? known.readings[name] : undefined
  return last === undefined || 'missing' in last ? known : { ...known, readings: { ...known.readings, [name]: { ...last, remaining: last.remaining + more } } }
}
const more = fc.oneof(fc.constant('unmarked' as const), fc.double({ min: 0, max: 100, noNaN: true }))

describe('choosing where to start, for any pool, marks and readings', () => {
  it('answers with a route of the pool, the first of the best grade there is', () => {
    fc.assert(fc.property(world, config, (known, deployment) => {
      const choice = start(deepFreeze(known), deployment)
      const grades = routesOf(deployment, 'one').map(one => gradeOf(one, known, deployment))
      expect(choice.standings.map(({ grade }) => grade)).toEqual(grades)
      expect(routesOf(deployment, 'one').indexOf(choice.route)).toBe(grades.indexOf(GRADES.find(grade => grades.includes(grade))!))
    }), { numRuns: 500 })
  })

  it('never answers with a marked route while there is one without a mark', () => {
    fc.assert(fc.property(world, config, (known, deployment) => {
      const held = (route: Route): boolean => markOf(known.marks, route, NOON) !== undefined
      const { route: chosen } = start(known, deployment)
      if (held(chosen)) expect(routesOf(deployment, 'one').every(held)).toBe(true)
    }), { numRuns: 500 })
  })

  it('never answers with a route below its threshold, or unread with failOpen off, while there is a usable one', () => {
    fc.assert(fc.property(world, config, (known, deployment) => {
      const { grade, standings } = start(known, deployment)
      if (grade !== 'usable') expect(standings.some(standing => standing.grade === 'usable')).toBe(false)
    }), { numRuns: 300 })
  })

  it('is not made worse by more allowance', () => {
    fc.assert(fc.property(world, config, provider, more, (known, deployment, name, extra) => {
      const [before, after] = [start(known, deployment), start(richer(known, name, extra), deployment)]
      expect(rank(after.grade)).toBeLessThanOrEqual(rank(before.grade))
      // Who gained nothing keeps its place: the choice moves only to the one that gained.
      if (!sameRoute(before.route, after.route)) expect(after.route.provider).toBe(name)
    }), { numRuns: 500 })
  })

  it('is the same for the same inputs, with the same reason, whatever else is known', () => {
    fc.assert(fc.property(world, config, (known, deployment) => {
      const choice = JSON.stringify(start(known, deployment))
      expect(JSON.stringify(start(structuredClone(known), deployment))).toBe(choice)
      const stranger = { provider: 'stranger', at: NOON, until: NOON + HOUR, rule: 'r', message: 'm' }
      expect(JSON.stringify(start({ ...known, marks: { ...known.marks, stranger }, readings: { ...known.readings, stranger: { remaining: 0, at: NOON } } }, deployment))).toBe(choice)
    }), { numRuns: 300 })
  })

  it('takes a mark that lapsed for none', () => {
    fc.assert(fc.property(world, config, (known, deployment) => {
      const live = Object.fromEntries(Object.entries(known.marks).filter(([, { until }]) => until > NOON))
      expect(start({ ...known, marks: live }, deployment)).toEqual(start(known, deployment))
      expect(start({ ...known, now: NOON + HOUR }, deployment)).toEqual(start({ ...known, marks: {} }, deployment))
    }), { numRuns: 300 })
  })

  it('asks readings for nothing but what remains', () => {
    fc.assert(fc.property(world, config, (known, deployment) => {
      const plain = Object.fromEntries(Object.entries(known.readings).filter(([, last]) => !('missing' in last)).map(([name, last]) => [name, { ...last, at: 0, error: 'refused', resetsAt: 'never' } as Reading]))
      expect(start({ ...known, readings: plain }, deployment).route).toEqual(start(known, deployment).route)
    }), { numRuns: 200 })
  })
})

describe('choosing where to move, for any pool, marks and readings', () => {
  it('answers with the best other route of the pool that is not out of allowance, or with none', () => {
    fc.assert(fc.property(world, config, fc.array(route, { maxLength: 4 }), (known, deployment, except) => {
      const choice = chooseMove('one', deepFreeze(except), deepFreeze(known), deployment)
      const targets = routesOf(deployment, 'one').filter(one => !holds(except, one) && !['marked', 'empty'].includes(gradeOf(one, known, deployment)))
      const bestRank = Math.min(...targets.map(one => rank(gradeOf(one, known, deployment))))
      expect(choice?.route).toEqual(targets.find(one => rank(gradeOf(one, known, deployment)) === bestRank))
      if (choice !== undefined) expect(choice.grade).toBe(gradeOf(choice.route, known, deployment))
    }), { numRuns: 600 })
  })

  it('is not made worse by more allowance, nor by fewer exceptions', () => {
    const worth = (choice: Choice | undefined): number => choice === undefined ? GRADES.length : rank(choice.grade)
    fc.assert(fc.property(world, config, fc.array(route, { maxLength: 4 }), provider, more, (known, deployment, except, name, extra) => {
      const before = worth(chooseMove('one', except, known, deployment))
      expect(worth(chooseMove('one', except, richer(known, name, extra), deployment))).toBeLessThanOrEqual(before)
      expect(worth(chooseMove('one', except.slice(1), known, deployment))).toBeLessThanOrEqual(before)
    }), { numRuns: 400 })
  })
})

const settings = fc.constantFrom(
  '/quota-pool one', '/quota-pool two', '/quota-pool off', '/quota-pool default', '/quota-pool gone', '/quota-pool inherit one',
  '/quota-retry on', '/quota-retry off', '/quota-retry inherit off', '/quota-retry default',
)
/** A session with some settings, maybe in a step in which some routes refused. */
const session: fc.Arbitrary<SessionState> = fc.tuple(fc.array(settings, { maxLength: 3 }), fc.boolean(), fc.array(fc.tuple(route, fc.boolean()), { maxLength: 3 }), fc.array(settings, { maxLength: 1 }))
  .map(([before, inTurn, refused, after]) => {
    const given = log()
    for (const line of before) given.after(MINUTE).command(line)
    if (inTurn) given.turn().step()
    for (const [{ provider: name, model }, spent] of inTurn ? refused : []) given.asks(name, model).refused(spent ? SPENT : THROTTLED)
    for (const line of after) given.after(MINUTE).command(line)
    return foldSession(given.rows)
  })
const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null })
const to: fc.Arbitrary<MovedTo> = fc.record({ provider, model: fc.constantFrom('m', 'n'), pool: fc.constantFrom('one', 'two', 'gone', null) })
const place = fc.constantFrom({ turn: null, step: null }, { turn: 1, step: 1 }, { turn: 1, step: 2 })
/** What a log may say of where requests go, and what only a damaged one can. */
const picks: fc.Arbitrary<PicksState> = fc.oneof(
  fc.constant(initialPicks),
  fc.record({
    base: orNull(route), to: orNull(to), picked: orNull(route), stands: fc.boolean(), overruled: fc.boolean(), asked: place,
    moved: fc.constant(null), left: fc.constant([]), put: fc.constant(null),
  }),
)
const picking = fc.tuple(session, picks).map(([state, known]): SessionState => ({ ...state, picks: known }))
const request: fc.Arbitrary<RequestContext> = fc.record({ base: route, state: picking, world, unfit: fc.array(route, { maxLength: 2 }) })
/** Where the session is: where it was moved to, or where the harness has it. */
const currentOf = ({ base, state }: RequestContext): Route => state.picks.to ?? base

describe('deciding where a request goes', () => {
  it('always answers: with the harness\'s route, the one moved to before, or one of the governing pool, for a reason that holds', () => {
    fc.assert(fc.property(request, config, (given, deployment) => {
      const { base, state } = given
      const { route: target, why } = decideRequest(deepFreeze(given), deployment)
      if (why.kind === 'picked') expect([base, state.picks.to].some(one => sameRoute(one, target))).toBe(true)
      else if (why.kind === 'as-it-is') expect(sameRoute(target, base)).toBe(true)
      else if (why.kind === 'moved-before') expect(sameRoute(target, state.picks.to)).toBe(true)
      else {
        const from = why.kind === 'assigned' ? base : currentOf(given)
        expect(why.choice.pool).toBe(resolvePool(state.settings, from, deployment).pool)
        expect(target).toEqual(why.choice.route)
        expect(holds(routesOf(deployment, why.choice.pool), target)).toBe(true)
      }
    }), { numRuns: 600 })
  })

  it('replaces a route only when its own provider is marked, by one that is neither marked nor empty nor refused here before', () => {
    fc.assert(fc.property(request, config, (given, deployment) => {
      const { state, world: known, unfit } = given
      const { route: target, why } = decideRequest(given, deployment)
      if (why.kind !== 'marked') return
      const current = currentOf(given)
      expect(gradeOf(current, known, deployment)).toBe('marked')
      expect(['marked', 'empty']).not.toContain(gradeOf(target, known, deployment))
      expect(holds([...state.step.refused.map(refused => refused.route), ...unfit ?? [], current], target)).toBe(false)
      expect(resolveSwitch(state.settings, deployment).enabled).toBe(true)
    }), { numRuns: 600 })
  })

  it('does replace it, when the session is on, nobody picked it and the pool holds such a route', () => {
    fc.assert(fc.property(route, world, session, config, (base, known, folded, deployment) => {
      const state = { ...folded, picks: initialPicks }
      const { pool } = resolvePool(state.settings, base, deployment)
      if (state.settings.assigned || pool === null || !holds(routesOf(deployment, pool), base)) return
      const expected = gradeOf(base, known, deployment) === 'marked' && resolveSwitch(state.settings, deployment).enabled
        ? chooseMove(pool, [base, ...state.step.refused.map(refused => refused.route)], known, deployment) : undefined
      expect(decideRequest({ base, state, world: known }, deployment).route).toEqual(expected?.route ?? base)
    }), { numRuns: 600 })
  })

  it('a pick always wins', () => {
    let won = 0
    fc.assert(fc.property(request, config, (given, deployment) => {
      const { base, state: { picks: { base: before, to: moved }, step } } = given
      if (before === null || holds([before, moved, step.route].filter(known => known !== null), base)) return
      const { route: target, why } = decideRequest(given, deployment)
      expect([target, why.kind]).toEqual([base, 'picked'])
      won += 1
    }), { numRuns: 600 })
    expect(won).toBeGreaterThan(100)
  })

  it('a model that was picked and not asked yet is asked next, whatever the harness would use, unless a pool was chosen since', () => {
    let pending = 0
    fc.assert(fc.property(request, config, (drawn, deployment) => {
      const { base, state: { settings: stated, step } } = drawn
      const known = { ...drawn.state.picks, picked: drawn.state.picks.to }
      const given = { ...drawn, state: { ...drawn.state, picks: known } }
      if (!isPending(known) || stated.assigned || (known.base !== null && !holds([known.base, known.to!, ...step.route === null ? [] : [step.route]], base))) return
      expect(decideRequest(given, deployment)).toMatchObject({ route: { provider: known.to!.provider, model: known.to!.model }, why: { kind: 'picked' }, notes: [] })
      pending += 1
    }), { numRuns: 1_500 })
    expect(pending).toBeGreaterThan(2)
  })

  it('never moves a session that states off or whose switch is off, and once at most for a pool it was put in', () => {
    fc.assert(fc.property(request, config, (given, deployment) => {
      const { settings: stated } = given.state
      const { why } = decideRequest(given, deployment)
      if (!stated.assigned) expect(why.kind).not.toBe('assigned')
      if (stated.pool?.value === 'off') expect(['as-it-is', 'moved-before', 'picked']).toContain(why.kind)
      if (!resolveSwitch(stated, deployment).enabled) expect(why.kind).not.toBe('marked')
    }), { numRuns: 300 })
  })

  it('reads no log: of the session only its settings, where it stands, what was picked and the refusals of its step count', () => {
    fc.assert(fc.property(request, config, (given, deployment) => {
      const { picks: known, settings: stated, step: { refused, route: last, step, turn } } = given.state
      const state = { ...initialState, picks: known, settings: stated, step: { ...initialState.step, refused, route: last, step, turn } }
      expect(decideRequest({ ...given, state }, deployment)).toEqual(decideRequest(given, deployment))
    }), { numRuns: 150 })
  })
})

const FAILURES: readonly Failure[] = [
  SPENT, THROTTLED,
  { code: 'QUOTA', message: '429: quota exceeded for requests per minute, retry in 20 s', status: 429 },
  { code: 'RATE_LIMIT', message: '429: 已达到 Token Plan 用量上限' },
  { code: 'AUTH', message: '401: invalid api key', status: 401 },
  { code: 'INVALID_REQUEST', message: '400: Invalid `signature` in `thinking` block', status: 400 },
  { code: 'SERVER', message: '503: overloaded', status: 503 },
]
const failure = fc.constantFrom(...FAILURES)
const ending = fc.oneof(fc.constant('moves' as const), fc.constant('waits' as const), fc.constant('retries' as const))

/** The last failure of a step in which routes failed one after the other, and were left by a move, a wait or a quick retry. */
const refusal: fc.Arbitrary<Refusal> = fc.tuple(
  fc.array(settings, { maxLength: 2 }), fc.array(fc.tuple(route, failure, ending), { minLength: 1, maxLength: 4 }), world, fc.array(route, { maxLength: 2 }),
).map(([lines, failures, known, unfit]) => {
  const given = log()
  for (const line of lines) given.command(line)
  given.turn().step()
  for (const [index, [{ provider: name, model }, failed]] of failures.entries()) {
    given.asks(name, model).refused(failed)
    const next = failures[index + 1]
    if (next === undefined) break
    const [, , how] = failures[index]!
    if (how === 'moves') given.moves('one', next[0].provider, next[0].model, failed).starts()
    else if (how === 'waits') given.waits(HOUR, { failure: failed }).starts()
    else given.retries().starts()
  }
  const last = failures.at(-1)![1]
  const state = foldSession(given.rows)
  return { state, failure: last, provider: given.provider, turn: given.turnNo, step: given.stepNo, world: known, unfit, ...ALONE }
})
const limited = fc.tuple(config, fc.constantFrom(undefined, 1, HOUR)).map(([deployment, maxWaitMs]): Config => maxWaitMs === undefined ? deployment : { ...deployment, maxWaitMs })

describe('answering a failed request', () => {
  const read = ({ failure: failed, provider: name }: Refusal) => classifyFailure({ ...failed, provider: name }, { now: NOON })

  it('never moves to the provider that is out of allowance, to a route that refused in this step, or to one that is not fit', () => {
    fc.assert(fc.property(refusal, limited, (given, deployment) => {
      const response = respond(deepFreeze(given), deployment)
      if (response.kind !== 'move') return
      const { route: target, pool, grade } = response.choice
      const { state, provider: failing, unfit } = given
      expect(pool).toBe(resolvePool(state.settings, state.step.route, deployment).pool)
      expect(holds(routesOf(deployment, pool), target)).toBe(true)
      expect(holds([...state.step.refused.map(refused => refused.route), ...unfit, state.step.route!], target)).toBe(false)
      expect(['marked', 'empty']).not.toContain(grade)
      if (response.verdict.kind === 'spent-allowance') expect(target.provider).not.toBe(failing)
    }), { numRuns: 600 })
  })

  it('leaves a spent allowance to the harness only when switched off or when the longest wait is over', () => {
    fc.assert(fc.property(refusal, limited, (given, deployment) => {
      if (read(given).kind !== 'spent-allowance') return
      const response = respond(given, deployment)
      const enabled = resolveSwitch(given.state.settings, deployment).enabled
      const { open } = given.state.entries
      const over = deployment.maxWaitMs !== undefined && open !== null && open.turn === given.turn && open.since + deployment.maxWaitMs <= NOON
      if (!enabled) expect(response).toMatchObject({ kind: 'delegate', why: 'switched-off' })
      else if (response.kind === 'delegate') expect([response.why, over]).toEqual(['longest-wait-reached', true])
      else if (response.kind === 'wait') expect(over).toBe(false)
    }), { numRuns: 600 })
  })

  it('moves or waits for another failure only where a move of this step led to its route, or the session is out of allowance', () => {
    fc.assert(fc.property(refusal, limited, (given, deployment) => {
      if (read(given).kind === 'spent-allowance') return
      const response = respond(given, deployment)
      const { last } = given.state.failovers
      const moved = last !== null && last.turn === given.turn && last.step === given.step && sameRoute(last.to, given.state.step.route)
      if (!moved || !resolveSwitch(given.state.settings, deployment).enabled) expect(['delegate', 'retry', ...given.state.entries.open === null ? [] : ['wait']]).toContain(response.kind)
      expect(response).not.toHaveProperty('mark')
    }), { numRuns: 600 })
  })

  it('marks the provider that refused for a spent allowance, for no longer than the cooldown, whatever the session\'s switch says', () => {
    fc.assert(fc.property(refusal, limited, (given, deployment) => {
      const { kind, throttle } = read(given)
      const { mark: held } = respond(given, deployment)
      expect(held !== undefined).toBe(kind === 'spent-allowance' && throttle !== true)
      if (held === undefined) return
      expect(held.provider).toBe(given.provider)
      expect(held.at).toBe(NOON)
      expect(held.until > NOON && held.until <= NOON + deployment.exhaustedCooldownMs).toBe(true)
    }), { numRuns: 400 })
  })

  it('moves while the pool holds a route to move to, and waits only then', () => {
    fc.assert(fc.property(refusal, config, (given, deployment) => {
      const verdict = read(given)
      if (verdict.kind !== 'spent-allowance' || verdict.throttle === true || !resolveSwitch(given.state.settings, deployment).enabled) return
      const { state, unfit, world: known, provider: failing } = given
      const { pool } = resolvePool(state.settings, state.step.route, deployment)
      const open = pool === null ? [] : routesOf(deployment, pool).filter(one => one.provider !== failing
        && !['marked', 'empty'].includes(gradeOf(one, known, deployment)) && !holds([...unfit, ...state.step.refused.map(refused => refused.route)], one))
      expect(respond(given, deployment).kind).toBe(open.length > 0 ? 'move' : 'wait')
    }), { numRuns: 600 })
  })

  it('waits for a route that is out of allowance, with what that route said last', () => {
    fc.assert(fc.property(refusal, config, (given, deployment) => {
      const response = respond(given, deployment)
      const first = given.state.step.refused[0]!
      // What a step waits for after it met failures of several kinds is in the examples.
      if (response.kind !== 'wait' || response.why === 'outage' || classifyFailure({ ...first.failure, provider: first.route.provider }, { now: NOON }).kind !== 'spent-allowance') return
      expect(response.verdict.kind).toBe('spent-allowance')
      const on = response.on ?? given.state.step.route
      const said = given.state.step.refused.find(refused => sameRoute(refused.route, on))
      expect(response.failure).toEqual(said?.failure)
    }), { numRuns: 600 })
  })
})
