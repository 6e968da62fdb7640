import { describe, expect, it } from 'vitest'
import { chainPlace, evolveChain, lineText, type LogEvent } from '../../client/transcript/chain.ts'
import { headerDefinition, lineDefinition } from '../../client/transcript/definition.ts'
import { moveKey, waitKey } from '../../src/events/policy-key.ts'

const T0 = 1_800_000_000_000
const retry = (seq: number, policyKey: string, more: Record<string, unknown> = {}): LogEvent => ({
  type: 'llm/retry', seq, time: T0, data: {
    retryId: 'r', retry: 1, turn: 2, step: 0, provider: 'a', mode: 'always', policyKey, delayMs: 3_600_000,
    failure: { code: 'QUOTA', message: 'no more' }, ...more,
  },
})
const started: LogEvent = { type: 'llm/retry-started', seq: 9, time: T0 + 1, data: { retryId: 'r', retry: 1, turn: 2, step: 0 } }
const wait = waitKey({ intervalMs: 3_600_000, cause: 'interval' })
const move = moveKey('medium', 'b', 'n')

describe('our retries in the transcript', () => {
  it('are told from those of others', () => {
    expect(chainPlace(retry(5, wait))).toEqual({ id: 'r', role: 'start' })
    expect(chainPlace(retry(5, wait, { retry: 2 }))).toEqual({ id: 'r', role: 'update' })
    expect(chainPlace(started)).toEqual({ id: 'r', role: 'update' })
    expect(chainPlace(retry(5, 'another policy'))).toBeNull()
    expect(chainPlace(retry(5, wait, { retryId: 7 }))).toBeNull()
    expect(chainPlace({ type: 'assistant/message', seq: 1, time: T0 })).toBeNull()
    expect(chainPlace({ type: 'llm/retry', seq: 1, time: T0, data: null })).toBeNull()
  })

  it('say of a wait how it stands', () => {
    const first = evolveChain(undefined, retry(5, wait), 'm')!
    expect(lineText(first, 'open', T0 + 3_600_000)).toMatchObject({ key: 'line.waiting', values: { route: 'a/m' }, next: T0 + 3_600_000 })
    expect(lineText(first, 'open', null)).toMatchObject({ key: 'line.waited' })
    expect(lineText(first, 'cancelled', null)).toMatchObject({ key: 'line.stopped' })
    expect(lineText(first, 'done', null)).toMatchObject({ key: 'line.waited' })
    const second = evolveChain(evolveChain(first, started)!, retry(12, wait, { retry: 2 }))!
    expect(second).toMatchObject({ count: 2, started: false, seq: 5, model: 'm' })
    expect(lineText(evolveChain(second, started)!, 'cancelled', null)).toMatchObject({ key: 'line.waited.many', values: { count: 2 } })
  })

  it('say on which route they wait, and why they ended early', () => {
    const on = waitKey({ intervalMs: 1, cause: 'hint', on: { provider: 'c', model: 'k' } })
    expect(lineText(evolveChain(undefined, retry(5, on))!, 'done', null).values).toMatchObject({ route: 'c/k' })
    const asked = evolveChain(undefined, retry(5, waitKey({ intervalMs: 1, cause: 'asked' }), { delayMs: 0 }))!
    expect(lineText(asked, 'done', null)).toMatchObject({ key: 'line.asked', why: 'why.asked' })
  })

  it('say of a move where from, where to, and until when the provider has no allowance', () => {
    const plain = evolveChain(undefined, retry(5, move), 'm')!
    expect(lineText(plain, 'done', null)).toEqual({ key: 'line.moved', values: { from: 'a/m', to: 'b/n', pool: 'medium' }, until: null })
    const until = T0 + 7_200_000
    const said = evolveChain(undefined, retry(5, move, { failure: { message: `Resets at ${new Date(until).toISOString()}` } }))!
    expect(lineText(said, 'done', null)).toMatchObject({ key: 'line.moved', values: { from: 'a' }, until })
    const after = evolveChain(undefined, retry(5, move, { failure: { message: 'no', providerRetryAfterMs: 60_000 } }))!
    expect(after.until).toBe(T0 + 60_000)
    // What lies in the past is no end.
    expect(evolveChain(undefined, retry(5, move, { failure: { message: `since ${new Date(T0 - 1).toISOString()}` } }))!.until).toBeNull()
    // When a plan or an invoice ends is no reset.
    for (const failure of [{ message: 'Insufficient Balance. Your plan is valid to 2099-01-01T00:00:00Z' }, { message: '{"invoice_due":"2099-12-31T23:59:59Z"}' }, { message: 'busy', providerRetryAfterMs: 99_999_999_000 }]) {
      expect(evolveChain(undefined, retry(5, move, { failure }))!.until).toBeNull()
    }
  })

  it('leave a start of nothing, and a record that makes no sense, alone', () => {
    expect(evolveChain(undefined, started)).toBeUndefined()
    expect(evolveChain(undefined, retry(5, wait, { provider: 7 }))).toBeUndefined()
  })
})

describe('the lines of the transcript', () => {
  const header = { type: 'request/header', seq: 4, time: T0, data: { header: { config: { provider: 'a', model: 'm' } } } }
  const at = (event: LogEvent, turn: object) => ({ event, role: 'start', location: { kind: 'turn', turn } })
  const reader = { previous: () => ({ state: headerDefinition.start(undefined, at(header, {})) }) }

  it('stand right behind the harness\'s row, and know the route from the header before', () => {
    const first = at(retry(5, wait), { status: 'open' })
    const context = { key: 'k', id: 'r', matches: [first], start: first }
    const state = lineDefinition.start(context, first, reader)
    expect(state).toMatchObject({ model: 'm' })
    expect(lineDefinition.buildViewNode({ ...context, state })).toMatchObject({ anchorSeq: 5.01, target: 'chat', visibility: 'visible', data: { turn: 'open' } })
    expect(lineDefinition.buildViewNode({ ...context, state: undefined })).toBeNull()
  })

  it.each([
    [{ status: 'closed', end: { type: 'turn/end', seq: 9, time: T0, data: { reason: { kind: 'aborted' } } } }, 'cancelled'],
    [{ status: 'closed', end: { type: 'turn/end', seq: 9, time: T0, data: { reason: { kind: 'completed' } } } }, 'done'],
    [{ status: 'closed' }, 'done'],
  ])('know how their turn ended', (turn, expected) => {
    const first = at(retry(5, wait), turn)
    const context = { key: 'k', id: 'r', matches: [first], start: first }
    expect(lineDefinition.buildViewNode({ ...context, state: lineDefinition.start(context, first, { }) })).toMatchObject({ data: { turn: expected, chain: { model: null } } })
  })

  it('read headers of any shape', () => {
    expect(headerDefinition.match(header)).toEqual({ id: '4', role: 'start' })
    expect(headerDefinition.start(undefined, at({ type: 'request/header', seq: 1, time: T0 }, {}))).toEqual({ provider: undefined, model: undefined })
  })
})
