import { describe, expect, it } from 'vitest'
import type { World } from '../../src/policy/pool/choose.ts'
import { type ConfigInput, parseConfig } from '../../src/policy/config.ts'
import { outlookOf } from '../../src/projections/outlook.ts'
import { routesReport, routesText, type UnfitRoute } from '../../src/projections/routes.ts'
import { clockText } from '../../src/projections/text.ts'
import { deepFreeze, HOUR, MINUTE, NOON } from '../support/build.ts'
import { A, B, C, mark, world } from '../support/world.ts'

const script: [string, ...string[]] = ['node', 'x.mjs']
const deployment = (more: ConfigInput = {}) => parseConfig({
  pools: { medium: { routes: [{ ...A, reasoningEffort: 'high' }, B] }, spare: { routes: [C] } },
  balances: [{ provider: 'a', script, minimumRemaining: 5 }],
  ...more,
})
const report = (known: World = world(), unfit: readonly UnfitRoute[] = [], config = deployment(), absent: readonly UnfitRoute[] = []) => routesReport(deepFreeze(known), config, deepFreeze({ unfit, absent }))
const text = (known?: World, unfit?: readonly UnfitRoute[], only?: string, config = deployment()) => routesText(report(known, unfit, config), only)

describe('the report of the routes', () => {
  it('lists every pool and route in declared order, and which would be chosen now', () => {
    expect(report()).toEqual({
      at: NOON, failOpen: true,
      pools: [
        { pool: 'medium', chosen: 0, routes: [{ ...A, reasoningEffort: 'high', grade: 'usable', minimumRemaining: 5 }, { ...B, grade: 'usable', minimumRemaining: 0 }] },
        { pool: 'spare', chosen: 0, routes: [{ ...C, grade: 'usable', minimumRemaining: 0 }] },
      ],
    })
  })

  it('says what each route rests on: its reading, why it has none, its mark', () => {
    const { pools } = report(world({ marks: [mark('a', { resetHint: 'resets at 5pm' })], left: { a: 50, b: 'timeout' } }))
    expect(pools[0]).toMatchObject({
      chosen: 1,
      routes: [
        { grade: 'marked', reading: { remaining: 50, at: NOON }, mark: { scope: 'provider', at: NOON, until: NOON + HOUR, rule: 'spent', message: 'Insufficient Balance', resetHint: 'resets at 5pm' } },
        { grade: 'usable', missing: { missing: 'timeout', at: NOON } },
      ],
    })
  })

  it('has the place of the chosen route also where a provider is in the pool twice', () => {
    const config = deployment({ pools: { medium: { routes: [A, { provider: 'b', model: 'x' }, B] } }, balances: [] })
    expect(report(world({ marked: ['a'] }), [], config).pools[0]?.chosen).toBe(1)
  })

  it('names the newest word on a route that did not fit', () => {
    const unfit = [{ route: B, why: 'old', at: NOON - HOUR }, { route: C, why: 'other', at: NOON }, { route: B, why: 'new', at: NOON }]
    expect(report(world(), unfit).pools[0]?.routes.map(route => route.unfit?.why)).toEqual([undefined, 'new'])
  })

  it('says that a mark is of one model', () => {
    const config = deployment({ pools: { medium: { routes: [A, { provider: 'a', model: 'small' }] } }, balances: [] })
    const { pools } = report(world({ marks: [mark('a', { model: 'm' })] }), [], config)
    expect(pools[0]).toMatchObject({ chosen: 1, routes: [{ grade: 'marked', mark: { scope: 'route' } }, { grade: 'usable' }] })
    expect(pools[0]?.routes[1]).not.toHaveProperty('mark')
  })

  it('drops a mark that lapsed', () => {
    expect(report(world({ marked: ['a'], now: NOON + HOUR })).pools[0]?.routes[0]).not.toHaveProperty('mark')
  })

  it('is plain JSON', () => {
    const full = report(world({ marked: ['a'], left: { a: 1, b: 'exit' } }), [{ route: B, why: 'no such model', at: NOON }])
    expect(JSON.parse(JSON.stringify(full))).toEqual(full)
  })
})

describe('a route that the host does not have', () => {
  const absent = [{ route: A, why: 'no such model', at: NOON }]

  it('is neither usable nor chosen', () => {
    const { pools } = report(world(), [], deployment(), absent)
    expect(pools[0]).toMatchObject({ chosen: 1, routes: [{ grade: 'absent', absent: 'no such model' }, { grade: 'usable' }] })
    const printed = routesText({ at: NOON, failOpen: true, pools })
    expect(printed).toContain('would choose b/n (usable):\n    1. a/m (high): not on this host; no reading\n       this host would not send to it: no such model\n  > 2. b/n')
  })

  it('is absent also where its provider is out of allowance, and says so once', () => {
    const { pools } = report(world({ marked: ['a'] }), absent, deployment(), absent)
    expect(pools[0]?.routes[0]).toMatchObject({ grade: 'absent', mark: { rule: 'spent' } })
    expect(pools[0]?.routes[0]).not.toHaveProperty('unfit')
  })

  it('leaves a pool without a choice where it is the only one', () => {
    const { pools } = report(world(), [], deployment(), [{ route: C, why: 'gone', at: NOON }])
    expect(pools[1]).toMatchObject({ chosen: -1 })
    expect(outlookOf(pools[1]!)).toBe('none')
    expect(routesText({ at: NOON, failOpen: true, pools }, 'spare')).toContain('Pool spare; this host has none of its routes:')
  })
})

