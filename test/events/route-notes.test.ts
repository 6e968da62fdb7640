import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeEvent } from '../../src/events/decode.ts'
import { MOVED_WHYS, noteId, type RouteNote, readRouteNote, writeRouteNote } from '../../src/events/route-notes.ts'
import { readSettingCommand } from '../../src/events/settings.ts'

const name = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' })
const route = fc.record({ provider: name, model: name })
const note: fc.Arbitrary<RouteNote> = fc.oneof(
  fc.record({ kind: fc.constant('moved' as const), base: route, from: route, to: route, pool: name, why: fc.constantFrom(...MOVED_WHYS) }),
  fc.record({ kind: fc.constant('picked' as const), route, reasoningEffort: name }),
  fc.record({ kind: fc.constant('picked' as const), route }),
  fc.record({ kind: fc.constant('stands' as const), route }),
)

describe('a note on where requests go', () => {
  it('is read back as it was written, whatever names are in it, and is no setting', () => {
    fc.assert(fc.property(note, (given) => {
      const { name: command, args } = writeRouteNote(given)
      expect(readRouteNote(noteId('x'), command, args)).toEqual(given)
      expect(readSettingCommand(command, args)).toBeUndefined()
    }), { numRuns: 500 })
  })

  it('reads as a person writes it', () => {
    expect(writeRouteNote({ kind: 'moved', base: { provider: 'a', model: 'm' }, from: { provider: 'a', model: 'm' }, to: { provider: 'router', model: 'open/n 2' }, pool: 'medium', why: 'marked' }))
      .toEqual({ name: 'quota-pool', args: ' moved router/open/n%202 from a/m pool medium because marked over a/m' })
  })

  it('is none when a person typed it, and nothing when it is damaged', () => {
    const { name: command, args } = writeRouteNote({ kind: 'stands', route: { provider: 'a', model: 'm' } })
    expect(readRouteNote('some-id', command, args)).toBeUndefined()
    fc.assert(fc.property(fc.string({ maxLength: 40 }), fc.constantFrom('moved', 'picked', 'stands', ''), (text, kind) => {
      expect(() => readRouteNote(noteId('x'), 'quota-pool', ` ${kind} ${text}`)).not.toThrow()
    }))
    for (const damaged of [' moved', ' moved a/m from b/n pool p because moon over a/m', ' stands am', ' stands /m', ' picked %', '']) {
      expect(readRouteNote(noteId('x'), 'quota-pool', damaged)).toBeUndefined()
    }
  })

  it('is a fact; so is a selection that newer hosts log', () => {
    const run = { type: 'command/run', seq: 4, time: 9, data: { commandId: noteId('x'), ...writeRouteNote({ kind: 'picked', route: { provider: 'a', model: 'm' } }), source: { kind: 'user' } } }
    expect(decodeEvent(run)).toEqual({ type: 'modelPicked', route: { provider: 'a', model: 'm' }, at: 9, seq: 4 })
    expect(decodeEvent({ type: 'model/selection', seq: 5, time: 9, data: { provider: 'a', model: 'm', reasoningEffort: 'high' } }))
      .toEqual({ type: 'modelPicked', route: { provider: 'a', model: 'm' }, reasoningEffort: 'high', at: 9, seq: 5 })
  })
})
