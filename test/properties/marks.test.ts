import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evolveJournal, foldJournal, initialJournal } from '../../src/reducers/journal.ts'
import { markOf, providerMarkOf } from '../../src/reducers/marks.ts'
import { deepFreeze, HOUR, MINUTE } from '../support/build.ts'
import { reach } from '../support/reach.ts'
import { PROVIDERS, walk } from './walk.ts'

const text = (value: unknown): string => JSON.stringify(value)
/** Keys in order: pruning may change only in which order they came. */
const sorted = (map: object): unknown => Object.entries(map).sort(([a], [b]) => a < b ? -1 : 1)
const state = (records: Iterable<unknown>): string => {
  const { marks, waiting } = foldJournal(records)
  return text([sorted(marks), sorted(waiting)])
}

describe('the journal of several sessions on shared providers', () => {
  it('folds the same as it was written and as it was pruned meanwhile', () => {
    const met = reach({ 'something was pruned': 0.3, 'a mark': 0.5, 'a session that waits': 0.12, 'the clock went back': 0.2 })
    fc.assert(fc.property(walk, ({ written, kept }) => {
      expect(state(kept)).toBe(state(written))
      const { marks, waiting } = foldJournal(kept)
      met.run([
        ...kept.length < written.length ? ['something was pruned' as const] : [],
        ...Object.keys(marks).length > 0 ? ['a mark' as const] : [],
        ...Object.keys(waiting).length > 0 ? ['a session that waits' as const] : [],
        ...written.some((record, index) => index > 0 && record.at < written[index - 1]!.at) ? ['the clock went back' as const] : [],
      ])
    }), { numRuns: 300 })
    met.check()
  })

  it('holds the last mark of each provider and of each route, until an answer, a reading or a person from then or later lifts it', () => {
    const met = reach({ 'lifted by an answer': 0.15, 'lifted by a reading or a person': 0.015, 'an answer from before the refusal': 0.01, 'a clock set back since the mark': 0.02 })
    fc.assert(fc.property(walk, ({ written }) => {
      const seen: ('lifted by an answer' | 'lifted by a reading or a person' | 'an answer from before the refusal' | 'a clock set back since the mark')[] = []
      const held = new Map<string, { readonly at: number; readonly until: number }>()
      const owner = ({ provider, model }: { provider: string; model?: string }): string => JSON.stringify(model === undefined ? [provider] : [provider, model])
      let journal = initialJournal
      for (const record of written) {
        const before = journal
        journal = evolveJournal(deepFreeze(journal), deepFreeze(record))
        if (record.type === 'providerMarked' || record.type === 'routeMarked') held.set(owner(record), record)
        else if (record.type === 'providerLifted' || record.type === 'routeLifted') {
          const mark = held.get(owner(record))
          const setBack = mark !== undefined && record.heardAt !== undefined && record.heardAt < mark.at
          if (mark !== undefined && (record.at >= mark.at || setBack)) {
            held.delete(owner(record))
            seen.push(setBack ? 'a clock set back since the mark' : record.by === 'answer' ? 'lifted by an answer' : 'lifted by a reading or a person')
          } else if (mark !== undefined) seen.push('an answer from before the refusal')
        } else expect(journal.marks).toBe(before.marks)
        const marks = Object.values(journal.marks)
        expect(marks.map(mark => [owner(mark), mark.at, mark.until]).sort()).toEqual([...held].map(([name, { at, until }]) => [name, at, until]).sort())
      }
      met.run(seen)
    }), { numRuns: 200 })
    met.check()
  })

  it('keeps requests from a route while its own mark or its provider\'s holds, to the millisecond, but for one of a clock that was set back', () => {
    const met = reach({ 'held by the provider': 0.2, 'held by its own': 0.2, 'both': 0.1, 'lapsed': 0.2, 'made later than now': 0.2 })
    fc.assert(fc.property(walk, fc.constantFrom(0, 1, MINUTE, HOUR, 26 * HOUR, -MINUTE, -MINUTE - 1, -HOUR), ({ written }, passed) => {
      const { marks } = foldJournal(written)
      const seen: ('held by the provider' | 'held by its own' | 'both' | 'lapsed' | 'made later than now')[] = []
      const times = Object.values(marks).flatMap(({ at, until }) => [at + passed, until - 1, until])
      for (const now of times) for (const provider of PROVIDERS) for (const model of ['m', 'n']) {
        const all = Object.values(marks).filter(mark => mark.provider === provider && (mark.model === undefined || mark.model === model))
        const holding = all.filter(mark => now < mark.until && mark.at - now <= MINUTE)
        const found = markOf(marks, { provider, model }, now)
        expect(found === undefined).toBe(holding.length === 0)
        if (found !== undefined) {
          expect(holding).toContain(found)
          expect(found.until).toBe(Math.max(...holding.map(({ until }) => until)))
        }
        expect(providerMarkOf(marks, provider, now)).toBe(holding.find(mark => mark.model === undefined))
        if (holding.length > 1) seen.push('both')
        else if (holding.length === 1) seen.push(holding[0]!.model === undefined ? 'held by the provider' : 'held by its own')
        if (all.some(({ until }) => now >= until)) seen.push('lapsed')
        if (all.some(({ at }) => at - now > MINUTE)) seen.push('made later than now')
      }
      met.run(seen)
    }), { numRuns: 200 })
    met.check()
  })

  it('names exactly the sessions whose last word is that they wait', () => {
    const met = reach({ 'one that waits': 0.12, 'one that was released': 0.5 })
    fc.assert(fc.property(walk, ({ written }) => {
      const last = new Map<string, { readonly type: string; readonly at: number }>()
      for (const record of written) if (record.type === 'sessionWaiting' || record.type === 'sessionReleased') last.set(record.session, record)
      const { waiting } = foldJournal(written)
      const expected = [...last].filter(([, { type }]) => type === 'sessionWaiting').map(([session]) => session)
      expect(Object.keys(waiting).sort()).toEqual(expected.sort())
      for (const session of expected) expect(waiting[session]).toMatchObject({ session, at: last.get(session)!.at })
      met.run([...expected.length > 0 ? ['one that waits' as const] : [], ...expected.length < last.size ? ['one that was released' as const] : []])
    }), { numRuns: 200 })
    met.check()
  })

  it('is the same through a checkpoint at any place, and after a record that says nothing new', () => {
    fc.assert(fc.property(walk, fc.nat(), ({ written }, cut) => {
      const place = cut % (written.length + 1)
      const before = JSON.parse(text(written.slice(0, place).reduce(evolveJournal, initialJournal))) as typeof initialJournal
      expect(text(written.slice(place).reduce(evolveJournal, before))).toBe(text(foldJournal(written)))
      const journal = foldJournal(written)
      const at = (written.at(-1)?.at ?? 0) + HOUR
      for (const record of [{ type: 'sessionReleased', session: 'nobody', at }, { type: 'providerLifted', provider: 'nobody', at, by: 'answer' }, { type: 'routeLifted', provider: 'a', model: 'nobody', at, by: 'answer' }] as const) {
        expect(evolveJournal(journal, record)).toBe(journal)
      }
    }), { numRuns: 200 })
  })
})
