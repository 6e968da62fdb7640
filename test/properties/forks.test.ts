import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { replay } from '../../src/projections/replay.ts'
import { foldSession, initialState } from '../../src/reducers/session.ts'
import { settledSettings } from '../../src/reducers/settings.ts'
import { reach } from '../support/reach.ts'
import { rows } from './generator.ts'
import { walk } from './walk.ts'

type Row = any

/** A fork of a log at some place, as newer releases write it, or older ones. */
const fork = fc.tuple(rows, fc.nat(), fc.boolean()).map(([log, cut, says]) => {
  const parent = log.slice(0, 2 + cut % Math.max(1, log.length - 1))
  const events = parent.length - 1
  const last = parent.at(-1)!
  // The harness writes no second end where the parent's log already ends in one.
  const ended = last.type === 'session/end-seed' && !says
  const head = { ...parent[0], id: 'child', parentSession: 'parent', seedLength: events }
  const end = { type: 'session/end-seed', seq: events, time: last.time ?? last.createdAt, data: says ? { inherited: true } : {} }
  return { parent, log: [head, ...parent.slice(1), ...ended ? [] : [end]] as Row[], says }
})

describe('a fork of a log at any place', () => {
  it('takes over the settings as inherited ones, and neither the entry nor the moves', () => {
    const met = reach({ 'an open entry in the parent': 0.2, 'a move in the parent': 0.2, 'a setting of the parent': 0.12, 'an older release': 0.3 })
    fc.assert(fc.property(fork, ({ parent, log, says }) => {
      const [was, is] = [foldSession(parent), foldSession(log)]
      const seed = parent.length > 1 || says
      met.run([
        ...was.entries.open === null ? [] : ['an open entry in the parent' as const],
        ...was.failovers.count === 0 ? [] : ['a move in the parent' as const],
        ...was.settings.retry === null ? [] : ['a setting of the parent' as const],
        ...says ? [] : ['an older release' as const],
      ])
      if (!seed) return
      expect([is.entries, is.failovers]).toEqual([initialState.entries, initialState.failovers])
      const inherited = <T extends object>(stated: T | null): T | null => stated === null ? null : { ...stated, source: 'inherited' }
      const { failures, pool, retry } = settledSettings(was.settings, log.at(-1)!.time)
      expect(is.settings).toEqual({ retry: inherited(retry), failures: inherited(failures), pool: inherited(pool), assigned: false, assignedRequest: false, touched: false, open: {} })
      expect(is.step).toMatchObject({ turn: null, step: null, route: was.step.route, reasoningEffort: was.step.reasoningEffort })
      expect(is.lineage).toEqual({ id: 'child', parent: 'parent', seedLength: parent.length - 1, started: false })
      const history = replay(log)
      expect(history).toMatchObject({ entries: [], failovers: [], failures: 0, answers: 0 })
    }), { numRuns: 400 })
    met.check()
  })

  it('is, from there on, the history of its own alone', () => {
    const met = reach({ 'an own entry': 0.1, 'an own move': 0.1 })
    fc.assert(fc.property(walk, ({ sessions }) => {
      const seen: ('an own entry' | 'an own move')[] = []
      for (const { rows: log, ownFrom, closed, entry, moves } of sessions.filter(({ ownFrom: from }) => from > 1)) {
        const history = replay(log)
        expect([history.entries.length, history.failovers.length]).toEqual([closed + (entry === null ? 0 : 1), moves])
        expect(history.answers).toBe(log.slice(ownFrom).filter(row => row.type === 'assistant/message' && row.data.interrupted !== true).length)
        if (history.entries.length > 0) seen.push('an own entry')
        if (moves > 0) seen.push('an own move')
      }
      met.run(seen)
    }), { numRuns: 300 })
    met.check()
  })
})
