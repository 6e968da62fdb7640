import { describe, expect, it } from 'vitest'
import { evolve, evolveEvent, foldSession, initialState } from '../../src/reducers/session.ts'
import { decodeEvent } from '../../src/events/decode.ts'
import { deepFreeze, HOUR, log, type Log, textChunk, waitingLog } from '../support/build.ts'

const state = (given: Log) => foldSession(given.rows)

describe('the lineage', () => {
  it('comes from the head', () => {
    expect(state(log().head({ parentSession: 'p', seedLength: 3 })).lineage).toEqual({ id: 's1', parent: 'p', seedLength: 3, started: false })
  })

  it('remembers whether a turn began', () => {
    expect(state(log().head().turn()).lineage.started).toBe(true)
    expect(state(log().head().turn().cancels().crashes()).lineage.started).toBe(true)
  })
})

describe('a fork', () => {
  const parent = (head: object): Log => log().head(head).turn().asks('a', 'm').command('/quota-retry off').command('/quota-retry on')
    .command('/quota-pool medium').refused().waits(HOUR).starts().refused().moves('p', 'b', 'n')
  const own = { started: false }
  const settings = { retry: { value: 'on', source: 'inherited' }, pool: { value: 'medium', source: 'inherited' }, touched: false }
  const nothing = { entries: { open: null, closed: 0, lastClosed: null }, failovers: { count: 0, last: null } }
  const length = parent({}).rows.length - 1

  it('keeps settings as inherited ones, and nothing of what its parent lived through', () => {
    expect(state(parent({ parentSession: 'p' }).forks())).toMatchObject({ lineage: own, settings, ...nothing, step: { turn: null, route: { provider: 'a' } } })
  })

  it('begins at the end of the seed also where the log does not say so', () => {
    expect(state(parent({ parentSession: 'p', seedLength: length }).forks(false))).toMatchObject({ lineage: own, settings, ...nothing })
  })

  it('begins at the last event of the seed when that is an end already', () => {
    expect(state(parent({ parentSession: 'p', seedLength: length + 2 }).crashes())).toMatchObject({ lineage: own, settings, ...nothing })
  })

  it('does not begin anew when it is opened again later', () => {
    const given = parent({ parentSession: 'p', seedLength: length }).forks(false).command('/quota-retry off').turn().asks().refused().waits().crashes()
    expect(state(given)).toMatchObject({
      lineage: { started: true }, settings: { retry: { value: 'off', source: 'session' }, touched: true }, entries: { open: { attempts: 1, wait: null } },
    })
  })
})

describe('a session that is merely loaded again', () => {
  it('keeps its settings as its own, and its entry', () => {
    expect(state(waitingLog().command('/quota-retry on').crashes()))
      .toMatchObject({ settings: { retry: { source: 'session' }, touched: true }, entries: { open: { attempts: 1 } } })
  })

  it('is no fork for being a child without a seed', () => {
    const given = log().head({ parentSession: 'p' }).records('/quota-retry inherit off').turn().asks().refused().waits().crashes()
    expect(state(given)).toMatchObject({ settings: { retry: { source: 'inherited' }, touched: true }, entries: { open: { attempts: 1 } } })
  })
})

describe('the same state comes back', () => {
  const given = deepFreeze(state(waitingLog()))

  it.each([
    ['a stream chunk', { type: 'assistant/chunk', seq: 9, time: 1, data: { turn: 1, step: 1, chunk: textChunk() } }],
    ['a message', { type: 'user/message', seq: 9, time: 1, data: {} }],
    ['an unknown event', { type: 'moon/phase', seq: 9, time: 1, data: { turn: 9 } }],
    ['a foreign command that settles', { type: 'command/done', seq: 9, time: 1, data: { commandId: 'x', kind: 'success' } }],
    ['a header that names the same route again', { type: 'request/header', seq: 9, time: 1, data: { header: { config: { provider: 'a', model: 'm' } } } }],
    ['a foreign attempt', { type: 'llm/retry-started', seq: 9, time: 1, data: { turn: 1, step: 1, retryId: 'x', retry: 1 } }],
    ['nothing', undefined],
  ])('for %s', (_name, event) => {
    expect(evolveEvent(given, event)).toBe(given)
  })

  it('for an answer outside an entry', () => {
    const calm = state(log().turn().asks())
    expect(evolveEvent(calm, log().turn().asks().answers().rows.at(-1))).toBe(calm)
  })
})

describe('the fold', () => {
  it('goes on from where it stopped', () => {
    const { rows } = waitingLog().starts().answers()
    expect(foldSession(rows.slice(4), foldSession(rows.slice(0, 4)))).toEqual(foldSession(rows))
  })

  it('is one step for each fact', () => {
    const fact = decodeEvent(log().turn().rows[0])!
    expect(evolve(initialState, fact)).toEqual(foldSession(log().turn().rows))
  })
})
