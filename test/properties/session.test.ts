import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evolveEvent, foldSession, initialState, type SessionState } from '../../src/reducers/session.ts'
import { deepFreeze } from '../support/build.ts'
import { rows, unknownEvent } from './generator.ts'

const checkpoint = (state: SessionState): SessionState => JSON.parse(JSON.stringify(state)) as SessionState
const text = (value: unknown): string => JSON.stringify(value)

describe('the fold of a log', () => {
  it('is the fold of any split of it through a JSON checkpoint', () => {
    fc.assert(fc.property(rows, fc.array(fc.nat(), { maxLength: 4 }), (log, cuts) => {
      const places = new Set(cuts.map(cut => cut % (log.length + 1)))
      let state = initialState
      for (const [index, row] of log.entries()) {
        if (places.has(index)) state = checkpoint(state)
        state = evolveEvent(state, row)
      }
      expect(checkpoint(state)).toEqual(checkpoint(foldSession(log)))
      expect(checkpoint(state)).toEqual(state)
    }), { numRuns: 300 })
  })

  it('does not see unknown events, wherever they stand', () => {
    fc.assert(fc.property(rows, fc.array(fc.tuple(fc.nat(), unknownEvent), { maxLength: 8 }), (log, extra) => {
      const noisy: unknown[] = [...log]
      for (const [place, event] of extra) noisy.splice(place % (noisy.length + 1), 0, event)
      expect(text(foldSession(noisy))).toBe(text(foldSession(log)))
    }), { numRuns: 300 })
  })

  it('is the same reference after an unknown event', () => {
    fc.assert(fc.property(rows, unknownEvent, (log, event) => {
      const state = foldSession(log)
      expect(evolveEvent(state, event)).toBe(state)
    }), { numRuns: 200 })
  })

  it('mutates neither the state nor the event', () => {
    fc.assert(fc.property(rows, (log) => {
      let state = deepFreeze(checkpoint(initialState))
      for (const row of log) state = deepFreeze(evolveEvent(state, deepFreeze(row)))
    }), { numRuns: 200 })
  })

  it('shares nothing with the events that it was made of', () => {
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
    }), { numRuns: 100 })
  })
})
