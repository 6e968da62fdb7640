import * as LlmRetry from '@deepseek-ai/dsh-llm-retry'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keepInnermost } from '../../src/host/harness.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { eventsOf, fakeTime, LlmError, pass, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

let host: Rig

beforeEach(() => { fakeTime() })
afterEach(async () => {
  await host.dispose()
  vi.useRealTimers()
})

const ending = (agent: any): any => eventsOf(agent, 'turn/end').at(-1)?.data.reason
const retries = (agent: any): any[] => eventsOf(agent, 'llm/retry').map(event => event.data)
const isOurs = (retry: any): boolean => retry.policyKey.startsWith('["llm-quota-retry"')
const shape = (agent: any): string[] => retries(agent).map(retry => isOurs(retry) ? 'ours' : 'native')

/** Quick retries of the harness, without jitter: 1, 2, 4, ... seconds. */
const native = (maxRetries: number, retryableCodes: string[]): any =>
  ({ mode: 'normal', maxRetries, retryableCodes, backoff: { initialDelayMs: 1_000, maxDelayMs: 60_000, jitterRatio: 0 } })

async function started(script: () => Error | any, options: object = {}) {
  host = await rig({ script, ...options })
  const agent = await host.start()
  agent.followup(user('work'))
  return agent
}

describe('every other failure', () => {
  it.each([
    ['a wrong key', new LlmError('invalid api key', 'AUTH', { status: 401 })],
    ['a revoked key', new LlmError('403: {"message":"Your API key has been disabled"}', 'AUTH', { status: 403 })],
    ['an ordinary throttle', new LlmError('Rate limit reached for requests per min', 'RATE_LIMIT', { status: 429 })],
    ['a bare 429', new LlmError('Too Many Requests', 'RATE_LIMIT', { status: 429 })],
    ['an overloaded provider', new LlmError('Overloaded', 'SERVER', { status: 529 })],
    ['a timeout', new LlmError('Request timed out.', 'TIMEOUT')],
    ['a full context', new LlmError('This model\'s maximum context length is 8192 tokens', 'CONTEXT_OVERFLOW', { status: 400 })],
    ['a full disk', new Error('write failed: Disk quota exceeded')],
  ])('is left to the harness: %s', async (_name, failure) => {
    const agent = await started(() => failure, { config: { transient: { enabled: false } } })
    await pass(120_000)
    await agent.whenIdle()
    expect(ending(agent).kind).toBe('error')
    expect(shape(agent)).not.toContain('ours')
    expect(host.announced).toHaveLength(0)
  })

  it('keeps its quick native retries', async () => {
    const agent = await started(() => new LlmError('slow down', 'RATE_LIMIT', { status: 429 }), { policies: { a: native(2, ['RATE_LIMIT']) }, config: { transient: { enabled: false } } })
    await pass(60_000)
    await agent.whenIdle()
    expect(shape(agent)).toEqual(['native', 'native'])
    expect(ending(agent)).toMatchObject({ kind: 'error', error: { code: 'RATE_LIMIT' } })
  })

  it('is left as it is when it comes with fields that are missing or absurd', async () => {
    const agent = await started(() => Object.assign(new LlmError('', ''), { failure: { message: 5, code: null, status: -3 } }))
    await agent.whenIdle()
    expect(ending(agent).kind).toBe('error')
  })
})

describe('a spent allowance under another code', () => {
  it.each([
    ['RATE_LIMIT in Chinese', new LlmError('429: {"message":"已达到 Token Plan 用量上限，请等待重置"}', 'RATE_LIMIT', { status: 429 })],
    ['AUTH with a usage limit', new LlmError('403: You\'ve reached your usage limit for this billing cycle.', 'AUTH', { status: 403 })],
    ['a 402 without a code of its own', new LlmError('This request requires more credits, or fewer max_tokens. You can only afford 30104', 'PI_AI_ERROR', { status: 402 })],
  ])('is waited out: %s', async (_name, failure) => {
    const agent = await started(() => failure, { policies: { a: native(1, ['SERVER']) } })
    await until(() => retries(agent).length === 1, 'the wait')
    expect(shape(agent)).toEqual(['ours'])
  })

  it('is waited out after the native retries of its code are spent', async () => {
    const failure = new LlmError('429: {"message":"已达到 Token Plan 用量上限"}', 'RATE_LIMIT', { status: 429 })
    const agent = await started(() => failure, { policies: { a: native(2, ['RATE_LIMIT']) } })
    await pass(3_000)
    await until(() => retries(agent).length === 3, 'the wait')
    expect(shape(agent)).toEqual(['native', 'native', 'ours'])
  })

  it('keeps a short wait and makes no mark where the text names a per-minute throttle under QUOTA', async () => {
    const agent = await started(() => new LlmError('Quota exceeded for requests per minute (RPM): limit 10', 'QUOTA', { status: 429 }))
    await until(() => retries(agent).length === 1, 'the wait')
    expect(retries(agent)[0].delayMs).toBe(60_000)
  })
})

