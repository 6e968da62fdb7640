import fc from 'fast-check'
import { produce } from 'immer'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { evolveEvent, foldSession } from '../../src/reducers/session.ts'
import { textChunk, waitingLog } from '../support/build.ts'
import { reach } from '../support/reach.ts'
import { rows } from './generator.ts'

vi.mock(import('immer'), async (original) => {
  const immer = await original()
  return { ...immer, produce: vi.fn(immer.produce) as unknown as typeof immer.produce }
})

beforeEach(() => { vi.mocked(produce).mockClear() })

describe('a stream chunk', () => {
  it('never enters Immer, and leaves the very same state', () => {
    const met = reach({ 'an open entry': 0.3 })
    fc.assert(fc.property(rows, fc.constantFrom<object>(textChunk(), { type: 'reasoning-delta' }, { type: 'finish', reason: { kind: 'stop' } }, {}), (log, chunk) => {
      const state = foldSession(log)
      vi.mocked(produce).mockClear()
      expect(evolveEvent(state, { type: 'assistant/chunk', seq: 1, time: 1, data: { turn: 1, step: 1, chunk } })).toBe(state)
      expect(produce).not.toHaveBeenCalled()
      met.run(state.entries.open === null ? [] : ['an open entry'])
    }), { numRuns: 150 })
    met.check()
  })

  it('is what the spy would see otherwise', () => {
    foldSession(waitingLog().cancels().rows)
    expect(produce).toHaveBeenCalled()
  })
})