describe('what choosing from a pool comes to', () => {
  it.each([['usable', { left: { c: 7 } }], ['spent', { left: { c: 0 } }], ['spent', { marked: ['c'] }]])('is %s', (expected, known) => {
    expect(outlookOf(report(world(known)).pools[1]!)).toBe(expected)
  })
})

describe('/quota-routes', () => {
  it('shows the time of a reset on the clock of every other time, and one that is none as written', () => {
    const reading = (resetsAt: string) => ({ ...world(), readings: { b: { remaining: 4, resetsAt, at: NOON } } })
    expect(text(reading('2026-10-01T00:00:00Z'))).toContain(`resets ${clockText(Date.parse('2026-10-01T00:00:00Z'))}\n`)
    expect(text(reading('on Monday'))).toContain('resets on Monday\n')
  })

  it('says where a session would start, and why', () => {
    expect(text()).toBe([
      'Pool medium; /quota-pool medium would choose a/m (usable):',
      '  > 1. a/m (high): usable; no reading',
      '    2. b/n: usable; no reading',
      'Pool spare; /quota-pool spare would choose c/o (usable):',
      '  > 1. c/o: usable; no reading',
    ].join('\n'))
  })

  it('shows a reading with its unit, its age and the threshold', () => {
    const known = { ...world({ now: NOON + MINUTE }), readings: { a: { remaining: 4, unit: 'percent', maximum: 100, resetsAt: '2026-10-01', error: 'slow', at: NOON } } }
    expect(text(known)).toContain('    1. a/m (high): below its minimum; 4% left, read 1 min ago, not chosen below 5%, resets 2026-10-01, the provider says: slow\n  > 2. b/n')
  })

  it('shows a mark with its age, its end and the provider\'s words', () => {
    expect(text(world({ marks: [mark('a', { resetHint: 'try again at 5pm' })], now: NOON + MINUTE })))
      .toContain(`1. a/m (high): out of allowance; no reading\n       refused 1 min ago (spent: Insufficient Balance); marked until ${clockText(NOON + HOUR)}; it says: try again at 5pm\n`)
  })

  it('tells no reading from a run that gave none, and unread from usable', () => {
    expect(text(world({ left: { a: 'timeout' } }))).toContain('a/m (high): usable; no reading (timeout)')
    expect(text(world(), [], 'spare', deployment({ failOpen: false }))).toBe(
      'Pool spare; /quota-pool spare would choose c/o (not read, and failOpen is off):\n  > 1. c/o: not read, and failOpen is off; no reading')
  })

  it('says of which route it would be when all are out of allowance', () => {
    expect(text(world({ marked: ['a', 'b'] }), [], 'medium')).toMatch(/^Pool medium; none of its routes has allowance, and a\/m would be asked first:\n {4}1\./)
    expect(text(world({ left: { c: 0 } }), [], 'spare')).toContain('c/o: nothing left; 0 left, read 0 ms ago')
  })

  it('names a route that did not fit', () => {
    expect(text(world({ now: NOON + MINUTE }), [{ route: B, why: 'no adapter for "b"', at: NOON }])).toContain('b/n: usable; no reading\n       not fit for a session 1 min ago: no adapter for "b"')
  })

  it('shows one pool alone, and nothing for one that is not there', () => {
    expect(text(world(), [], 'spare')?.split('\n')).toHaveLength(2)
    for (const only of ['gone', 'constructor', '']) expect(text(world(), [], only)).toBeUndefined()
  })

  it('says so when no pool is configured', () => {
    expect(text(world(), [], undefined, parseConfig({}))).toBe('No pools are configured.')
    expect(text(world(), [], 'medium', parseConfig({}))).toBeUndefined()
  })

  it('lets no foreign text write over the terminal', () => {
    const evil = 'x\u001b[2J\r\ny\u2028z'
    const known = { ...world({ marks: [mark('a', { message: evil, resetHint: evil })] }), readings: { b: { remaining: 1, unit: evil, resetsAt: evil, error: evil, at: NOON } } }
    const lines = text(known, [{ route: B, why: evil, at: NOON }])?.split('\n') ?? []
    expect(lines).toHaveLength(7)
    for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/)
  })
})
