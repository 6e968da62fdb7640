import { describe, expect, it } from 'vitest'
import type { LogEvent } from '../../client/transcript/chain.ts'
import { headerDefinition, moveDefinition, waitDefinition } from '../../client/transcript/definition.ts'
import { type Move, movePlace, moveText, readMove } from '../../client/transcript/move.ts'
import { evolveWait, type Step, type WaitLine, waitPlace, waitText } from '../../client/transcript/wait.ts'
import { moveKey, type MoveCause, waitKey, type WaitCause } from '../../src/events/policy-key.ts'

const T0 = 1_800_000_000_000
const HOUR = 3_600_000
const retry = (seq: number, policyKey: string, more: Record<string, unknown> = {}): LogEvent => ({
  type: 'llm/retry', seq, time: T0, data: {
    retryId: 'r', retry: 1, turn: 2, step: 0, provider: 'a', mode: 'always', policyKey, delayMs: HOUR,
    failure: { code: 'QUOTA', message: 'no more' }, ...more,
  },
})
const started = (seq: number, time: number, retryId = 'r'): LogEvent => ({ type: 'llm/retry-started', seq, time, data: { retryId, retry: 1, turn: 2, step: 0 } })
const wait = (cause: WaitCause = 'interval') => waitKey({ intervalMs: HOUR, cause })
const move = (afterWait?: MoveCause) => moveKey('medium', 'b', 'n', afterWait)
const step: Step = { kind: 'step', provider: 'a', model: 'm' }
const fold = (...events: LogEvent[]): WaitLine => events.reduce<WaitLine | Step>(evolveWait, step) as WaitLine

describe('a wait in the transcript', () => {
  it('is of the step it stands in, whatever planned its attempts', () => {
    for (const event of [retry(5, wait()), retry(5, wait('asked'), { retryId: 'q', retry: 1 }), retry(5, wait(), { retry: 2 }), retry(5, move('due')), started(6, T0)]) {
      expect(waitPlace(event)).toEqual({ id: '2.0', role: 'update' })
    }
    expect(waitPlace({ type: 'step/start', seq: 1, time: T0, data: { turn: 2, step: 0 } })).toEqual({ id: '2.0', role: 'start' })
  })

  it('is not what others retry, a move, or an event that makes no sense', () => {
    for (const event of [retry(5, 'another policy'), retry(5, move()), retry(5, wait(), { turn: 'x' }), { type: 'step/start', seq: 1, time: T0 }, { type: 'assistant/message', seq: 1, time: T0 }, { type: 'llm/retry', seq: 1, time: T0, data: null }]) {
      expect(waitPlace(event)).toBeNull()
    }
    expect(evolveWait(step, retry(5, wait(), { provider: 7 }))).toBe(step)
    expect(evolveWait(step, started(6, T0))).toBe(step)
    const one = fold(retry(5, wait()))
    expect(evolveWait(one, started(6, T0, 'of another'))).toBe(one)
  })

  it('tells its last state, at its newest attempt', () => {
    const first = fold(retry(5, wait()))
    expect(waitText(first, 'open', T0 + HOUR)).toMatchObject({ key: 'line.waiting', values: { route: 'a/m' }, next: T0 + HOUR })
    expect(waitText(first, 'cancelled', null)).toMatchObject({ key: 'line.stopped' })
    const second = fold(retry(5, wait()), started(6, T0 + HOUR), retry(9, wait('other-route'), { retryId: 's' }))
    expect(second).toMatchObject({ seq: 9, since: T0, checks: 1, model: 'm' })
    expect(waitText(second, 'open', T0 + HOUR)).toMatchObject({ key: 'line.waiting.many', values: { count: 1 } })
    const over = evolveWait(second, started(10, T0 + 2 * HOUR, 's')) as WaitLine
    expect(waitText(over, 'done', null)).toEqual({ key: 'line.waited.many', values: { route: 'a/m', count: 2 }, took: 2 * HOUR })
  })

  it('says why its last attempt came early, and where it went, in the same line', () => {
    const asked = fold(retry(5, wait()), retry(7, wait('asked'), { retryId: 'q', delayMs: 0 }), started(8, T0 + 1_000, 'q'), retry(9, move('asked')))
    expect(waitText(asked, 'done', null)).toMatchObject({ key: 'line.waited', values: { route: 'b/n' }, why: 'why.asked', took: 1_000 })
  })

  it('names the route that it waits on, and when the provider says that it is back', () => {
    const on = waitKey({ intervalMs: 1, cause: 'hint', on: { provider: 'c', model: 'k' } })
    const until = T0 + 2 * HOUR
    const found = fold(retry(5, on, { failure: { message: `Resets at ${new Date(until).toISOString()}` } }))
    expect(waitText(found, 'open', found.nextAttemptAt)).toMatchObject({ values: { route: 'c/k' }, until })
  })
})

