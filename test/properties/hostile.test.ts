import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeEvent } from '../../src/events/decode.ts'
import { readJournalRecord } from '../../src/events/journal.ts'
import { isRecord } from '../../src/events/json.ts'
import { parseConfig } from '../../src/policy/config.ts'
import { QuotaRetryFacts, quotaRetryFacts } from '../../src/projections/facts.ts'
import { replay } from '../../src/projections/replay.ts'
import { retrySnapshot } from '../../src/projections/snapshot.ts'
import { retryStatusText } from '../../src/projections/status.ts'
import { timeline, timelineText } from '../../src/projections/timeline.ts'
import { evolveEvent, initialState } from '../../src/reducers/session.ts'
import { deepFreeze, log, NOON } from '../support/build.ts'
import { reach } from '../support/reach.ts'
import { rows } from './generator.ts'

const TYPES = [
  'session', 'assistant/chunk', 'assistant/attempt', 'assistant/message', 'llm/retry', 'llm/retry-started', 'request/header',
  'turn/start', 'turn/end', 'step/start', 'step/end', 'command/run', 'command/done', 'session/end-seed', '__proto__', 'constructor',
]
const KEYS = [
  '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'turn', 'step', 'retryId', 'retry', 'provider', 'model', 'policyKey', 'delayMs',
  'failure', 'code', 'message', 'chunk', 'stream', 'type', 'reason', 'kind', 'commandId', 'name', 'args', 'source', 'header', 'config', 'inherited', 'interrupted',
]
const WORDS = [
  '', '__proto__', 'constructor', 'quota-retry', 'quota-pool', ' off', 'success', 'finish', 'error', '\ud800', '["llm-quota-retry","wait",1e308]',
  '["llm-quota-retry","wait",5,"__proto__"]', '["llm-quota-retry","move","__proto__","__proto__","m"]', '["llm-quota-retry",', '["llm-quota-retry","wait",5',
]
const NUMBERS = [0, -0, -1, 1, 1.5, 2 ** 31, 2 ** 53, 8.64e15, -8.64e15, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE]

/** JSON with the keys, words and numbers that hurt. */
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 3, arbitrary: fc.oneof(fc.constantFrom<unknown>(null, true, false, ...WORDS, ...NUMBERS), fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true })) },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 2, arbitrary: fc.array(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 6 }).map(object) },
  ),
}))

/** Every key becomes the object's own, `__proto__` too, as `JSON.parse` makes it. */
function object(entries: [string, unknown][]): Record<string, unknown> {
  const made: Record<string, unknown> = {}
  for (const [key, inner] of entries) Object.defineProperty(made, key, { value: inner, enumerable: true, writable: true, configurable: true })
  return made
}

/** A row of a known type with some fields of a sound one replaced. */
const damaged = fc.tuple(fc.constantFrom(...sound()), fc.array(fc.tuple(fc.constantFrom(...KEYS), value), { maxLength: 3 }), fc.constantFrom(...NUMBERS, NOON))
  .map(([row, changes, time]) => ({ ...row, time, createdAt: time, data: object([...Object.entries(row.data ?? {}), ...changes]) }))
const event = fc.oneof(
  damaged,
  fc.record({ type: fc.constantFrom(...TYPES), seq: value, time: value, data: value, id: value, createdAt: value, parentSession: value, seedLength: value }),
  value,
)

/** A plausible log that was torn: rows left out, doubled, in another order, and with damage in between. */
const torn = fc.tuple(rows, fc.array(fc.tuple(fc.nat(), fc.constantFrom('drop', 'double', 'swap', 'damage'), event), { maxLength: 20, size: 'max' })).map(([log, changes]) => {
  const made: unknown[] = [...log]
  for (const [place, change, damage] of changes) {
    const index = place % (made.length + 1)
    if (change === 'drop') made.splice(index, 1)
    else if (change === 'damage') made.splice(index, 0, damage)
    else if (change === 'double') made.splice(index, 0, made[(place >> 3) % Math.max(1, made.length)])
    else made.splice(index, 0, ...made.splice((place >> 3) % Math.max(1, made.length), 1))
  }
  return made
})
const logs = fc.oneof(fc.array(event, { maxLength: 20, size: 'max' }), torn)

