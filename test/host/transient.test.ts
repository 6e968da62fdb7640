/** Failures that pass, on the real agent loop behind the harness's own retries and under its invariant companions. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventsOf, fakeTime, LlmError, pass, passUntil, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
let host: Rig

beforeEach(() => { fakeTime() })
afterEach(async () => {
  await host.dispose()
  vi.useRealTimers()
})

const outage = (): LlmError => new LlmError('503: upstream connect error', 'SERVER', { status: 503 })
const records = (agent: any): any[] => eventsOf(agent, 'llm/retry').map(event => event.data)
const ours = (agent: any): any[] => records(agent).filter(({ policyKey }) => policyKey.startsWith('["llm-quota-retry","transient"'))
const natives = (agent: any): any[] => records(agent).filter(({ policyKey }) => !policyKey.startsWith('["llm-quota-retry"'))
const outcomes = (agent: any): string[] => eventsOf(agent, 'turn/end').map(event => event.data.reason.kind)
/** The harness's own policy where an adapter says nothing: five retries from half a second to ten, here without jitter. */
const POLICY: any = {
  mode: 'normal', maxRetries: 5, retryableCodes: ['EMPTY_RESPONSE', 'RATE_LIMIT', 'SERVER', 'TIMEOUT', 'TRANSPORT'],
  backoff: { initialDelayMs: 500, maxDelayMs: 10_000, jitterRatio: 0 },
}
const steady = { jitterRatio: 0 }
const routes = [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' }, { provider: 'c', model: 'o' }]

async function started(script: (index: number) => any, transient: object = {}, more: object = {}) {
  host = await rig({ script: (_request, index) => script(index), policies: { a: POLICY }, config: { transient: { ...steady, ...transient } }, ...more })
  const agent = await host.start()
  agent.followup(user('work'))
  return agent
}

describe('a failure that passes, past the harness\'s own retries', () => {
  it('is tried three times more: eight 503s and then an answer are a turn that completed', async () => {
    const agent = await started(index => index < 8 ? outage() : say('done'))
    await pass(5 * MINUTE)
    await agent.whenIdle()
    expect([outcomes(agent), host.adapter.requests.length, natives(agent).length]).toEqual([['completed'], 9, 5])
    expect(ours(agent).map(({ delayMs, maxRetries, mode, retry }) => [mode, retry, maxRetries, delayMs]))
      .toEqual([['normal', 1, 3, 16 * SECOND], ['normal', 2, 3, 32 * SECOND], ['normal', 3, 3, MINUTE]])
    expect(eventsOf(agent, 'llm/retry-started')).toHaveLength(8)
    expect(eventsOf(agent, 'step/start')).toHaveLength(1)
  })

  it('ends the turn after that, with what was tried on the error stream', async () => {
    const agent = await started(() => outage())
    await pass(10 * MINUTE)
    await agent.whenIdle()
    expect([outcomes(agent), host.adapter.requests.length]).toEqual([['error'], 9])
    expect(host.warnings.at(-1)).toContain('3 tries after the harness gave up')
  })

  it('is tried without an end where the configuration says so', async () => {
    const agent = await started(index => index < 40 ? outage() : say('done'), { maxRetries: null })
    await passUntil(() => agent.status === 'idle', 'the answer')
    expect([outcomes(agent), host.adapter.requests.length]).toEqual([['completed'], 41])
    expect(ours(agent)[0]).toMatchObject({ mode: 'always' })
    expect(ours(agent)[0]).not.toHaveProperty('maxRetries')
  })

  it('is left alone where it is off: the turn ends after the harness\'s six requests', async () => {
    const agent = await started(() => outage(), { enabled: false })
    await pass(10 * MINUTE)
    await agent.whenIdle()
    expect([outcomes(agent), host.adapter.requests.length, ours(agent)]).toEqual([['error'], 6, []])
  })

  it('is no longer tried than its time allows', async () => {
    const agent = await started(() => outage(), { maxRetries: null, maxDurationMs: 2 * MINUTE })
    await pass(10 * MINUTE)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['error'])
    expect(host.warnings.at(-1)).toContain('transient.maxDurationMs')
  })

  it('under a catch-all code is told by its meaning', async () => {
    const agent = await started(index => index < 2 ? new LlmError('503 Service Unavailable', 'PI_AI_ERROR') : say('done'))
    await pass(MINUTE)
    await agent.whenIdle()
    expect([outcomes(agent), ours(agent).map(({ delayMs }) => delayMs)]).toEqual([['completed'], [SECOND, 2 * SECOND]])
  })
})