describe('the native retries stay first', () => {
  const quotaFirst = { policies: { a: native(2, ['QUOTA']) } }

  it('when QUOTA is among their codes', async () => {
    const agent = await started(() => spent(), quotaFirst)
    await pass(3_000)
    await until(() => retries(agent).length === 3, 'the wait')
    expect(shape(agent)).toEqual(['native', 'native', 'ours'])
  })

  it('when the plugin was mounted before them', async () => {
    host = await rig({ script: () => spent(), ...quotaFirst, after: async (ctx: any) => { await ctx.plugin({ name: 'second-retry', inject: LlmRetry.inject, apply: LlmRetry.apply }) } })
    const agent = await host.start()
    agent.followup(user('work'))
    await pass(3_000)
    await until(() => retries(agent).length === 3, 'the wait')
    // The second copy of the native policy registered behind ours and would ask after it.
    expect(shape(agent)[0]).toBe('native')
    expect(shape(agent).at(-1)).toBe('ours')
  })

  it('after the native policy was loaded anew', async () => {
    let fiber: any
    const late = { name: 'late-retry', inject: LlmRetry.inject, apply: LlmRetry.apply }
    host = await rig({ script: () => spent(), ...quotaFirst, after: async (ctx: any) => { fiber = await ctx.plugin(late) } })
    await fiber.dispose()
    await host.ctx.plugin(late)
    const agent = await host.start()
    agent.followup(user('work'))
    await pass(3_000)
    await until(() => shape(agent).includes('ours'), 'the wait')
    expect(shape(agent).slice(0, 2)).toEqual(['native', 'native'])
  })

  it('beside another plugin that keeps its listener innermost: the last that came is, and neither drives the other on', async () => {
    let registered = 0
    host = await rig({
      script: () => spent(), ...quotaFirst,
      before: async (ctx: any) => { ctx.on('internal/listener', (name: string) => { registered += name === 'agent/request-error' ? 1 : 0 }, { global: true }) },
      after: async (ctx: any) => { await ctx.plugin({ name: 'sibling', apply: (inner: any) => { keepInnermost(inner, 'agent/request-error', (_payload: unknown, next: () => unknown) => next()) } }) },
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await pass(3_000)
    await until(() => retries(agent).length === 3, 'the wait')
    expect(shape(agent)).toEqual(['native', 'native', 'ours'])
    expect(registered).toBeLessThan(10)
  })

  it('and a plugin that goes right after somebody registered takes nothing down with it', async () => {
    host = await rig({ script: () => spent() })
    const sibling = await host.ctx.plugin({ name: 'sibling', apply: (inner: any) => { keepInnermost(inner, 'agent/request-error', (_payload: unknown, next: () => unknown) => next()) } })
    // Whatever is thrown in a microtask nobody can catch, and vitest fails on it.
    host.ctx.on('agent/request-error', (_payload: unknown, next: () => unknown) => next())
    await sibling.dispose()
    await settle()
  })

  it('but `mode: always`, which asks downstream first, gives way to the wait', async () => {
    const policy: any = { mode: 'always', backoff: { initialDelayMs: 1_000, maxDelayMs: 60_000, jitterRatio: 0 } }
    const agent = await started(() => spent(), { policies: { a: policy } })
    await until(() => retries(agent).length === 1, 'the wait')
    await pass(600_000)
    expect(shape(agent)).toEqual(['ours'])
  })
})

describe('when the plugin is unloaded', () => {
  it('a wait ends with the failure as it was, and the unload waits for it', async () => {
    // Its own timers, for those of the host come and go.
    const clock = new FakeClock()
    const agent = await started(() => spent(), { clock })
    await until(() => retries(agent).length === 1, 'the wait')
    await settle(100)
    expect(clock.pending).toBeGreaterThan(0)
    await host.plugin.dispose()
    await agent.whenIdle()
    expect(ending(agent)).toMatchObject({ kind: 'error', error: { code: 'QUOTA' } })
    expect(eventsOf(agent, 'llm/retry-started')).toHaveLength(0)
    expect(clock.pending).toBe(0)
  })

  it('later failures are the harness\'s alone', async () => {
    const agent = await started(() => say('hi'))
    await agent.whenIdle()
    await host.plugin.dispose()
    host.adapter['script' as never] = (() => spent()) as never
    agent.followup(user('work'))
    await agent.whenIdle()
    expect(ending(agent)).toMatchObject({ kind: 'error', error: { code: 'QUOTA' } })
  })
})