function sound(): any[] {
  return log().head().turn().step().asks().chunk().refused().refusedInAttempt().waits().starts().moves('p', 'b', 'n').answers()
    .runs('/quota-retry off').settles().cancels().crashes().rows
}

describe('whatever a log holds', () => {
  it('the decoder and the fold never throw, never mutate, and keep plain JSON', () => {
    const met = reach({ 'an entry': 0.2, 'a damaged retry record': 0.08 })
    fc.assert(fc.property(logs, (events) => {
      let state = initialState
      for (const row of events) state = deepFreeze(evolveEvent(state, deepFreeze(row)))
      const json = JSON.stringify(state)
      const again = JSON.parse(json)
      // Minus zero is the one number that JSON forgets.
      expect(JSON.stringify(again)).toBe(json)
      expect(finite(state)).toBe(true)
      expect(Object.getPrototypeOf({})).toBe(Object.prototype)
      met.run([
        ...state.entries.open !== null || state.entries.closed > 0 ? ['an entry' as const] : [],
        ...events.some(row => isRecord(row) && row['type'] === 'llm/retry' && decodeEvent(row) === undefined) ? ['a damaged retry record' as const] : [],
      ])
    }), { numRuns: 600 })
    met.check()
  })

  it('every view of it holds what its schema promises', () => {
    const config = parseConfig({ pools: { p: { routes: [{ provider: 'a', model: 'm' }] } } })
    fc.assert(fc.property(logs, (events) => {
      const history = replay([...log().head().turn().asks().refused().waits().rows, ...events], events)
      QuotaRetryFacts.parse(JSON.parse(JSON.stringify(quotaRetryFacts(history.state, config))))
      retrySnapshot(history.state, config)
      expect(retryStatusText(history.state, config, NOON)).not.toMatch(/undefined|NaN/)
      expect(timelineText(timeline(history), 'UTC').split('\n')).toHaveLength(timeline(history).length || 1)
    }), { numRuns: 150 })
  })

  it('a failure in a record is one that may be written into the log again', () => {
    const met = reach({ 'a failure': 0.1 })
    fc.assert(fc.property(damaged, (row) => {
      const fact = decodeEvent(row)
      met.run(fact !== undefined && 'failure' in fact ? ['a failure'] : [])
      if (fact === undefined || !('failure' in fact)) return
      const { code, message, status, providerRetryAfterMs } = fact.failure
      expect([code.length > 0, message.length > 0]).toEqual([true, true])
      if (status !== undefined) expect(Number.isInteger(status) && status >= 100 && status <= 599).toBe(true)
      if (providerRetryAfterMs !== undefined) expect(Number.isFinite(providerRetryAfterMs) && providerRetryAfterMs > 0).toBe(true)
      if ('delayMs' in fact) expect(fact.delayMs >= 0 && fact.delayMs <= 2_147_483_647).toBe(true)
    }), { numRuns: 600 })
    met.check()
  })

  it('reading a journal record never throws', () => {
    fc.assert(fc.property(value, (record) => { readJournalRecord(record) }), { numRuns: 300 })
  })

  it('is passed over by a fold that goes on', () => {
    fc.assert(fc.property(rows, fc.array(fc.oneof(fc.constantFrom(null, 'torn', 5, [], {})), { maxLength: 5 }), (log, damage) => {
      expect(JSON.stringify(replay([...damage, ...log]).state)).toBe(JSON.stringify(replay(log).state))
    }), { numRuns: 100 })
  })
})

/** Whether every number in a value is one that JSON can hold. */
function finite(inner: unknown): boolean {
  if (typeof inner === 'number') return Number.isFinite(inner)
  return typeof inner !== 'object' || inner === null || Object.values(inner).every(finite)
}