describe('a failure that does not pass is asked once, whatever is configured:', () => {
  const everything = { maxRetries: null, codes: ['AUTH', 'PI_AI_ERROR', 'SERVER', 'INVALID_REQUEST', 'CONTEXT_WINDOW_EXCEEDED', 'ABORTED'] }

  it.each<[string, LlmError, object]>([
    ['a wrong key', new LlmError('401: invalid api key', 'AUTH', { status: 401 }), everything],
    ['a context that is too long', new LlmError('400: maximum context length is 8192 tokens', 'CONTEXT_WINDOW_EXCEEDED', { status: 400 }), everything],
    ['an invalid request under a catch-all code', new LlmError('400: invalid request: messages must not be empty', 'PI_AI_ERROR'), {}],
    ['a code that is excluded', new LlmError('503: upstream connect error', 'SERVER', { status: 503 }), { excludeCodes: [' server '] }],
  ])('%s', async (_what, failure, transient) => {
    const agent = await started(() => failure, transient, { policies: { a: { ...POLICY, retryableCodes: ['NONE'] } } })
    await pass(10 * MINUTE)
    await agent.whenIdle()
    expect([outcomes(agent), host.adapter.requests.length]).toEqual([['error'], 1])
  })

  it('a content refusal under a 500 is not retried by us', async () => {
    const agent = await started(() => new LlmError('500: The response was blocked by the content safety policy', 'SERVER', { status: 500 }), everything)
    await pass(10 * MINUTE)
    await agent.whenIdle()
    expect([outcomes(agent), ours(agent)]).toEqual([['error'], []])
  })
})

describe('the curve', () => {
  it('has a provider\'s own delay clamped to its ceiling, not dropped', async () => {
    const agent = await started(index => index < 1 ? new LlmError('503: busy', 'SERVER', { status: 503, providerRetryAfterMs: HOUR }) : say('done'))
    await pass(2 * MINUTE)
    await agent.whenIdle()
    expect([outcomes(agent), ours(agent).map(({ delayMs }) => delayMs)]).toEqual([['completed'], [MINUTE]])
  })

  it('begins anew where it is to, and where the harness never tried', async () => {
    const agent = await started(index => index < 7 ? outage() : say('done'), { curve: 'fresh' })
    await pass(2 * MINUTE)
    await agent.whenIdle()
    expect(ours(agent).map(({ delayMs }) => delayMs)).toEqual([SECOND, 2 * SECOND])
  })

  it('of a new step begins anew', async () => {
    const agent = await started(index => index === 7 || index === 9 ? say('done') : outage())
    await pass(5 * MINUTE)
    await agent.whenIdle()
    agent.followup(user('more'))
    await pass(MINUTE)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['completed', 'completed'])
    expect(natives(agent).at(-1)).toMatchObject({ turn: 2, delayMs: 500 })
  })

  it('has whole numbers with jitter', async () => {
    const agent = await started(() => outage(), { jitterRatio: 0.33, initialDelayMs: 777, maxDelayMs: 3_333 })
    await pass(5 * MINUTE)
    await agent.whenIdle()
    for (const { delayMs } of ours(agent)) expect([Number.isInteger(delayMs), delayMs <= 3_333]).toEqual([true, true])
    expect(ours(agent)).toHaveLength(3)
  })

  it('goes on with its budget when the plugin is loaded anew in the middle of a run', async () => {
    const agent = await started(() => outage(), { maxRetries: 2 })
    await until(() => natives(agent).length === 1, 'the first retry of the harness')
    await host.plugin.dispose()
    await host.load({ transient: { ...steady, maxRetries: 2, maxDelayMs: 30_000 } })
    await pass(10 * MINUTE)
    await agent.whenIdle()
    expect([outcomes(agent), ours(agent).length, host.adapter.requests.length]).toEqual([['error'], 2, 8])
  })
})

