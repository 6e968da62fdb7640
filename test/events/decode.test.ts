import { describe, expect, it } from 'vitest'
import { decodeEvent, decodeHeader } from '../../src/events/decode.ts'
import { errorChunk, HOUR, log, NOON, SPENT, textChunk, waitingLog } from '../support/build.ts'

const last = (rows: readonly any[]): any => rows.at(-1)
const decode = (type: string, data: unknown): any => decodeEvent({ type, seq: 7, time: NOON, data })
const at = { seq: 7, at: NOON }
const where = { turn: 1, step: 1 }

describe('a failed request', () => {
  it('is read from the finish chunk of releases up to 0.1.2', () => {
    expect(decode('assistant/chunk', { ...where, chunk: errorChunk(SPENT) }))
      .toEqual({ type: 'requestFailed', ...where, failure: SPENT, ...at })
  })

  it('is read the same from the attempt of later releases', () => {
    const [old, later] = [log().refused(), log().refusedInAttempt()].map(made => decodeEvent(last(made.rows)))
    expect(later).toEqual(old)
  })

  it('is the last failure that the attempt holds', () => {
    const stream = [errorChunk({ code: 'SERVER', message: 'older' }), errorChunk(SPENT)].map(chunk => ({ type: 'chunk', time: NOON, chunk }))
    expect(decode('assistant/attempt', { ...where, stream }).failure).toEqual(SPENT)
  })

  it('is a failure also without its facts', () => {
    expect(decode('assistant/chunk', { ...where, chunk: { type: 'finish', reason: { kind: 'error' } } }).failure)
      .toEqual({ code: 'UNKNOWN', message: 'the provider gave no message' })
  })

  it.each([
    ['stopped by the person', { type: 'finish', reason: { kind: 'aborted', failure: SPENT } }],
    ['ended well', { type: 'finish', reason: { kind: 'stop' } }],
    ['still streaming', textChunk()],
    ['without a reason', { type: 'finish' }],
  ])('is not a stream that is %s', (_name, chunk) => {
    expect(decode('assistant/chunk', { ...where, chunk })).toBeUndefined()
    expect(decode('assistant/attempt', { ...where, stream: [{ type: 'chunk', time: NOON, chunk }] })).toBeUndefined()
  })

  it('must say in which step it failed', () => {
    expect(decode('assistant/chunk', { turn: 1, chunk: errorChunk(SPENT) })).toBeUndefined()
  })
})

describe('an answer', () => {
  it('is a committed message, with its route', () => {
    expect(decodeEvent(last(log().turn().asks('a', 'm').answers().rows)))
      .toMatchObject({ type: 'answered', ...where, route: { provider: 'a', model: 'm' } })
  })

  it('is not the prefix that a cancelled stream left', () => {
    expect(decodeEvent(last(log().turn().asks().interrupted().rows))).toBeUndefined()
  })

  it('counts without a route that can be read', () => {
    expect(decode('assistant/message', { ...where, message: { source: { provider: 'a' } } })).toEqual({ type: 'answered', ...where, ...at })
  })
})

describe('a planned retry', () => {
  const planned = (more: object): any => decode('llm/retry', { ...last(waitingLog().rows).data, ...more })

  it('is a wait when its policy key is that of a wait', () => {
    expect(planned({})).toMatchObject({ type: 'waitPlanned', delayMs: HOUR, intervalMs: HOUR, cause: 'interval', provider: 'a', retry: 1, failure: SPENT })
  })

  it('is a move when its policy key names a target', () => {
    expect(decodeEvent(last(log().turn().asks().refused().moves('p', 'b', 'n').rows)))
      .toMatchObject({ type: 'movePlanned', pool: 'p', to: { provider: 'b', model: 'n' }, delayMs: 0 })
  })

  it.each(['normal:5', '["llm-quota-retry","wait"]', '["llm-quota-retry","nap",5]', '["llm-quota-retry",'])(
    'is somebody else\'s with the key %s', (policyKey) => {
      expect(planned({ policyKey })).toMatchObject({ type: 'otherRetryPlanned', policyKey })
    })

  it.each([[-5, 0], [Number.MAX_VALUE, 2_147_483_647], ['soon', 0], [null, 0]])('with the delay %s waits %i ms', (delayMs, read) => {
    expect(planned({ delayMs }).delayMs).toBe(read)
  })

  it.each(['retryId', 'retry', 'provider', 'policyKey', 'turn', 'step'])('is nothing without its %s', (field) => {
    expect(planned({ [field]: undefined })).toBeUndefined()
  })
})

