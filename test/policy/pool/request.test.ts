import { describe, expect, it } from 'vitest'
import type { Route } from '../../../src/events/route.ts'
import type { World } from '../../../src/policy/pool/choose.ts'
import { type ConfigInput, parseConfig } from '../../../src/policy/config.ts'
import { decideRequest, type Target } from '../../../src/policy/pool/request.ts'
import { foldSession } from '../../../src/reducers/session.ts'
import { HOUR, type Log, MINUTE, NOON, THROTTLED } from '../../support/build.ts'
import { Live, notes } from '../../support/live.ts'
import { A, B, C, world } from '../../support/world.ts'

const OUTSIDE = { provider: 'z', model: 'z' }
/** B as the harness has it once it took the route up: with the effort that the pool gives it. */
const B_TAKEN = { ...B, reasoningEffort: 'high' }
const script: [string, ...string[]] = ['node', 'x.mjs']
const deployment = (more: ConfigInput = {}) => parseConfig({
  pools: { medium: { routes: [A, { ...B, reasoningEffort: 'high' }, C] } },
  balances: [{ provider: 'a', script, minimumRemaining: 5 }],
  ...more,
})
const config = deployment()

/** A live session: every request but a refused one is answered, and the next is that of the next step. */
class Session extends Live {
  private asked = false

  /** The next request, when the harness would send it to `base`. */
  asks(base: Target, known: World = world(), { unfit = [] as readonly Route[], under = config } = {}) {
    if (this.asked && this.log.inStep) this.log.answers().step()
    const decision = this.sends(base, known, under, unfit)
    this.asked = true
    return `${decision.route.provider} ${decision.why.kind}`
  }

  /** A request of the same step once more, after a quick retry of the harness. */
  again(base: Target, known: World = world()) {
    this.log.refused(THROTTLED).retries().starts()
    this.asked = false
    return this.asks(base, known)
  }

  /** The request was refused, which moved the session. */
  redirected({ provider, model }: Route): this {
    this.log.refused().moves('medium', provider, model).starts()
    this.asked = false
    return this
  }

  does(what: (given: Log) => unknown): this {
    const before = this.log.rows.length
    what(this.log)
    if (this.log.rows.slice(before).some(row => ['step/start', 'turn/start', 'turn/end', 'llm/retry-started'].includes(row.type))) this.asked = false
    return this
  }
}
const live = (what: (given: Log) => unknown = () => {}): Session => new Session().does(what)
const aOut = world({ marked: ['a'] })
const allOut = world({ marked: ['a', 'b', 'c'] })

describe('at every request', () => {
  it('the route is replaced when its provider reported the allowance spent and the pool holds one that has not', () => {
    expect(live().asks(A, aOut)).toBe('b marked')
    expect(live().asks(A, world({ marked: ['a', 'b'] }))).toBe('c marked')
  })

  it('the reason is the choice itself, and the effort is that of the pool', () => {
    const request = { base: A, state: foldSession([]), world: aOut }
    expect(decideRequest(request, config)).toMatchObject({
      route: { ...B, reasoningEffort: 'high' },
      why: { kind: 'marked', choice: { pool: 'medium', route: B, grade: 'usable', standings: [{ grade: 'marked' }, { grade: 'usable' }, { grade: 'usable' }] } },
    })
  })

  it('the route stays when its provider has a mark and no other route is better', () => {
    expect(live().asks(A, allOut)).toBe('a as-it-is')
    expect(live().asks(A, world({ marked: ['a', 'b'], left: { c: 0 } }))).toBe('a as-it-is')
  })

  it('the route stays once the mark lapsed', () => {
    expect(live().asks(A, world({ marked: ['a'], now: NOON + HOUR }))).toBe('a as-it-is')
  })

  it.each([4, 0, -1])('a reading below the threshold does not move a session that runs: %d left', (a) => {
    expect(live().asks(A, world({ left: { a, b: 100 } }))).toBe('a as-it-is')
    expect(live().does(given => given.turn().asks().answers()).asks(A, world({ left: { a, b: 100 } }))).toBe('a as-it-is')
  })

  it('neither does a pool that was ordered anew, nor a route that became unread', () => {
    const anew = deployment({ pools: { medium: { routes: [C, B, A] } }, failOpen: false })
    expect(live().asks(A, world({ left: { c: 50 } }), { under: anew })).toBe('a as-it-is')
  })

  it('a model outside the pool is left alone, whoever stated the pool', () => {
    expect(live().asks(OUTSIDE, world({ marked: ['z'] }))).toBe('z as-it-is')
    const stated = live(given => given.command('/quota-pool inherit medium'))
    expect(stated.asks(OUTSIDE, world({ marked: ['z'] }))).toBe('z as-it-is')
    expect(stated.asks({ provider: 'a', model: 'other' }, aOut)).toBe('a picked')
  })

  it('a session with no pool is never touched', () => {
    expect(live().asks(A, aOut, { under: deployment({ pools: {}, balances: [] }) })).toBe('a as-it-is')
    expect(live(given => given.command('/quota-pool off')).asks(A, aOut)).toBe('a as-it-is')
    expect(live(given => given.command('/quota-pool gone')).asks(A, aOut)).toBe('a as-it-is')
  })

  it('a route that two pools share names neither, unless the session states one', () => {
    const shared = deployment({ pools: { one: { routes: [A, B] }, two: { routes: [A, C] } } })
    expect(live().asks(A, aOut, { under: shared })).toBe('a as-it-is')
    expect(live(given => given.command('/quota-pool inherit two')).asks(A, aOut, { under: shared })).toBe('c marked')
  })

  it('a session whose switch is off is not moved', () => {
    expect(live(given => given.command('/quota-retry off')).asks(A, aOut)).toBe('a as-it-is')
    expect(live().asks(A, aOut, { under: deployment({ defaultEnabled: false }) })).toBe('a as-it-is')
  })
})

