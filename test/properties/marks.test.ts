import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evolveJournal, foldJournal, initialJournal } from '../../src/reducers/journal.ts'
import { markOf } from '../../src/reducers/marks.ts'
import { deepFreeze, HOUR } from '../support/build.ts'
import { reach } from '../support/reach.ts'
import { walk } from './walk.ts'

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

  it('holds the last mark of each provider until an answer, a reading or a person from then or later lifts it', () => {
    const met = reach({ 'lifted by an answer': 0.3, 'lifted by a reading or a person': 0.06, 'an answer from before the refusal': 0.04 })
    fc.assert(fc.property(walk, ({ written }) => {
      const seen: ('lifted by an answer' | 'lifted by a reading or a person' | 'an answer from before the refusal')[] = []
      let journal = initialJournal
      for (const record of written) {
        const before = journal
        journal = evolveJournal(deepFreeze(journal), deepFreeze(record))
        if (record.type === 'providerMarked') {
          expect(markOf(journal.marks, record.provider, record.until - 1)).toMatchObject({ at: record.at, until: record.until })
          // A mark lapses by itself, to the millisecond.
          expect(markOf(journal.marks, record.provider, record.until)).toBeUndefined()
        }
        const held = record.type === 'providerLifted' && Object.hasOwn(before.marks, record.provider) ? before.marks[record.provider]! : undefined
        if (record.type === 'providerLifted' && held !== undefined && record.at >= held.at) {
          expect(Object.hasOwn(journal.marks, record.provider)).toBe(false)
          seen.push(record.by === 'answer' ? 'lifted by an answer' : 'lifted by a reading or a person')
        }
        if (held !== undefined && record.at < held.at) seen.push('an answer from before the refusal')
        // Nobody else's mark is touched, and what is no business of the marks leaves them as they are.
        if (record.type !== 'providerMarked' && record.type !== 'providerLifted') expect(journal.marks).toBe(before.marks)
        else for (const [name, mark] of Object.entries(before.marks)) if (name !== record.provider) expect(journal.marks[name]).toBe(mark)
      }
      met.run(seen)
    }), { numRuns: 300 })
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
      for (const record of [{ type: 'sessionReleased', session: 'nobody', at }, { type: 'providerLifted', provider: 'nobody', at, by: 'answer' }] as const) {
        expect(evolveJournal(journal, record)).toBe(journal)
      }
    }), { numRuns: 200 })
  })
})
