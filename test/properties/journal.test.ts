import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JournalRecord, readJournalRecord } from '../../src/events/journal.ts'
import { evolveJournal, foldJournal, initialJournal, KEPT_MOVES, pruneJournal } from '../../src/reducers/journal.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { deepFreeze } from '../support/build.ts'
import { reach } from '../support/reach.ts'
import { rows } from './generator.ts'

const name = fc.constantFrom('a', 'b', 'constructor', 'toString')
const at = fc.nat(50)
const route = fc.record({ provider: name, model: name })
const lifted = { at, by: fc.constantFrom('answer' as const, 'reading' as const, 'person' as const), heardAt: fc.option(at, { nil: undefined }) }
/** JSON has no undefined. */
const withoutAbsent = <T extends { readonly heardAt?: number | undefined }>({ heardAt, ...rest }: T) => heardAt === undefined ? rest : { ...rest, heardAt }
const record: fc.Arbitrary<JournalRecord> = fc.oneof(
  fc.record({ type: fc.constant('providerMarked' as const), provider: name, at, until: at, rule: fc.constant('r'), message: fc.string({ maxLength: 5 }) }),
  fc.record({ type: fc.constant('routeMarked' as const), provider: name, at, until: at, rule: fc.constant('r'), message: fc.string({ maxLength: 5 }), model: name }),
  fc.record({ type: fc.constant('providerLifted' as const), provider: name, ...lifted }, { noNullPrototype: true }).map(withoutAbsent),
  fc.record({ type: fc.constant('routeLifted' as const), provider: name, ...lifted, model: name }, { noNullPrototype: true }).map(withoutAbsent),
  fc.record({ type: fc.constant('sessionWaiting' as const), session: name, at, nextAttemptAt: at, provider: name }),
  fc.record({ type: fc.constant('sessionReleased' as const), session: name, at }),
  fc.record({ type: fc.constant('requestMoved' as const), session: name, at, pool: name, from: route, to: route, why: fc.constant('marked') }),
)
const foreign = fc.oneof(fc.constantFrom<unknown>(null, 'x', { type: 'providerMarked' }), fc.record({ type: fc.constant('later'), at }))
const journal = fc.array(fc.oneof({ weight: 6, arbitrary: record }, { weight: 1, arbitrary: foreign }), { maxLength: 60, size: 'max' })
const text = (value: unknown): string => JSON.stringify(value)
/** The fold as text, keys in order: pruning may change only in which order they came. */
function state(records: Iterable<unknown>): string {
  const { marks, waiting } = foldJournal(records)
  const sorted = (map: object): unknown => Object.entries(map).sort(([a], [b]) => a < b ? -1 : 1)
  return text([sorted(marks), sorted(waiting)])
}

describe('pruning a journal', () => {
  it('keeps the fold, now and after whatever follows', () => {
    const met = reach({ 'a mark': 0.6, 'a wait': 0.6, 'something to prune': 0.8 })
    fc.assert(fc.property(journal, journal, (records, later) => {
      const { marks, waiting } = foldJournal(records)
      met.run([
        ...Object.keys(marks).length > 0 ? ['a mark' as const] : [], ...Object.keys(waiting).length > 0 ? ['a wait' as const] : [],
        ...pruneJournal(records).length < records.length ? ['something to prune' as const] : [],
      ])
      expect(state(pruneJournal(records))).toBe(state(records))
      expect(state([...pruneJournal(records), ...later])).toBe(state([...records, ...later]))
    }), { numRuns: 400 })
    met.check()
  })

  it('keeps every record that is not known here, as it is and in order', () => {
    fc.assert(fc.property(journal, (records) => {
      const unknown = (all: readonly unknown[]): unknown[] => all.filter(value => readJournalRecord(value) === undefined)
      expect(unknown(pruneJournal(records))).toEqual(unknown(records))
    }), { numRuns: 200 })
  })

  it('leaves nothing to prune, and no more than what matters', () => {
    fc.assert(fc.property(journal, (records) => {
      const pruned = pruneJournal(records)
      expect(pruneJournal(pruned)).toEqual(pruned)
      const known = pruned.filter(value => readJournalRecord(value) !== undefined).length
      const { marks, waiting } = foldJournal(records)
      expect(known).toBeLessThanOrEqual(Object.keys(marks).length + Object.keys(waiting).length + KEPT_MOVES)
    }), { numRuns: 200 })
  })
})

describe('folding a journal', () => {
  it('is folding its records one by one', () => {
    fc.assert(fc.property(fc.array(record, { maxLength: 40, size: 'max' }), (records) => {
      const { marks, waiting } = records.reduce(evolveJournal, initialJournal)
      expect(foldJournal(records)).toEqual({ marks, waiting })
    }), { numRuns: 200 })
  })

  it('is the same through any JSON checkpoint', () => {
    fc.assert(fc.property(fc.array(record, { maxLength: 40, size: 'max' }), fc.nat(), (records, cut) => {
      const place = cut % (records.length + 1)
      let folded = initialJournal
      for (const [index, one] of records.entries()) {
        if (index === place) folded = JSON.parse(text(folded)) as typeof folded
        folded = evolveJournal(deepFreeze(folded), deepFreeze(one))
      }
      expect(text(folded)).toBe(text(foldJournal(records)))
    }), { numRuns: 300 })
  })

  it('beside a session log is the same in any interleaving of the two', () => {
    fc.assert(fc.property(rows, journal, fc.array(fc.boolean(), { maxLength: 200, size: 'max' }), (log, records, turns) => {
      const merged: unknown[] = []
      const [left, right] = [[...log], [...records]]
      for (const first of turns) merged.push(...first ? left.splice(0, 1) : right.splice(0, 1))
      merged.push(...left, ...right)
      expect(text([foldSession(merged), foldJournal(merged)])).toBe(text([foldSession(log), foldJournal(records)]))
    }), { numRuns: 200 })
  })
})
