import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeEvent } from '../../src/events/decode.ts'
import type { Fact } from '../../src/events/facts.ts'
import { evolve, initialState, type SessionState } from '../../src/reducers/session.ts'
import { chainOf } from '../../src/reducers/step.ts'
import { transitions } from '../../src/reducers/transitions.ts'
import { rows } from './generator.ts'

/** Every fact of a log, with the states around it. */
function moments(log: readonly unknown[]): { fact: Fact; before: SessionState; after: SessionState }[] {
  let before = initialState
  return log.flatMap((row) => {
    const fact = decodeEvent(row)
    if (fact === undefined) return []
    const moment = { fact, before, after: evolve(before, fact) }
    before = moment.after
    return [moment]
  })
}

describe('in any log', () => {
  it('a pending wait stands in an open entry and in its open turn', () => {
    fc.assert(fc.property(rows, (log) => {
      for (const { after: { entries, step } } of moments(log)) {
        const { open } = entries
        if (open?.wait === null || open === null) continue
        expect([step.turn, open.attempts > 0]).toEqual([open.turn, true])
      }
    }), { numRuns: 300 })
  })

  it('no entry outlives a success of the switch going off, or an answer', () => {
    fc.assert(fc.property(rows, (log) => {
      for (const { fact, before, after } of moments(log)) {
        const off = after.settings.retry?.value === 'off' && after.settings.retry !== before.settings.retry && fact.type === 'commandSettled'
        if (off || fact.type === 'answered') expect(after.entries.open).toBeNull()
      }
    }), { numRuns: 200 })
  })

  it('the attempts of an entry are the waits since it opened', () => {
    fc.assert(fc.property(rows, (log) => {
      let waits = 0
      for (const { fact, before, after } of moments(log)) {
        if (fact.type === 'waitPlanned') waits += 1
        if (after.entries.closed > before.entries.closed) expect(after.entries.lastClosed?.attempts).toBe(waits)
        if (after.entries.open === null) waits = 0
        else expect(after.entries.open.attempts).toBe(waits)
      }
    }), { numRuns: 300 })
  })

  it('entered and left alternate, so that left comes at most once for an entry', () => {
    fc.assert(fc.property(rows, (log) => {
      let open = false
      for (const { fact, before, after } of moments(log)) {
        for (const { type } of transitions(before, after)) {
          if (type === 'movePlanned') continue
          expect(type).toBe(open ? 'left' : 'entered')
          open = !open
        }
        // A fork drops what its parent had open, and nobody left anything.
        if (fact.type === 'seedEnded' && fact.inherited) open = false
        expect(after.entries.open !== null).toBe(open)
      }
    }), { numRuns: 300 })
  })

  it('an entry keeps the time at which it opened', () => {
    fc.assert(fc.property(rows, (log) => {
      for (const { before, after } of moments(log)) {
        const [was, is] = [before.entries.open, after.entries.open]
        if (was !== null && is !== null) expect(is.enteredAt).toBe(was.enteredAt)
        if (was !== null && after.entries.closed > before.entries.closed) expect(after.entries.lastClosed?.enteredAt).toBe(was.enteredAt)
      }
    }), { numRuns: 200 })
  })

  it('the numbers of a retry chain go on without a gap', () => {
    fc.assert(fc.property(rows, (log) => {
      for (const { fact, before } of moments(log)) {
        if (fact.type !== 'waitPlanned' && fact.type !== 'movePlanned') continue
        const chain = chainOf(before.step, fact.provider, fact.policyKey)
        expect([fact.retry, fact.retryId]).toEqual([(chain?.retry ?? 0) + 1, chain?.retryId ?? fact.retryId])
      }
    }), { numRuns: 200 })
  })
})