describe('a wait of the ladder', () => {
  it('that is cancelled leaves its record without the second, and nothing is sent later', async () => {
    const agent = await started(() => outage())
    await passUntil(() => ours(agent).length === 1, 'the first try', SECOND)
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    const asked = host.adapter.requests.length
    await pass(HOUR)
    expect([outcomes(agent), host.adapter.requests.length, ours(agent).length]).toEqual([['aborted'], asked, 1])
    const { retry, retryId } = ours(agent)[0]
    expect(eventsOf(agent, 'llm/retry-started').some(({ data }) => data.retryId === retryId && data.retry === retry)).toBe(false)
  })

  it('is brought forward by a message of the person', async () => {
    const agent = await started(index => index < 6 ? outage() : say('done'), { initialDelayMs: 50 * SECOND })
    await passUntil(() => ours(agent).length === 1, 'the first try', SECOND)
    agent.followup(user('now, please'))
    await pass(11 * SECOND)
    await until(() => host.adapter.requests.length === 8, 'the attempt and the next turn')
    expect(ours(agent).at(-1).policyKey).toBe('["llm-quota-retry","transient","message"]')
  })

  it('does not begin where the record cannot be written', async () => {
    const agent = await started(() => outage(), {}, { retryInvariant: false })
    await until(() => natives(agent).length === 1, 'the first retry of the harness')
    const append = agent.session.append.bind(agent.session)
    agent.session.append = (type: string, data: any) => {
      if (type === 'llm/retry' && data.policyKey.startsWith('["llm-quota-retry"')) throw new Error('the log is full')
      return append(type, data)
    }
    await pass(MINUTE)
    await agent.whenIdle()
    expect([outcomes(agent), host.adapter.requests.length]).toEqual([['error'], 6])
  })

  it('ends early where a step fails on a setting, and says which', async () => {
    const slow = async function * () {
      await new Promise(resolve => setTimeout(resolve, 30 * SECOND))
      throw new LlmError('Request timed out after 30000 ms', 'TIMEOUT')
    }
    const agent = await started(() => slow(), { maxRetries: null }, { policies: { a: { ...POLICY, maxRetries: 1 } } })
    await passUntil(() => agent.status === 'idle', 'the end', 10 * SECOND)
    expect([outcomes(agent), ours(agent).length]).toEqual([['error'], 3])
    expect(host.warnings.at(-1)).toContain('timeoutMs')
  })
})

describe('a provider whose own policy is "always"', () => {
  it('is left to it, which is said once', async () => {
    const always: any = { mode: 'always', backoff: { initialDelayMs: 1_000, maxDelayMs: 10_000, jitterRatio: 0 } }
    const agent = await started(index => index < 12 ? outage() : say('done'), {}, { policies: { a: always } })
    await passUntil(() => agent.status === 'idle', 'the answer', 10 * SECOND)
    expect([outcomes(agent), ours(agent)]).toEqual([['completed'], []])
    expect(host.warnings.filter(line => line.includes('"always"'))).toHaveLength(1)
  })
})