describe('a model that the person had picked before a refusal moved the session off it', () => {
  /** Moved in its first step; the harness goes on using A, which it does for a pick alone. */
  const moved = () => {
    const session = live(given => given.turn().step().asks('a', 'm'))
    session.asks(A)
    session.redirected(B)
    session.asks(A, aOut)
    return session.does(given => given.asks('b', 'n').answers().step())
  }

  it('is left alone while its provider is marked, and used again when it is not', () => {
    const session = moved()
    expect(session.asks(A, aOut)).toBe('b moved-before')
    expect(session.again(A)).toBe('b moved-before')
    session.does(given => given.answers().step())
    expect(session.asks(A)).toBe('a picked')
    session.does(given => given.answers().step())
    expect(session.asks(A)).toBe('a as-it-is')
  })

  it('is used again at once when the person switches off', () => {
    expect(moved().does(given => given.command('/quota-retry off')).asks(A, aOut)).toBe('a picked')
  })

  it('is not, where the person put the session in a pool after it', () => {
    const session = live(given => given.turn().step())
    session.asks(OUTSIDE)
    session.does(given => given.command('/quota-pool medium'))
    expect(session.asks(OUTSIDE)).toBe('a assigned')
    session.does(given => given.asks('a', 'm').answers().step())
    expect(session.asks(OUTSIDE)).toBe('a moved-before')
    session.redirected(B)
    session.does(given => given.asks('b', 'n').answers().step())
    expect(session.asks(OUTSIDE)).toBe('b moved-before')
  })
})

describe('within a step', () => {
  const step = () => live(given => given.turn().asks('a', 'm').refused().moves('medium', 'b', 'n').starts().asks('b', 'n').refused(THROTTLED).retries().starts())

  it('a request does not go back to a route that refused in it, although its mark is gone', () => {
    expect(step().asks(A, world({ marked: ['b', 'c'] }))).toBe('b moved-before')
    expect(step().asks(A, world({ marked: ['b'] }))).toBe('c marked')
  })

  it('a wait opens a new round', () => {
    const session = step().does(given => given.refused().waits().starts())
    expect(session.asks(A, world({ marked: ['b', 'c'] }))).toBe('a marked')
  })

  it('a request does not go to a route that is not fit for it', () => {
    expect(live().asks(A, aOut, { unfit: [B] })).toBe('c marked')
    expect(live().asks(A, aOut, { unfit: [B, C] })).toBe('a as-it-is')
  })
})

