import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeEvent } from '../../src/events/decode.ts'
import type { Fact } from '../../src/events/facts.ts'
import { EARLY_CAUSES } from '../../src/events/policy-key.ts'
import { evolve, evolveEvent, initialState, type SessionState } from '../../src/reducers/session.ts'
import { transitions } from '../../src/reducers/transitions.ts'
import { reach } from '../support/reach.ts'
import { rows } from './generator.ts'
import { type Expected, type Session, walk } from './walk.ts'

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

/** What a fold found, in the words of the model's books. */
function found({ step: { turn, step }, entries: { open, closed, lastClosed }, failovers, settings }: SessionState): Expected {
  return {
    turn, step, closed,
    entry: open === null ? null : { enteredAt: open.enteredAt, attempts: open.attempts, armed: open.wait !== null, cutOff: open.cutOff },
    lastReason: lastClosed?.reason ?? null,
    moves: failovers.moves, confirmed: failovers.last?.confirmed ?? null,
    retry: settings.retry?.value ?? null, pool: settings.pool?.value ?? null,
  }
}

/** The fold after each action of a session that is its own, with what the books say. */
function* pages({ rows: log, books, ownFrom }: Session): Generator<{ state: SessionState; expected: Expected; action: string }> {
  let state = initialState
  let row = 0
  for (const { rows: until, expected, action } of books) {
    for (; row < until; row += 1) state = evolveEvent(state, log[row])
    if (until >= ownFrom) yield { state, expected, action }
  }
}

describe('in any session', () => {
  it('the fold finds what happened: the entry, its attempts and its wait, moves, settings and where the loop stands', () => {
    const met = reach({ 'an entry': 0.6, 'a recovery': 0.4, 'switched off': 0.05, 'a wait cut off': 0.4, 'a confirmed move': 0.6, 'a setting': 0.25 })
    fc.assert(fc.property(walk, (world) => {
      const seen = world.sessions.flatMap(session => [...pages(session)].map(({ state, expected, action }) => {
        expect({ action, ...found(state) }).toEqual({ action, ...expected })
        return expected
      }))
      met.run([
        ...seen.some(({ entry }) => entry !== null) ? ['an entry' as const] : [],
        ...seen.some(({ lastReason }) => lastReason === 'recovered') ? ['a recovery' as const] : [],
        ...seen.some(({ lastReason }) => lastReason === 'disabled') ? ['switched off' as const] : [],
        ...seen.some(({ entry }) => entry !== null && entry.cutOff !== null) ? ['a wait cut off' as const] : [],
        ...seen.some(({ confirmed }) => confirmed === true) ? ['a confirmed move' as const] : [],
        ...seen.some(({ retry }) => retry !== null) ? ['a setting' as const] : [],
      ])
    }), { numRuns: 300 })
    met.check()
  })

  it('a pending wait stands in an open entry and in its open turn', () => {
    const met = reach({ 'a pending wait': 0.6 })
    fc.assert(fc.property(rows, (log) => {
      const waits = moments(log).filter(({ after: { entries: { open } } }) => open?.wait !== null && open !== null)
      for (const { after: { entries, step } } of waits) expect([step.turn, entries.open!.attempts > 0]).toEqual([entries.open!.turn, true])
      met.run(waits.length > 0 ? ['a pending wait'] : [])
    }), { numRuns: 200 })
    met.check()
  })

  it('the attempts of an entry are its waits, those apart that bring an armed one forward', () => {
    const met = reach({ 'brought forward': 0.3, 'an early cause with nothing armed': 0.05 })
    fc.assert(fc.property(rows, (log) => {
      let waits = 0
      const seen: ('brought forward' | 'an early cause with nothing armed')[] = []
      for (const { fact, before, after } of moments(log)) {
        if (fact.type === 'waitPlanned') {
          const early = EARLY_CAUSES.has(fact.cause)
          const armed = before.entries.open !== null && before.entries.open.wait !== null
          if (early) seen.push(armed ? 'brought forward' : 'an early cause with nothing armed')
          if (!early || !armed) waits += 1
        }
        if (after.entries.closed > before.entries.closed) expect(after.entries.lastClosed?.attempts).toBe(waits)
        if (after.entries.open === null) waits = 0
        else expect(after.entries.open.attempts).toBe(waits)
      }
      met.run(seen)
    }), { numRuns: 300 })
    met.check()
  })

  it('an answer closes, and so does the switch; nothing else does', () => {
    const met = reach({ recovered: 0.2, disabled: 0.03 })
    fc.assert(fc.property(rows, (log) => {
      const seen: ('recovered' | 'disabled')[] = []
      for (const { fact, before, after } of moments(log)) {
        const off = (fact.type === 'commandSettled' || fact.type === 'seedEnded') && after.settings.retry?.value === 'off' && after.settings.retry !== before.settings.retry
        if (off || fact.type === 'answered') expect(after.entries.open).toBeNull()
        const ended = before.entries.open !== null && after.entries.open === null
        if (!ended || (fact.type === 'seedEnded' && after.entries.closed === 0)) continue
        const reason = off ? 'disabled' : 'recovered'
        if (!off) expect(fact.type).toBe('answered')
        expect(after.entries.lastClosed).toMatchObject({ reason, leftAt: (fact as { at: number }).at, enteredAt: before.entries.open!.enteredAt })
        expect(after.entries.closed).toBe(before.entries.closed + 1)
        seen.push(reason)
      }
      met.run(seen)
    }), { numRuns: 300 })
    met.check()
  })

  it('a cancel disarms and keeps the entry, as it was otherwise', () => {
    const met = reach({ 'a cancelled wait': 0.1 })
    fc.assert(fc.property(walk, ({ sessions }) => {
      let cancelled = false
      for (const { fact, before, after } of sessions.flatMap(({ rows: log }) => moments(log))) {
        const { open } = before.entries
        if (fact.type !== 'turnEnded' || fact.by !== 'user' || open === null) continue
        cancelled ||= open.wait !== null
        expect(after.entries).toEqual({ ...before.entries, open: { ...open, wait: null } })
        expect(after.step.cut).toBeNull()
      }
      met.run(cancelled ? ['a cancelled wait'] : [])
    }), { numRuns: 200 })
    met.check()
  })

  it('entered and left alternate, so that left comes at most once for an entry', () => {
    const met = reach({ entered: 0.5, left: 0.2, failover: 0.3, moved: 0.1 })
    fc.assert(fc.property(rows, (log) => {
      let open = false
      const seen: ('entered' | 'left' | 'failover' | 'moved')[] = []
      for (const { fact, before, after } of moments(log)) {
        for (const { type } of transitions(before, after)) {
          seen.push(type)
          if (type === 'failover' || type === 'moved') continue
          expect(type).toBe(open ? 'left' : 'entered')
          open = !open
        }
        // A fork drops what its parent had open, and nobody left anything.
        if (fact.type === 'seedEnded' && after.entries.open === null) open = false
        expect(after.entries.open !== null).toBe(open)
      }
      met.run(seen)
    }), { numRuns: 300 })
    met.check()
  })
})
