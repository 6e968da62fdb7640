import { describe, expect, it } from 'vitest'
import type { JournalRecord } from '../../src/events/journal.ts'
import { evolveMarks, initialMarks, markOf } from '../../src/reducers/marks.ts'
import { HOUR, MINUTE, NOON } from '../support/build.ts'

const marked = (provider: string, at = NOON): JournalRecord => ({ type: 'providerMarked', provider, at, until: at + HOUR, rule: 'r', message: 'spent' })
const lifted = (provider: string, at = NOON): JournalRecord => ({ type: 'providerLifted', provider, at, by: 'answer' })
const fold = (...records: JournalRecord[]) => records.reduce(evolveMarks, initialMarks)

describe('a mark', () => {
  it('holds from the refusal until it lapses, by one derived state', () => {
    const marks = fold(marked('a'))
    expect(markOf(marks, 'a', NOON)).toMatchObject({ provider: 'a', until: NOON + HOUR })
    expect(markOf(marks, 'a', NOON + HOUR - 1)).toBeDefined()
    expect(markOf(marks, 'a', NOON + HOUR)).toBeUndefined()
  })

  it('is each provider\'s own', () => {
    const marks = fold(marked('a'), marked('b'), lifted('a', NOON + MINUTE))
    expect([markOf(marks, 'a', NOON), markOf(marks, 'b', NOON)?.provider]).toEqual([undefined, 'b'])
  })

  it('is renewed by another refusal', () => {
    expect(markOf(fold(marked('a'), marked('a', NOON + MINUTE)), 'a', NOON + HOUR)).toBeDefined()
  })

  it('is not lifted by what is older than the refusal', () => {
    expect(markOf(fold(marked('a', NOON + MINUTE), lifted('a', NOON)), 'a', NOON + MINUTE)).toBeDefined()
  })

  it('that never was is lifted without a trace', () => {
    expect(fold(lifted('a'))).toBe(initialMarks)
  })

  it.each(['__proto__', 'constructor', 'toString'])('of a provider called %s is a mark like another', (provider) => {
    expect(markOf(initialMarks, provider, NOON)).toBeUndefined()
    const marks = fold(marked(provider))
    expect(markOf(marks, provider, NOON)).toMatchObject({ provider })
    expect(markOf(evolveMarks(marks, lifted(provider, NOON + 1)), provider, NOON)).toBeUndefined()
  })
})
