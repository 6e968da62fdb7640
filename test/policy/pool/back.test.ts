import { describe, expect, it } from 'vitest'
import { type ConfigInput, parseConfig } from '../../../src/policy/config.ts'
import { TRIAL_MS } from '../../../src/policy/pool/back.ts'
import type { World } from '../../../src/policy/pool/choose.ts'
import { evolveMarks } from '../../../src/reducers/marks.ts'
import { HOUR, NOON } from '../../support/build.ts'
import { Live, notes } from '../../support/live.ts'
import { A, B, C, world } from '../../support/world.ts'

const deployment = (more: ConfigInput = {}) => parseConfig({
  pools: { medium: { routes: [A, B, C] } }, balances: [{ provider: 'a', script: ['node', 'x.mjs'], minimumRemaining: 5 }], ...more,
})
const aOut = world({ marked: ['a'] })
/** The mark of a is over, and nobody was answered since. */
const lapsed = world({ marked: ['a'], now: NOON + 2 * HOUR })
const later = world({ now: NOON + 2 * HOUR })

/** A session that a refusal of a moved to b, and whose turn is over. */
function moved(failure?: object): Live {
  const live = new Live()
  live.log.turn()
  live.sends(A, world(), deployment())
  live.log.refused(failure).moves('medium', 'b', 'n', failure).starts()
  live.sends(A, aOut, deployment())
  live.log.answers()
  return live
}
const asks = (live: Live, known: World, { under = deployment(), base = B } = {}): string => {
  const { route, why } = live.sends(base, known, under)
  live.log.answers()
  return `${route.provider} ${why.kind}`
}
const nextTurn = (live: Live): Live => { live.log.turn(); return live }
const nextStep = (live: Live): Live => { live.log.step(); return live }

describe('a moved session', () => {
  it('goes back with its next turn when the preferred route is usable again, and not within one', () => {
    expect(asks(nextStep(moved()), lapsed)).toBe('b as-it-is')
    expect(asks(nextTurn(moved()), aOut)).toBe('b as-it-is')
    expect(asks(nextTurn(moved()), lapsed)).toBe('a preferred')
    expect(asks(nextTurn(moved()), later)).toBe('a preferred')
  })

  it('goes back with its next step, or never, as the configuration says', () => {
    expect(asks(nextStep(moved()), lapsed, { under: deployment({ returnToPreferred: 'step' }) })).toBe('a preferred')
    expect(asks(nextTurn(moved()), lapsed, { under: deployment({ returnToPreferred: 'never' }) })).toBe('b as-it-is')
  })

  it.each([[4, 'b as-it-is'], [5, 'a preferred'], [0, 'b as-it-is']])('waits for a reading above the minimum: %d left', (a, goes) => {
    expect(asks(nextTurn(moved()), world({ left: { a }, now: NOON + 2 * HOUR }))).toBe(goes)
  })

  it('stays there, and tells its log why', () => {
    const live = nextTurn(moved())
    asks(live, lapsed)
    expect(live.log.rows.filter(row => row.type === 'command/run').at(-1).data.args).toBe(' moved a/m from b/n pool medium because preferred over b/n')
    expect(asks(nextTurn(live), later, { base: A })).toBe('a as-it-is')
  })

  it('does not go back to what it was not moved off, nor past what a person picked', () => {
    const began = new Live()
    began.log.turn()
    began.sends(B, world(), deployment())
    began.log.answers()
    expect(asks(nextTurn(began), later)).toBe('b as-it-is')
    const picked = moved()
    notes(picked.log, { kind: 'picked', route: C })
    expect(asks(nextTurn(picked), later)).toBe('c picked')
    expect(asks(nextTurn(picked), later, { base: C })).toBe('c as-it-is')
  })

  it('does not go back to a route that would not take its conversation', () => {
    const live = moved({ code: 'INVALID_REQUEST', message: '400: Invalid `signature` in `thinking` block', status: 400 })
    expect(asks(nextTurn(live), later)).toBe('b as-it-is')
  })

  it('does not go back when it is switched off, or belongs to no pool any more', () => {
    const off = moved()
    off.log.command('/quota-retry off')
    expect(asks(nextTurn(off), later)).toBe('b as-it-is')
    const alone = moved()
    alone.log.command('/quota-pool off')
    expect(asks(nextTurn(alone), later)).toBe('b as-it-is')
  })

  it('goes back after a restart, too', () => {
    const live = moved()
    live.log.crashes().turn()
    expect(asks(live, later)).toBe('a preferred')
  })

  it('that its person put in the pool goes to whatever that prefers', () => {
    const live = new Live()
    live.log.command('/quota-pool medium').turn()
    expect(asks(live, aOut, { base: C })).toBe('b assigned')
    expect(asks(nextTurn(live), lapsed)).toBe('a preferred')
  })
})

describe('of several moved sessions', () => {
  it('one tries for all: the others follow when it was answered, and stay when it was refused', () => {
    const [one, two] = [nextTurn(moved()), nextTurn(moved())]
    const { trial, route } = one.sends(B, lapsed, deployment())
    expect([route.provider, trial]).toEqual(['a', [expect.objectContaining({ type: 'providerMarked', provider: 'a', at: NOON, until: lapsed.now + TRIAL_MS })]])
    const tried = { ...lapsed, marks: trial.reduce(evolveMarks, lapsed.marks) }
    expect(asks(two, tried)).toBe('b as-it-is')
    // Its own next attempts are not kept from it.
    one.log.retries().starts()
    expect(one.sends(B, tried, deployment()).route.provider).toBe('a')
    const answered = { ...tried, marks: evolveMarks(tried.marks, { type: 'providerLifted', provider: 'a', at: lapsed.now, by: 'answer' }) }
    expect(asks(nextTurn(two), answered)).toBe('a preferred')
    // A trial that nothing came of is over after a while.
    const over = { ...tried, now: tried.now + TRIAL_MS }
    expect(asks(nextTurn(nextTurn(moved())), over)).toBe('a preferred')
  })

  it('nobody tries where an answer came already: all go', () => {
    expect(nextTurn(moved()).sends(B, later, deployment())).toMatchObject({ route: A, trial: [] })
  })
})
