import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evolveEvent, foldSession } from '../../src/reducers/session.ts'
import { SECOND } from '../support/build.ts'
import { settledSettings } from '../../src/reducers/settings.ts'
import { reach } from '../support/reach.ts'
import { longest, walk } from './walk.ts'

type Row = any

/** What the harness adds to a log that was cut off, when it loads it again. */
function repaired(log: readonly Row[], withStep: boolean): Row[] {
  const { turn, step } = foldSession(log).step
  const time = (log.at(-1)?.time ?? log[0].createdAt) + SECOND
  let seq = log.length - 1
  const event = (type: string, data: object): Row => ({ type, seq: seq++, time, data })
  return [
    ...log,
    ...turn !== null && step !== null && withStep ? [event('step/end', { turn, step })] : [],
    ...turn === null ? [] : [event('turn/end', { turn, reason: { kind: 'interrupted' } })],
    event('session/end-seed', {}),
  ]
}

/** What a fork took over is written at once, with its head. */
const cutAnywhere = fc.tuple(walk.map(longest), fc.nat(), fc.boolean()).map(([{ rows, ownFrom }, cut, withStep]) => {
  const before = rows.slice(0, ownFrom + cut % (rows.length - ownFrom + 1))
  return { before, after: repaired(before, withStep) }
})

describe('a log that is cut off anywhere and mended by the harness', () => {
  it('keeps the entry with its attempts, disarmed; a run that was cut off in its turn is to go on at the time it waited for', () => {
    const met = reach({ 'a wait was cut off': 0.03, 'an attempt was cut off': 0.05, 'an entry of an earlier turn': 0.05 })
    fc.assert(fc.property(cutAnywhere, ({ before, after }) => {
      const [was, is] = [foldSession(before), foldSession(after)]
      const open = was.entries.open
      expect(is.step).toMatchObject({ turn: null, step: null, refused: [], chains: { recent: {}, earlier: {} } })
      const settled = settledSettings(was.settings, after.at(-1)!.time)
      expect([is.settings.retry, is.settings.pool, is.failovers, is.lineage]).toEqual([settled.retry, settled.pool, was.failovers, was.lineage])
      expect(is.settings.open).toEqual({})
      const held = open !== null && was.step.turn !== null && open.heldBy === was.step.turn
      if (open !== null && settled.retry?.value === 'off' && settled.retry !== was.settings.retry) {
        expect(is.entries).toMatchObject({ open: null, lastClosed: { reason: 'disabled' } })
        return
      }
      expect(is.entries).toEqual(open === null ? was.entries : {
        ...was.entries,
        open: { ...open, wait: null, cutOff: held ? open.wait?.nextAttemptAt ?? after.at(-1)!.time : open.cutOff },
      })
      if (was.step.turn !== null) expect(is.step.cut?.to).toBe(was.step.turn)
      met.run(open === null ? [] : held ? [open.wait === null ? 'an attempt was cut off' : 'a wait was cut off'] : ['an entry of an earlier turn'])
    }), { numRuns: 500 })
    met.check()
  })

  it('is the same whether the end of the step was written or not', () => {
    fc.assert(fc.property(cutAnywhere, ({ before }) => {
      const strip = (log: readonly Row[]): string => JSON.stringify(foldSession(log))
      expect(strip(repaired(before, true))).toBe(strip(repaired(before, false)))
    }), { numRuns: 200 })
  })

  it('goes on in the turn that comes next, which carries the run on as if it were its own', () => {
    const met = reach({ 'carried on': 0.1 })
    fc.assert(fc.property(cutAnywhere, ({ after }) => {
      const cut = foldSession(after)
      const turn = 1 + Math.max(0, ...after.filter(row => row.type === 'turn/start').map(row => row.data.turn as number))
      const next = evolveEvent(cut, { type: 'turn/start', seq: after.length - 1, time: after.at(-1)!.time, data: { turn } })
      const { open } = cut.entries
      if (open === null) expect(next.entries).toBe(cut.entries)
      else expect(next.entries.open).toEqual({ ...open, wait: null, cutOff: null, heldBy: open.cutOff === null ? open.heldBy : turn })
      met.run(open !== null && open.cutOff !== null ? ['carried on'] : [])
    }), { numRuns: 300 })
    met.check()
  })
})