describe('a move in the transcript', () => {
  const read = (event: LogEvent, model: unknown = 'm'): Move => readMove(event, { provider: 'a', model })

  it('stands once, where it was first made, and not where a wait made it', () => {
    expect(movePlace(retry(5, move()))).toEqual({ id: 'r', role: 'start' })
    for (const event of [retry(5, move(), { retry: 2 }), retry(5, move('due')), retry(5, wait()), retry(5, move(), { provider: 7 }), retry(5, move(), { retryId: 7 })]) expect(movePlace(event)).toBeNull()
  })

  it('says where from, where to, and until when the provider has no allowance', () => {
    expect(moveText(read(retry(5, move())))).toEqual({ key: 'line.moved', values: { from: 'a/m', to: 'b/n', pool: 'medium' }, until: null })
    const until = T0 + 2 * HOUR
    expect(moveText(read(retry(5, move(), { failure: { message: `Resets at ${new Date(until).toISOString()}` } }), null))).toMatchObject({ values: { from: 'a' }, until })
    expect(read(retry(5, move(), { failure: { message: 'no', providerRetryAfterMs: 60_000 } })).until).toBe(T0 + 60_000)
  })

  it.each([
    { message: `since ${new Date(T0 - 1).toISOString()}` }, { message: 'Insufficient Balance. Your plan is valid to 2099-01-01T00:00:00Z' },
    { message: '{"invoice_due":"2099-12-31T23:59:59Z"}' }, { message: 'busy', providerRetryAfterMs: 99_999_999_000 },
  ])('takes no other time for a reset: %j', (failure) => {
    expect(read(retry(5, move(), { failure })).until).toBeNull()
  })
})

describe('the lines of the transcript', () => {
  const header = { type: 'request/header', seq: 4, time: T0, data: { reason: 'initial', header: { config: { provider: 'a', model: 'm' } } } }
  const at = (event: LogEvent, turn: object = {}) => ({ event, role: 'start', location: { kind: 'turn', turn } })
  const reader = { previous: () => ({ state: headerDefinition.start(undefined, at(header)) }) }
  const begin = { type: 'step/start', seq: 3, time: T0, data: { turn: 2, step: 0 } }

  it('stand right behind the harness\'s row, and know the route from the header before', () => {
    const state = waitDefinition.start({ key: 'k', id: '2.0', matches: [] }, at(begin), reader)
    const after = waitDefinition.update({ key: 'k', id: '2.0', matches: [], state }, at(retry(5, wait())))
    expect(after).toMatchObject({ model: 'm' })
    const context = { key: 'k', id: '2.0', start: at(begin, { status: 'open' }), matches: [] }
    expect(waitDefinition.buildViewNode({ ...context, state: after })).toMatchObject({ anchorSeq: 5.01, target: 'chat', visibility: 'visible', data: { turn: 'open' } })
    expect(waitDefinition.buildViewNode({ ...context, state })).toBeNull()
  })

  it('know the route of a session\'s first request, whose header stands within its step', () => {
    expect(waitDefinition.match(header)).toEqual({ id: '1.1', role: 'update' })
    const state = waitDefinition.start({ key: 'k', id: '1.1', matches: [] }, at(begin), {})
    expect(waitDefinition.update({ key: 'k', id: '1.1', matches: [], state }, at(header))).toMatchObject({ kind: 'step', provider: 'a', model: 'm' })
  })

  it('are there in a page of the log that begins within a step', () => {
    const matches = [at(retry(5, wait())), at(started(6, T0 + HOUR))]
    expect(waitDefinition.buildViewNode({ key: 'k', id: '2.0', matches })).toMatchObject({ data: { line: { checks: 1, provider: 'a', model: null } } })
  })

  it.each([
    [{ status: 'closed', end: { type: 'turn/end', seq: 9, time: T0, data: { reason: { kind: 'aborted' } } } }, 'cancelled'],
    [{ status: 'closed', end: { type: 'turn/end', seq: 9, time: T0, data: { reason: { kind: 'completed' } } } }, 'done'],
    [{ status: 'closed' }, 'done'],
  ])('know how their turn ended', (turn, expected) => {
    const first = at(retry(5, move()), turn)
    const context = { key: 'k', id: 'r', matches: [first], start: first }
    expect(moveDefinition.buildViewNode({ ...context, state: moveDefinition.start(context, first, {}) })).toMatchObject({ data: { turn: expected, line: { model: null } } })
  })

  it('read headers of any shape', () => {
    expect(headerDefinition.match(header)).toEqual({ id: '4', role: 'start' })
    expect(headerDefinition.start(undefined, at({ type: 'request/header', seq: 1, time: T0 }))).toEqual({ provider: undefined, model: undefined })
  })
})
