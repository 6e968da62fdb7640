import { describe, expect, it } from 'vitest'
import { chooseMove, chooseStart, clears, minimumOf, standingOf } from '../../../src/policy/pool/choose.ts'
import { type ConfigInput, parseConfig } from '../../../src/policy/config.ts'
import { deepFreeze, HOUR, MINUTE, NOON } from '../../support/build.ts'
import { A, B, C, mark, world } from '../../support/world.ts'

const script: [string, ...string[]] = ['node', 'x.mjs']
/** Three routes of three providers; `a` needs 5 left to be chosen, `b` needs 1. */
const deployment = (more: ConfigInput = {}) => parseConfig({
  pools: { medium: { routes: [A, B, C] } },
  balances: [{ provider: 'a', script, minimumRemaining: 5 }, { provider: 'b', script, minimumRemaining: 1 }],
  ...more,
})
const closed = deployment({ failOpen: false })

const start = (known: Parameters<typeof world>[0] = {}, config = deployment()) => chooseStart('medium', deepFreeze(world(known)), config)
const move = (except: readonly typeof A[], known: Parameters<typeof world>[0] = {}, config = deployment()) =>
  chooseMove('medium', except, deepFreeze(world(known)), config)
const name = (choice: ReturnType<typeof start>) => choice === undefined ? undefined : `${choice.route.provider} ${choice.grade}`

describe('choosing a route', () => {
  it('an exhaustion mark decides first, whatever the reading says', () => {
    expect(name(start({ marked: ['a'], left: { a: 100 } }))).toBe('b usable')
  })

  it('a mark makes its provider unusable until it lapses, and not a moment longer', () => {
    expect(name(start({ marked: ['a'], now: NOON + HOUR - 1 }))).toBe('b usable')
    expect(name(start({ marked: ['a'], now: NOON + HOUR }))).toBe('a usable')
  })

  it('a mark works for a provider that publishes no balance at all', () => {
    expect(name(start({ marked: ['a', 'b', 'c'], left: { a: 9, b: 9 } }))).toBe('a marked')
    expect(name(start({ marked: ['c'], left: { a: 1, b: 0 } }))).toBe('a low')
  })

  it('a mark speaks for every route of its provider and for no other', () => {
    const other = { provider: 'a', model: 'other' }
    const config = deployment({ pools: { medium: { routes: [A, other, B] } } })
    expect(start({ marked: ['a'] }, config)?.standings.map(({ grade }) => grade)).toEqual(['marked', 'marked', 'usable'])
  })

  it('then a reading decides, against that provider\'s own minimum', () => {
    expect(name(start({ left: { a: 4.9, b: 1 } }))).toBe('b usable')
    expect(name(start({ left: { a: 5, b: 100 } }))).toBe('a usable')
  })

  it('the minimum is zero where a provider declares none, and nothing left is still nothing left', () => {
    expect([minimumOf(deployment(), 'a'), minimumOf(deployment(), 'c'), minimumOf(deployment(), 'constructor')]).toEqual([5, 0, 0])
    expect(name(start({ left: { a: 1, b: 0, c: 0.01 } }))).toBe('c usable')
    expect(name(start({ left: { a: 0, b: 0, c: 0 } }))).toBe('a empty')
  })

  it.each([[0, 0, false], [-1, 0, false], [-0, 0, false], [0.001, 0, true], [5, 5, true], [4.999, 5, false], [1e308, 5, true]])(
    'a reading of %d clears a minimum of %d: %s', (remaining, minimum, clear) => {
      expect(clears({ remaining, at: NOON }, minimum)).toBe(clear)
    })

  it('a route that nothing reported on is usable while failOpen is on', () => {
    expect(name(start({ left: { b: 100 } }))).toBe('a usable')
    expect(name(start({ left: { a: 'timeout', b: 100 } }))).toBe('a usable')
  })

  it('a route that nothing reported on is unusable when failOpen is off', () => {
    expect(name(start({ left: { b: 100 } }, closed))).toBe('b usable')
    expect(name(start({ left: { a: 'exit', b: 100 } }, closed))).toBe('b usable')
    expect(start({}, closed)?.standings.map(({ grade }) => grade)).toEqual(['unread', 'unread', 'unread'])
  })

  it('declared order breaks ties', () => {
    expect(name(start())).toBe('a usable')
    expect(name(start({ left: { a: 6, b: 600, c: 6_000 } }))).toBe('a usable')
    expect(name(start({ left: { a: 1, b: 0.5, c: 0 } }))).toBe('a low')
  })

  it('a provider\'s own words beside a reading decide nothing', () => {
    const known = world({ left: { b: 100 } })
    const readings = { ...known.readings, a: { remaining: 50, at: NOON, error: 'weekly limit reached' } }
    expect(chooseStart('medium', { ...known, readings }, deployment())?.route).toEqual(A)
  })

  it('an old reading is better than none', () => {
    expect(name(start({ left: { a: 1 }, now: NOON + 100 * HOUR }))).toBe('b usable')
  })
})

