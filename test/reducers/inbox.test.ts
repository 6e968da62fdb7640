import { describe, expect, it } from 'vitest'
import { deliveryFor } from '../../src/policy/resume.ts'
import { foldInbox } from '../../src/reducers/inbox.ts'

const message = (id: string, plugin?: string) => ({ id, role: 'user', content: [], source: plugin === undefined ? { kind: 'user' } : { kind: 'plugin', plugin } })

/** A log of queue events, numbered as they come. */
function queue(...events: [type: string, data?: object][]): object[] {
  return events.map(([type, data = {}], seq) => ({ type, seq, time: seq, data }))
}
const puts = (id: string, plugin?: string): [string, object] => ['agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [message(id, plugin)] }]
const drops = (count = 1): [string, object] => ['agent/inbox/spliced', { target: 'next-turn', start: 0, removedCount: count, inserted: [], outcome: 'canceled' }]
const restored = (log: object[]): string[] => deliveryFor(foldInbox(log), 'llm-quota-retry').restore.map(({ message: { id } }) => id)
const CUT: [string, object][] = [['step/end'], ['turn/end', { turn: 1, reason: { kind: 'interrupted' } }], ['session/end-seed']] as never

describe('messages that the end of the host dropped', () => {
  it('come back', () => {
    expect(restored(queue(puts('a'), drops(), ...CUT))).toEqual(['a'])
    expect(restored(queue(puts('a'), drops()))).toEqual(['a'])
  })

  it('come back once: not when they are back already, or have entered the conversation', () => {
    expect(restored(queue(puts('a'), drops(), ...CUT, puts('a')))).toEqual([])
    expect(restored(queue(puts('a'), drops(), ...CUT, ['user/message', message('a')]))).toEqual([])
  })

  it('do not come back after the run went on', () => {
    expect(restored(queue(puts('a'), drops(), ...CUT, ['turn/start', { turn: 2 }], ['turn/end', { turn: 2 }]))).toEqual([])
  })

  it('do not come back when the person removed them: the process wrote on after that', () => {
    expect(restored(queue(puts('a'), drops(), ['llm/retry', { retryId: 'x' }], ...CUT))).toEqual([])
    expect(restored(queue(puts('a'), drops(), puts('b'), ...CUT))).toEqual([])
  })

  it('are the person\'s alone: a continuation of ours is made anew', () => {
    expect(restored(queue(puts('a', 'llm-quota-retry'), drops(), ...CUT))).toEqual([])
  })
})

describe('messages that a turn took out of the queue', () => {
  const takes = (count = 1): [string, object] => ['agent/inbox/spliced', { target: 'next-turn', start: 0, removedCount: count, inserted: [] }]
  const turn: [string, object] = ['turn/start', { turn: 1 }]
  const gone = (kind: string, by?: string): [string, object] => ['turn/end', { turn: 1, reason: { kind, ...by === undefined ? {} : { reason: { kind: by } } } }]

  it('come back when the host ended before they entered the conversation, with what was dropped behind them', () => {
    expect(restored(queue(puts('a'), turn, takes(), ...CUT))).toEqual(['a'])
    expect(restored(queue(puts('a'), turn, takes(), gone('aborted', 'disposed')))).toEqual(['a'])
    expect(restored(queue(puts('a'), turn, takes(), puts('b'), drops(), gone('aborted', 'disposed')))).toEqual(['a', 'b'])
  })

  it('do not when they entered it, in whatever form, or a request was made since', () => {
    expect(restored(queue(puts('a'), turn, takes(), ['user/message', message('a')], ...CUT))).toEqual([])
    expect(restored(queue(puts('a'), turn, takes(), ['user/message', message('rewritten')], ...CUT))).toEqual([])
    expect(restored(queue(puts('a'), turn, takes(), ['request/header', {}], ...CUT))).toEqual([])
  })

  it('do not when the person stopped the turn, or somebody refused it', () => {
    expect(restored(queue(puts('a'), turn, takes(), gone('aborted', 'user')))).toEqual([])
    expect(restored(queue(puts('a'), turn, takes(), gone('blocked')))).toEqual([])
  })

  it('come back once', () => {
    expect(restored(queue(puts('a'), turn, takes(), ...CUT, puts('a')))).toEqual([])
  })
})

describe('a continuation that an earlier start left in the queue', () => {
  it('is replaced by the next one', () => {
    expect(deliveryFor(foldInbox(queue(puts('a', 'llm-quota-retry'), puts('b'))), 'llm-quota-retry').superseded).toEqual(['a'])
  })
})

describe('the queue of a fork', () => {
  it('is its own, not its parent\'s', () => {
    expect(foldInbox(queue(puts('a'), puts('b')), 1).pending['next-turn'].map(({ id }) => id)).toEqual(['b'])
  })
})