describe('after a move', () => {
  it('the session stays on its new route while the harness would still use the old one', () => {
    const session = live()
    expect([session.asks(A, aOut), session.again(A, aOut), session.asks(A, aOut)]).toEqual(['b marked', 'b moved-before', 'b moved-before'])
  })

  it('the session stays on its new route once the harness took it up', () => {
    const session = live()
    expect([session.asks(A, aOut), session.asks(B_TAKEN, aOut), session.asks(B_TAKEN)]).toEqual(['b marked', 'b as-it-is', 'b as-it-is'])
  })

  it('a mark that is gone moves nobody back in mid-conversation', () => {
    const session = live()
    session.asks(A, aOut)
    expect(session.again(A, world({ marked: ['a'], now: NOON + 2 * HOUR }))).toBe('b moved-before')
  })

  it('a mark on the new route moves it on, from there', () => {
    const session = live()
    session.asks(A, aOut)
    expect(session.asks(A, world({ marked: ['a', 'b'] }))).toBe('c marked')
  })

  it('that a refusal made, the requests follow it', () => {
    const session = live()
    session.asks(A)
    expect(session.redirected(B).asks(A, aOut)).toBe('b moved-before')
    expect(session.redirected(C).asks(B, world({ marked: ['a', 'b'] }))).toBe('c moved-before')
  })

  it('that the picker shows before the next request is no pick', () => {
    const session = live()
    session.asks(A)
    expect(session.redirected(B).asks(B, aOut)).toBe('b moved-before')
    expect(session.asks(B, world({ marked: ['b'] }))).toBe('a marked')
  })

  it('leaving the pool leaves the session where it is', () => {
    const session = live()
    session.asks(A, aOut)
    session.does(given => given.command('/quota-pool off'))
    expect(session.asks(B_TAKEN, world({ marked: ['b'] }))).toBe('b as-it-is')
  })

  it('after a restart the session goes on where the log left it', () => {
    expect(live().asks(B, aOut)).toBe('b as-it-is')
    expect(live().asks(A, aOut)).toBe('b marked')
  })
})

describe('a route that the person picked', () => {
  it.each([['in the pool', C], ['outside it', OUTSIDE]])('%s is used', (_where, route) => {
    const session = live()
    session.asks(A)
    expect(session.asks(route)).toBe(`${route.provider} picked`)
    expect(session.asks(route)).toBe(`${route.provider} as-it-is`)
  })

  it('is used although its provider is marked', () => {
    const session = live()
    session.asks(A, aOut)
    session.asks(B, aOut)
    expect([session.asks(A, aOut), session.asks(A, aOut)]).toEqual(['a picked', 'a as-it-is'])
  })

  it('wins over a move that still holds', () => {
    const session = live()
    session.asks(A, aOut)
    expect(session.asks(C, aOut)).toBe('c picked')
    expect(session.asks(A, aOut)).toBe('a picked')
  })

  it('wins over the pool that the session was just put in, and over that for good', () => {
    const session = live()
    session.asks(A)
    session.does(given => given.after(MINUTE).command('/quota-pool medium').turn())
    expect(session.asks(OUTSIDE)).toBe('z picked')
    // The person stops the request, so no answer tells the log that it was made.
    session.does(given => given.cancels().turn())
    expect(session.asks(OUTSIDE)).toBe('z as-it-is')
  })

  it('gives way to a pool that the session is put in later', () => {
    const session = live()
    session.asks(A)
    session.asks(OUTSIDE)
    session.does(given => given.after(MINUTE).command('/quota-pool medium'))
    expect(session.asks(OUTSIDE)).toBe('a assigned')
  })

  it('is forgotten with the next move', () => {
    const session = live()
    session.asks(B)
    session.asks(A)
    expect(session.redirected(C).asks(A, aOut)).toBe('c moved-before')
    expect(session.redirected(A).asks(A, aOut)).toBe('b marked')
  })
})

describe('what the log does not say by itself', () => {
  const told = (session: Session): string[] => session.log.rows.filter(row => row.type === 'command/run').map(row => row.data.args.trim())

  it('is noted: a move before sending, and a pick that goes on', () => {
    const session = live()
    session.asks(A, aOut)
    expect(told(session)).toEqual(['moved b/n from a/m pool medium because marked over a/m'])
    session.asks(A, aOut)
    session.asks(A, aOut)
    expect(told(session).slice(1)).toEqual(['stands a/m'])
    session.asks(A, world({ marked: ['a', 'b'] }))
    expect(told(session).slice(2)).toEqual(['moved c/o from b/n pool medium because marked over a/m'])
    expect(session.asks(A, aOut)).toBe('c moved-before')
    expect(told(session)).toHaveLength(3)
  })

  it('is noted for a pick of the route that is in use, over one that goes on: the next pick of that is a new one', () => {
    const session = live()
    session.asks(A, aOut)
    session.asks(A, aOut)
    expect(session.asks(B_TAKEN, aOut)).toBe('b as-it-is')
    expect(told(session).at(-1)).toBe('picked b/n')
    expect(session.asks(A, aOut)).toBe('a picked')
  })

  it('is not noted where the harness took the route up, nor for what a header shows', () => {
    const session = live()
    session.asks(A, aOut)
    session.asks(B_TAKEN, aOut)
    session.asks(C, aOut)
    session.asks(A, aOut)
    expect(told(session)).toHaveLength(1)
  })

  it.each([['at once', false], ['after a restart', true]])('makes a pick that no request followed hold %s, until a refusal moves the session', (_when, restarts) => {
    const session = live()
    session.asks(B_TAKEN)
    notes(session.log, { kind: 'picked', route: A })
    if (restarts) session.does(given => given.crashes().turn())
    expect([session.asks(B_TAKEN, aOut), session.asks(A, aOut)]).toEqual(['a picked', 'a as-it-is'])
    expect(session.redirected(C).asks(A, aOut)).toBe('c moved-before')
  })
})