describe('a pool whose routes are all unusable', () => {
  it('still answers with its first route, for a request has to run somewhere', () => {
    expect(name(start({ marked: ['a', 'b', 'c'] }))).toBe('a marked')
    expect(name(start({}, closed))).toBe('a unread')
  })

  it('answers with the first of the best that is left', () => {
    expect(name(start({ marked: ['a'], left: { b: 0, c: 0 } }))).toBe('b empty')
    expect(name(start({ marked: ['a'], left: { b: 0.5, c: 0 } }))).toBe('b low')
    expect(name(start({ left: { a: 0, c: 'output', b: 0.5 } }, closed))).toBe('b low')
    expect(name(start({ left: { a: 0, b: 0 } }, closed))).toBe('c unread')
  })

  it('never answers with a marked route while there is one without a mark', () => {
    expect(name(start({ marked: ['a', 'b'], left: { c: -5 } }))).toBe('c empty')
    expect(name(start({ marked: ['a', 'c'] }, closed))).toBe('b unread')
  })
})

describe('a pool that was never declared', () => {
  it.each(['small', 'constructor', '__proto__', 'toString', ''])('is answered with nothing: "%s"', (pool) => {
    expect(chooseStart(pool, world(), deployment())).toBeUndefined()
    expect(chooseMove(pool, [], world(), deployment())).toBeUndefined()
  })
})

describe('moving a session whose route is out of allowance', () => {
  it('goes to the first other route in declared order that clears its own threshold', () => {
    expect(name(move([A], { marked: ['a'] }))).toBe('b usable')
    expect(name(move([B], { marked: ['b'] }))).toBe('a usable')
    expect(name(move([A], { marked: ['a'], left: { b: 0.5, c: 3 } }))).toBe('c usable')
  })

  it('or failing that to any that is merely not out of allowance, for it can still be the one that answers', () => {
    expect(name(move([A], { marked: ['a', 'c'], left: { b: 0.5 } }))).toBe('b low')
    expect(name(move([A], { marked: ['a'] }, closed))).toBe('b unread')
  })

  it('goes nowhere when every other route is out of allowance, by its provider\'s word or by a reading', () => {
    expect(move([A], { marked: ['a', 'b'], left: { c: 0 } })).toBeUndefined()
    expect(move([A], { marked: ['b', 'c'], left: { a: 100 } })).toBeUndefined()
  })

  it('goes to no route that is excepted, but to another of the same provider', () => {
    const other = { provider: 'a', model: 'other' }
    const config = deployment({ pools: { medium: { routes: [A, other, B] } } })
    expect(chooseMove('medium', [A], world(), config)?.route).toEqual(other)
    expect(move([A, B, C])).toBeUndefined()
  })

  it('goes to a route of the pool although the session is on none of them', () => {
    expect(name(move([{ provider: 'z', model: 'z' }]))).toBe('a usable')
  })

  it('goes back to the first route once its mark is gone', () => {
    expect(name(move([B], { marked: ['a', 'b'], now: NOON + HOUR - 1 }))).toBe('c usable')
    expect(name(move([B], { marks: [mark('a'), mark('b', { until: NOON + 2 * HOUR })], now: NOON + HOUR }))).toBe('a usable')
  })
})

describe('the reason of a choice', () => {
  it('is data: how each route of the pool stood, in declared order, and what that rests on', () => {
    expect(start({ marked: ['a'], left: { a: 9, b: 0.5, c: 'timeout' } })).toEqual({
      pool: 'medium', route: C, grade: 'usable',
      standings: [
        { route: A, grade: 'marked', minimumRemaining: 5, reading: { remaining: 9, at: NOON }, mark: mark('a') },
        { route: B, grade: 'low', minimumRemaining: 1, reading: { remaining: 0.5, at: NOON } },
        { route: C, grade: 'usable', minimumRemaining: 0 },
      ],
    })
  })

  it('of a move names the routes that were no targets, too', () => {
    expect(move([A, B])).toMatchObject({ route: C, standings: [{ route: A }, { route: B }, { route: C }] })
  })

  it('carries the effort that the pool gives its route', () => {
    const config = deployment({ pools: { medium: { routes: [{ ...A, reasoningEffort: 'high' }, B] } } })
    expect(start({}, config)?.route).toEqual({ ...A, reasoningEffort: 'high' })
  })

  it('leaves out a mark that lapsed and a run that gave no reading', () => {
    expect(standingOf(A, world({ marked: ['a'], left: { a: 'spawn' }, now: NOON + HOUR + MINUTE }), deployment()))
      .toEqual({ route: A, grade: 'usable', minimumRemaining: 5 })
  })
})

describe('a provider of a strange name', () => {
  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'a provider / with %s'])('is one like another: %s', (provider) => {
    const odd = { provider, model: 'm' }
    const config = deployment({ pools: { medium: { routes: [odd, B] } }, balances: [{ provider, script, minimumRemaining: 2 }] })
    expect(chooseStart('medium', world(), config)?.route).toEqual(odd)
    expect(chooseStart('medium', world({ left: { [provider]: 1 } }), config)?.route).toEqual(B)
    expect(chooseStart('medium', world({ marked: [provider] }), config)?.route).toEqual(B)
  })
})
