import fc from 'fast-check'
import { describe, it } from 'vitest'
import { decodeEvent } from '../../src/events/decode.ts'
import type { Fact } from '../../src/events/facts.ts'
import type { JournalRecord } from '../../src/events/journal.ts'
import { EARLY_CAUSES, WAIT_CAUSES } from '../../src/events/policy-key.ts'
import { reach } from '../support/reach.ts'
import { ACTIONS, longest, walk } from './walk.ts'

/** Every kind of fact, with the least share of sessions that hold one: a new kind does not compile until it is here. */
const FACTS = {
  sessionOpened: 1, seedEnded: 0.6, turnStarted: 0.8, turnEnded: 0.7, stepStarted: 0.8, stepEnded: 0.7, routed: 0.8, requestFailed: 0.7, answered: 0.5,
  waitPlanned: 0.6, movePlanned: 0.6, otherRetryPlanned: 0.4, backoffPlanned: 0.25, attemptStarted: 0.6, settingRequested: 0.5, commandSettled: 0.5,
  requestMoved: 0.1, modelPicked: 0.1, pickStands: 0.03,
} satisfies Record<Fact['type'], number>

const RECORDS = {
  providerMarked: 0.5, providerLifted: 0.4, routeMarked: 0.5, routeLifted: 0.4, sessionWaiting: 0.6, sessionReleased: 0.6, requestMoved: 0.15,
} satisfies Record<JournalRecord['type'], number>

const share = <T extends string>(names: readonly T[], least: number): Record<T, number> =>
  Object.fromEntries(names.map(name => [name, least])) as Record<T, number>

describe('the walks', () => {
  it('write every kind of fact and of record', () => {
    const met = reach({ ...FACTS, ...RECORDS })
    fc.assert(fc.property(walk, (world) => {
      const facts = longest(world).rows.map(row => decodeEvent(row)?.type).filter(type => type !== undefined)
      met.run([...facts, ...world.written.map(({ type }) => type)])
    }), { numRuns: 300 })
    met.check()
  })

  it('do everything that can happen', () => {
    const met = reach(share(ACTIONS.map(({ name }) => name), 0.05))
    fc.assert(fc.property(walk, (world) => { met.run(world.did.keys()) }), { numRuns: 300 })
    met.check()
  })

  it('plan waits for every cause, and move after each', () => {
    const met = reach({ ...share(WAIT_CAUSES, 0.05), ...share(WAIT_CAUSES.map(cause => `after ${cause}` as const), 0.003), 'after due': 0.003 })
    fc.assert(fc.property(walk, ({ sessions }) => {
      const facts = sessions.flatMap(({ rows }) => rows.map(decodeEvent))
      met.run(facts.flatMap(fact => fact?.type === 'waitPlanned' ? [fact.cause] : fact?.type === 'movePlanned' && fact.afterWait !== undefined ? [`after ${fact.afterWait}` as const] : []))
    }), { numRuns: 300 })
    met.check()
  })

  it('hold entries, recoveries, waits that come early, forks and several sessions', () => {
    const met = reach({ 'an entry': 0.6, 'a recovery': 0.25, 'an entry of two attempts': 0.4, 'an early attempt': 0.3, 'a move': 0.6, 'a fork': 0.3, 'three sessions': 0.3, 'a cut wait': 0.2 })
    fc.assert(fc.property(walk, (world) => {
      const { books, rows } = longest(world)
      met.run([
        ...books.flatMap(({ expected: { entry, lastReason } }) => [
          ...entry === null ? [] : ['an entry' as const, ...entry.attempts > 1 ? ['an entry of two attempts' as const] : [], ...entry.cutOff === null ? [] : ['a cut wait' as const]],
          ...lastReason === 'recovered' ? ['a recovery' as const] : [],
        ]),
        ...rows.some(row => row.type === 'llm/retry' && [...EARLY_CAUSES].some(cause => row.data.policyKey.includes(`"${cause}"`))) ? ['an early attempt' as const] : [],
        ...books.some(({ expected }) => expected.moves > 0) ? ['a move' as const] : [],
        ...world.did.has('fork') ? ['a fork' as const] : [],
        ...world.sessions.length > 2 ? ['three sessions' as const] : [],
      ])
    }), { numRuns: 400 })
    met.check()
  })
})