describe('after a restart', () => {
  it('a pick holds although its provider is marked', () => {
    const session = live()
    session.asks(A, aOut)
    session.asks(B_TAKEN, aOut)
    expect(session.asks(A, aOut)).toBe('a picked')
    session.does(given => given.answers().crashes().turn())
    expect(session.asks(A, aOut)).toBe('a as-it-is')
  })

  it('a session goes on where it is, also on a host that begins with another route', () => {
    const session = live()
    session.asks(B_TAKEN)
    session.does(given => given.answers().crashes().turn())
    expect(session.asks(A)).toBe('a as-it-is')
    expect(session.asks(A, aOut)).toBe('b marked')
  })
})

describe('a session that is put in a pool', () => {
  const put = () => live(given => given.command('/quota-pool medium').turn())

  it('sends its next request to the first route of the pool that clears its threshold', () => {
    expect(put().asks(OUTSIDE)).toBe('a assigned')
    expect(put().asks(OUTSIDE, world({ left: { a: 1 } }))).toBe('b assigned')
    expect(put().asks(C, aOut)).toBe('b assigned')
  })

  it('is sent there although all is out of allowance, for a request has to run somewhere', () => {
    expect(put().asks(OUTSIDE, allOut)).toBe('a assigned')
  })

  it('is not sent to a route that the host refuses, and nowhere when it refuses them all', () => {
    expect(put().asks(OUTSIDE, world(), { unfit: [A] })).toBe('b assigned')
    expect(put().asks(OUTSIDE, aOut, { unfit: [A] })).toBe('b assigned')
    expect(put().asks(OUTSIDE, world(), { unfit: [A, B, C] })).toBe('z as-it-is')
  })

  it('is sent there once: what follows moves it only when its provider refuses', () => {
    const session = put()
    expect(session.asks(OUTSIDE, world({ left: { a: 1 } }))).toBe('b assigned')
    expect(session.again(OUTSIDE)).toBe('b moved-before')
    expect(session.asks(B_TAKEN)).toBe('b as-it-is')
    session.does(given => given.asks('b', 'n').answers())
    expect([session.asks(B_TAKEN), session.asks(B_TAKEN, world({ marked: ['b'] }))]).toEqual(['b as-it-is', 'a marked'])
  })

  it('gets the effort of its route also where it is on that route already', () => {
    const session = live(given => given.command('/quota-pool medium'))
    expect(session.asks(B, aOut)).toBe('b assigned')
    expect(session.logged).toMatchObject({ provider: 'b', reasoningEffort: 'high' })
  })

  it('is not forgotten when the request that was on its way is answered', () => {
    const session = live(given => given.turn().asks('z', 'z'))
    session.asks(OUTSIDE)
    session.does(given => given.command('/quota-pool medium').answers().step())
    expect(session.asks(OUTSIDE)).toBe('a assigned')
  })

  it('is sent there anew by another word on the pool', () => {
    const session = put()
    session.asks(OUTSIDE, world({ left: { a: 1 } }))
    session.does(given => given.after(MINUTE).command('/quota-pool medium'))
    expect(session.asks(B)).toBe('a assigned')
  })

  it('is sent there after a restart, if no answer came', () => {
    const before = put()
    before.asks(OUTSIDE)
    const after = live(given => given.command('/quota-pool medium').turn().crashes().turn())
    expect(after.asks(OUTSIDE)).toBe('a assigned')
  })

  it.each(['/quota-pool inherit medium', '/quota-pool default'])('by %s alone is not sent anywhere', (line) => {
    expect(live(given => given.command(line)).asks(OUTSIDE)).toBe('z as-it-is')
  })

  it('that the configuration lost stays where it is', () => {
    expect(live(given => given.command('/quota-pool gone')).asks(OUTSIDE)).toBe('z as-it-is')
  })
})