describe('the loop', () => {
  it.each([
    ['turn/start', { turn: 2 }, { type: 'turnStarted', turn: 2 }],
    ['turn/end', { turn: 2, reason: { kind: 'aborted' } }, { type: 'turnEnded', turn: 2, outcome: 'aborted' }],
    ['turn/end', { turn: 2 }, { type: 'turnEnded', turn: 2, outcome: 'unknown' }],
    ['step/start', where, { type: 'stepStarted', ...where }],
    ['step/end', where, { type: 'stepEnded', ...where }],
    ['llm/retry-started', { ...where, retryId: 'r', retry: 2 }, { type: 'attemptStarted', ...where, retryId: 'r', retry: 2 }],
    ['session/end-seed', {}, { type: 'seedEnded', inherited: false }],
    ['session/end-seed', { inherited: true }, { type: 'seedEnded', inherited: true }],
  ])('%s %j', (type, data, fact) => {
    expect(decode(type, data)).toEqual({ ...fact, ...at })
  })

  it('names the route and its effort in the header', () => {
    expect(decodeEvent(last(log().turn().asks('a', 'm', 'high').rows)))
      .toMatchObject({ type: 'routed', route: { provider: 'a', model: 'm' }, reasoningEffort: 'high' })
  })
})

describe('a command', () => {
  it('asks for a setting, as a person or as a plugin', () => {
    const [person, plugin] = [log().runs('/quota-retry off'), log().runs('/quota-retry inherit off', { kind: 'plugin', plugin: 'x' })]
      .map(made => decodeEvent(last(made.rows)))
    expect(person).toMatchObject({ type: 'settingRequested', by: 'person', change: { setting: 'retry', value: 'off', inherited: false } })
    expect(plugin).toMatchObject({ by: 'plugin', change: { inherited: true } })
    const [today] = log().runs('/quota-retry by-plugin off').rows.map(decodeEvent)
    expect(today).toMatchObject({ by: 'plugin', change: { value: 'off', inherited: false } })
  })

  it.each(['/quota-retry status', '/quota-retry now', '/quota-retry banana', '/quota-pool', '/compact off'])('%s asks for none', (line) => {
    expect(decodeEvent(last(log().runs(line).rows))).toBeUndefined()
  })

  it('settles well only with success', () => {
    const settled = ['success', 'error', undefined].map(kind => decode('command/done', { commandId: 'c', kind }))
    expect(settled.map(({ ok }) => ok)).toEqual([true, false, false])
  })
})

describe('the head of a log', () => {
  it('says who the session is and whom it descends from', () => {
    const head = { id: 's', createdAt: NOON, parentSession: 'p', seedLength: 4 }
    expect(decodeEvent({ type: 'session', ...head })).toEqual({ type: 'sessionOpened', id: 's', at: NOON, parent: 'p', seedLength: 4 })
    expect(decodeHeader(head)).toEqual(decodeEvent({ type: 'session', ...head }))
  })

  it.each([undefined, null, 'x', [], {}, { id: '' }, { id: 's' }, { id: 's', createdAt: 'now' }])('is nothing as %j', (head) => {
    expect(decodeHeader(head)).toBeUndefined()
  })
})

describe('what is no event of ours', () => {
  it.each([undefined, null, 0, 'x', [], {}, { type: 7 }, { type: 'turn/start' }, { type: 'turn/start', data: [] }, { type: 'user/message', data: {} },
    { type: 'constructor', data: {} }, { type: '__proto__', data: {} }, { type: 'toString', data: {} }])('%j is no fact', (event) => {
    expect(decodeEvent(event)).toBeUndefined()
  })

  it('keeps the fact when only its place is absurd', () => {
    expect(decodeEvent({ type: 'turn/start', time: 1e300, seq: 'x', data: { turn: 1 } })).toEqual({ type: 'turnStarted', turn: 1, at: 0, seq: -1 })
  })
})
