import { describe, expect, it } from 'vitest'
import type { JournalRecord } from '../../src/events/journal.ts'
import { evolveMarks, initialMarks, markOf, providerMarkOf } from '../../src/reducers/marks.ts'
import { HOUR, MINUTE, NOON } from '../support/build.ts'

const marked = (provider: string, at = NOON): JournalRecord => ({ type: 'providerMarked', provider, at, until: at + HOUR, rule: 'r', message: 'spent' })
const lifted = (provider: string, at = NOON): JournalRecord => ({ type: 'providerLifted', provider, at, by: 'answer' })
const fold = (...records: JournalRecord[]) => records.reduce(evolveMarks, initialMarks)

const routeMarked = (provider: string, model: string, at = NOON): JournalRecord => ({ type: 'routeMarked', provider, model, at, until: at + HOUR, rule: 'r', message: 'spent' })
const routeLifted = (provider: string, model: string, at = NOON): JournalRecord => ({ type: 'routeLifted', provider, model, at, by: 'answer' })
const BIG = { provider: 'a', model: 'big' }
const SMALL = { provider: 'a', model: 'small' }

describe('a mark of a route', () => {
  it('leaves the other models of its provider, and is none of the provider', () => {
    const marks = fold(routeMarked('a', 'big'))
    expect(markOf(marks, BIG, NOON)).toMatchObject(BIG)
    expect(markOf(marks, SMALL, NOON)).toBeUndefined()
    expect(providerMarkOf(marks, 'a', NOON)).toBeUndefined()
  })

  it('stands beside that of the provider; the one that lasts longer is what keeps requests away', () => {
    const both = fold(routeMarked('a', 'big', NOON + MINUTE), marked('a'))
    expect([markOf(both, BIG, NOON + MINUTE)?.model, markOf(both, SMALL, NOON)?.model, markOf(both, SMALL, NOON)?.provider]).toEqual(['big', undefined, 'a'])
    expect(markOf(both, BIG, NOON + HOUR)).toMatchObject(BIG)
    expect(markOf(fold(routeMarked('a', 'big'), marked('a', NOON + MINUTE)), BIG, NOON + MINUTE)).not.toHaveProperty('model')
  })

  it('is lifted by an answer of its own model alone', () => {
    const both = fold(routeMarked('a', 'big'), routeMarked('a', 'small'), marked('a'), lifted('a', NOON + 1), routeLifted('a', 'small', NOON + 1))
    expect([markOf(both, BIG, NOON)?.model, markOf(both, SMALL, NOON)]).toEqual(['big', undefined])
  })

  it('is not taken for that of a provider with a strange name', () => {
    const marks = fold(marked('["a","big"]'))
    expect(markOf(marks, BIG, NOON)).toBeUndefined()
    expect(fold(marked('["a","big"]'), routeLifted('a', 'big', NOON + 1))).toEqual(marks)
  })
})

describe('a mark that was made before the clock was set back a day', () => {
  const ahead = fold(marked('a', NOON + 24 * HOUR), routeMarked('b', 'big', NOON + 24 * HOUR))

  it('holds nobody up', () => {
    expect([providerMarkOf(ahead, 'a', NOON), markOf(ahead, { provider: 'b', model: 'big' }, NOON)]).toEqual([undefined, undefined])
    expect(providerMarkOf(fold(marked('a', NOON + 1_000)), 'a', NOON)).toBeDefined()
  })

  it('is lifted by an answer, whatever its time', () => {
    const heard = { at: NOON - MINUTE, by: 'answer' as const, heardAt: NOON }
    expect(evolveMarks(ahead, { type: 'providerLifted', provider: 'a', ...heard })).not.toHaveProperty('a')
    expect(fold(marked('a'), { type: 'providerLifted', provider: 'a', at: NOON - MINUTE, by: 'answer', heardAt: NOON + MINUTE })).toHaveProperty('a')
    expect(evolveMarks(ahead, { type: 'routeLifted', provider: 'b', model: 'big', ...heard })).toEqual(fold(marked('a', NOON + 24 * HOUR)))
  })
})

describe('a mark', () => {
  it('holds from the refusal until it lapses, by one derived state', () => {
    const marks = fold(marked('a'))
    expect(providerMarkOf(marks, 'a', NOON)).toMatchObject({ provider: 'a', until: NOON + HOUR })
    expect(providerMarkOf(marks, 'a', NOON + HOUR - 1)).toBeDefined()
    expect(providerMarkOf(marks, 'a', NOON + HOUR)).toBeUndefined()
  })

  it('is each provider\'s own', () => {
    const marks = fold(marked('a'), marked('b'), lifted('a', NOON + MINUTE))
    expect([providerMarkOf(marks, 'a', NOON), providerMarkOf(marks, 'b', NOON)?.provider]).toEqual([undefined, 'b'])
  })

  it('is renewed by another refusal', () => {
    expect(providerMarkOf(fold(marked('a'), marked('a', NOON + MINUTE)), 'a', NOON + HOUR)).toBeDefined()
  })

  it('is not lifted by what is older than the refusal', () => {
    expect(providerMarkOf(fold(marked('a', NOON + MINUTE), lifted('a', NOON)), 'a', NOON + MINUTE)).toBeDefined()
  })

  it('that never was is lifted without a trace', () => {
    expect(fold(lifted('a'))).toBe(initialMarks)
  })

  it.each(['__proto__', 'constructor', 'toString'])('of a provider called %s is a mark like another', (provider) => {
    expect(providerMarkOf(initialMarks, provider, NOON)).toBeUndefined()
    const marks = fold(marked(provider))
    expect(providerMarkOf(marks, provider, NOON)).toMatchObject({ provider })
    expect(providerMarkOf(evolveMarks(marks, lifted(provider, NOON + 1)), provider, NOON)).toBeUndefined()
  })
})