describe('a run that waited for its allowance', () => {
  it.each<[string, () => LlmError]>([
    ['a 503', outage],
    ['an overload', () => new LlmError('529: Overloaded', 'SERVER', { status: 529 })],
    ['a timeout', () => new LlmError('Request timed out.', 'TIMEOUT')],
    ['an empty answer', () => new LlmError('the model answered nothing', 'EMPTY_RESPONSE')],
    ['a burst limit', () => new LlmError('429: Too Many Requests', 'RATE_LIMIT', { status: 429 })],
    ['a dropped stream', () => new LlmError('socket hang up', 'TRANSPORT')],
  ])('survives an outage at its return, also with retries off: %s', async (_what, failure) => {
    const agent = await started(index => index === 0 ? spent() : index < 9 ? failure() : say('done'), { enabled: false })
    await passUntil(() => agent.status === 'idle', 'the answer', 10 * SECOND)
    expect([outcomes(agent), ours(agent)]).toEqual([['completed'], []])
    expect(records(agent).some(({ policyKey }) => policyKey.includes('"outage"'))).toBe(true)
    expect(host.announced.map(({ name }) => name)).toEqual(['entered', 'left'])
  })

  it('goes on to the third route where the second fails right after the move there', async () => {
    host = await rig({
      script: request => request.provider === 'a' ? spent() : request.provider === 'b' ? outage() : say('done'), providers: ['a', 'b', 'c'],
      config: { pools: { all: { routes } }, transient: { enabled: false } }, policies: { b: POLICY },
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await passUntil(() => agent.status === 'idle', 'the answer', 10 * SECOND)
    expect([outcomes(agent), host.adapter.routes.at(-1)]).toEqual([['completed'], 'c/o'])
  })
})

describe('a pool', () => {
  it('supplies the next route after so many tries, where it is asked to', async () => {
    host = await rig({
      script: request => request.provider === 'a' ? outage() : say('done'), providers: ['a', 'b', 'c'],
      config: { pools: { all: { routes } }, transient: { ...steady, moveAfter: 1 } }, policies: { a: { ...POLICY, maxRetries: 1 } },
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await passUntil(() => agent.status === 'idle', 'the answer', 10 * SECOND)
    expect([outcomes(agent), host.adapter.routes]).toEqual([['completed'], ['a/m', 'a/m', 'a/m', 'b/n']])
  })
})

describe('of many sessions on one route', () => {
  it('one asks for all at the ladder\'s pace, and the others follow, never more than five a second', async () => {
    let back = false
    host = await rig({ script: () => back ? say('done') : outage(), policies: { a: POLICY }, config: { transient: { ...steady, maxRetries: null } } })
    const agents: any[] = []
    for (let index = 0; index < 20; index += 1) {
      const agent = await host.start(`s${index}`)
      agent.followup(user('work'))
      agents.push(agent)
    }
    await passUntil(() => agents.every(agent => ours(agent).length > 0), 'everybody on the ladder', SECOND)
    const [before, from] = [host.adapter.requests.length, Date.now()]
    await pass(30 * MINUTE)
    // One a minute for all of them, where each for itself would be twenty.
    expect(host.adapter.requests.length - before).toBeLessThanOrEqual(Math.ceil((Date.now() - from) / MINUTE) + 2)
    back = true
    const asked = host.adapter.requests.length
    await passUntil(() => agents.every(agent => agent.status === 'idle'), 'the end of all', SECOND)
    expect(agents.flatMap(outcomes)).toEqual(Array.from({ length: 20 }, () => 'completed'))
    const times = host.adapter.times.slice(asked)
    for (const time of times) expect(times.filter(other => other >= time && other < time + SECOND).length).toBeLessThanOrEqual(5)
    await settle()
  })
})

describe('the command /retry', () => {
  it('switches the retries of a session, and its child takes that over', async () => {
    host = await rig({ script: () => outage(), policies: { a: POLICY }, config: { transient: steady } })
    const agent = await host.start()
    expect((await host.command(agent, '/retry off')).result.text).toBe('Retry is off for this session.')
    const child = await host.start('child', { provider: 'a', model: 'm' }, { parentSession: 's1' })
    for (const one of [agent, child]) one.followup(user('work'))
    await pass(10 * MINUTE)
    expect([agent, child].map(one => [outcomes(one), ours(one)])).toEqual([[['error'], []], [['error'], []]])
    expect((await host.command(agent, '/retry status')).result.text).toContain('Retry of failures that pass is off (set in this session)')
    expect((await host.command(agent, '/retry perhaps')).result.kind).toBe('error')
  })

  it('says what holds the session, has it ask now, and ends it', async () => {
    const agent = await started(index => index < 7 ? outage() : say('done'), { maxRetries: null })
    await passUntil(() => ours(agent).length === 1, 'the first try', SECOND)
    const { text } = (await host.command(agent, '/retry status')).result
    expect(text).toContain('asked about 60 times an hour')
    expect(text).toContain('Held by transient: a/m failed with SERVER')
    expect((await host.command(agent, '/retry now')).result.kind).toBe('success')
    await until(() => ours(agent).length === 3, 'the second try')
    expect((await host.command(agent, '/quota-retry stop')).result.kind).toBe('success')
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['aborted'])
    expect((await host.command(agent, '/retry now')).result.kind).toBe('error')
  })

  it('turned off in a wait ends it with the failure', async () => {
    const agent = await started(() => outage())
    await passUntil(() => ours(agent).length === 1, 'the first try', SECOND)
    await host.command(agent, '/retry off')
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['error'])
  })
})
