import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/policy/config.ts'
import { projectionUnit } from '../../src/projections/unit.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { log, type Log, NOON, textChunk, waitingLog } from '../support/build.ts'

const unit = projectionUnit(parseConfig({}))

/** What a registry up to 0.1.0 does with a unit. */
const early = (given: Log): unknown => unit.schema.parse(unit.view(given.rows.reduce(unit.apply, unit.init())))
/** What a later registry does, cached state included. */
function late(given: Log): unknown {
  const header = { id: 's1', createdAt: NOON }
  const state = unit.stateSchema.parse(JSON.parse(JSON.stringify(given.rows.reduce(unit.apply, unit.init(header)))))
  return unit.wire.viewSchema.parse(unit.wire.view(state))
}

describe('the projection', () => {
  it('is the value of its key in every registry', () => {
    expect([unit.key, unit.stateVersion]).toEqual(['quotaRetry', expect.any(Number)])
    for (const given of [log(), waitingLog(), waitingLog().cancels(), waitingLog().starts().answers().command('/quota-retry off')]) {
      expect(early(given)).toEqual(late(given))
      expect(early(given)).toMatchObject({ version: 1 })
    }
  })

  it('knows the session where the registry says which it is', () => {
    expect(unit.init({ id: 's1', createdAt: NOON, parentSession: 'p', seedLength: 3 }).lineage).toMatchObject({ id: 's1', parent: 'p', seedLength: 3 })
    expect(unit.init().lineage.id).toBeNull()
    expect(unit.init('nonsense')).toEqual(unit.init())
  })

  it('gives the same reference back for what is not ours', () => {
    const state = foldSession(waitingLog().rows)
    for (const event of [{ type: 'assistant/chunk', seq: 1, time: 1, data: { turn: 1, step: 1, chunk: textChunk() } }, { type: 'x' }, null]) {
      expect(unit.apply(state, event)).toBe(state)
    }
  })

  it.each([undefined, null, 5, {}, [], { lineage: {} }])('refuses %j as a cached state', (value) => {
    expect(() => unit.stateSchema.parse(value)).toThrow(/llm-quota-retry/)
  })
})
