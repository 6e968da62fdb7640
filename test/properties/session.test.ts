import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeEvent } from '../../src/events/decode.ts'
import { evolve, evolveEvent, foldSession, initialState, type SessionState } from '../../src/reducers/session.ts'
import { deepFreeze } from '../support/build.ts'
import { reach } from '../support/reach.ts'
import { rows, unknownEvent } from './generator.ts'

const checkpoint = (state: SessionState): SessionState => JSON.parse(JSON.stringify(state)) as SessionState
const text = (value: unknown): string => JSON.stringify(value)
/** Whether a log came to a wait: what a fold has most to keep of. */
const told = (log: readonly any[]): 'a wait'[] => log.some(row => row.type === 'llm/retry' && String(row.data.policyKey).includes('"wait"')) ? ['a wait'] : []

describe('the fold of a log', () => {
  it('is the fold of any split of it through a JSON checkpoint', () => {
    const met = reach({ 'a wait': 0.5, 'a cut in an open entry': 0.3 })
    fc.assert(fc.property(rows, fc.array(fc.nat(), { maxLength: 4, size: 'max' }), (log, cuts) => {
      const places = new Set(cuts.map(cut => cut % (log.length + 1)))
      let state = initialState
      let inEntry = false
      for (const [index, row] of log.entries()) {
        if (places.has(index)) {
          inEntry ||= state.entries.open !== null
          state = checkpoint(state)
        }
        state = evolveEvent(state, row)
      }
      expect(checkpoint(state)).toEqual(checkpoint(foldSession(log)))
      expect(checkpoint(state)).toEqual(state)
      met.run([...told(log), ...inEntry ? ['a cut in an open entry' as const] : []])
    }), { numRuns: 300 })
    met.check()
  })

  it('goes on from any place: a fold of the rest from the fold of the beginning', () => {
    fc.assert(fc.property(rows, fc.nat(), (log, cut) => {
      const place = cut % (log.length + 1)
      expect(text(foldSession(log.slice(place), foldSession(log.slice(0, place))))).toBe(text(foldSession(log)))
    }), { numRuns: 200 })
  })

  it('does not see unknown events, wherever they stand', () => {
    const met = reach({ 'a wait': 0.5 })
    fc.assert(fc.property(rows, fc.array(fc.tuple(fc.nat(), unknownEvent), { maxLength: 8, size: 'max' }), (log, extra) => {
      const noisy: unknown[] = [...log]
      for (const [place, event] of extra) noisy.splice(place % (noisy.length + 1), 0, event)
      expect(text(foldSession(noisy))).toBe(text(foldSession(log)))
      met.run(told(log))
    }), { numRuns: 300 })
    met.check()
  })

  it('is the same reference after an event that is no fact', () => {
    const met = reach({ 'a wait': 0.5 })
    fc.assert(fc.property(rows, unknownEvent, (log, event) => {
      let state = initialState
      for (const row of log) {
        const next = evolveEvent(state, row)
        if (decodeEvent(row) === undefined) expect(next).toBe(state)
        state = next
      }
      expect(evolveEvent(state, event)).toBe(state)
      met.run(told(log))
    }), { numRuns: 200 })
    met.check()
  })

  it('keeps the reference of every part that a fact does not change', () => {
    const met = reach({ 'a part that is another': 0.9 })
    fc.assert(fc.property(rows, (log) => {
      let state = initialState
      let changed = false
      for (const row of log) {
        const fact = decodeEvent(row)
        if (fact === undefined) continue
        const next = evolve(state, fact)
        for (const part of ['lineage', 'settings', 'entries', 'failovers'] as const) {
          // Where a part is another, it says something else: nothing is copied for nothing.
          if (next[part] === state[part]) continue
          changed = true
          if (part !== 'lineage' && fact.type !== 'seedEnded') expect(text(next[part])).not.toBe(text(state[part]))
        }
        state = next
      }
      met.run(changed ? ['a part that is another'] : [])
    }), { numRuns: 200 })
    met.check()
  })

  it('mutates neither the state nor the event', () => {
    const met = reach({ 'a wait': 0.5 })
    fc.assert(fc.property(rows, (log) => {
      let state = deepFreeze(checkpoint(initialState))
      for (const row of log) state = deepFreeze(evolveEvent(state, deepFreeze(row)))
      met.run(told(log))
    }), { numRuns: 200 })
    met.check()
  })

  it('shares nothing with the events that it was made of', () => {
    const met = reach({ 'a wait': 0.5 })
    fc.assert(fc.property(rows, (log) => {
      const copy = structuredClone(log)
      deepFreeze(foldSession(copy))
      const shared: unknown[] = []
      const look = (value: unknown): void => {
        if (typeof value !== 'object' || value === null) return
        if (Object.isFrozen(value)) shared.push(value)
        for (const inner of Object.values(value)) look(inner)
      }
      // Empty containers have nothing to share.
      for (const row of copy) look(row)
      expect(shared.filter(value => Object.keys(value as object).length > 0)).toEqual([])
      met.run(told(log))
    }), { numRuns: 100 })
    met.check()
  })
})
