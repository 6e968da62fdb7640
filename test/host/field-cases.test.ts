/** Whole runs of the cases that users report most. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventsOf, fakeTime, LlmError, pass, realNow, rig, type Rig, say, spent, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
let host: Rig
let root: string | undefined
beforeEach(() => { fakeTime() })
afterEach(async () => { await host.dispose(); vi.useRealTimers(); if (root !== undefined) await rm(root, { recursive: true, force: true }); root = undefined })
const retries = (agent: any): any[] => eventsOf(agent, 'llm/retry').map(event => event.data)
const waits = (agent: any): any[] => eventsOf(agent, 'llm/retry')
const outcomes = (agent: any): string[] => eventsOf(agent, 'turn/end').map(event => event.data.reason.kind)
const waiting = (agent: any, count: number): Promise<void> => until(() => waits(agent).length === count, `wait ${count}`)
const ending = (agent: any): any => eventsOf(agent, 'turn/end').at(-1)?.data.reason
const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'n' }

describe('an overload code on a 429', () => {
  it.each(['overloaded_error', 'engine_overloaded_error'])('is left to the harness, and marks nobody: %s', async (type) => {
    host = await rig({ script: () => new LlmError(`429: {"type":"${type}","message":"Overloaded"}`, 'RATE_LIMIT', { status: 429 }), config: { pools: { medium: { routes: [A, B] } }, transient: { enabled: false } } })
    const agent = await host.start()
    agent.followup(user('work'))
    await pass(120_000)
    await agent.whenIdle()
    expect(ending(agent)).toMatchObject({ kind: 'error', error: { code: 'RATE_LIMIT' } })
    expect(new Set(host.adapter.routes)).toEqual(new Set(['a/m']))
    expect(host.ctx.llmQuotaRetry.report().pools[0].routes[0].mark).toBeUndefined()
  })
})
describe('an account that is suspended over its spending limit (412)', () => {
  it('is known after one request', async () => {
    host = await rig({ script: () => new LlmError('412: account suspended: monthly spending limit reached', 'HTTP_412', { status: 412 }) })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 1, 'the wait')
    expect(host.adapter.requests).toHaveLength(1)
    expect(host.ctx.llmQuotaRetry.stateOf(agent.session)).toMatchObject({ pending: true })
  })
})

describe('a wait', () => {
  it('a reset in forty days is no instant retry, with the longest interval that there is', async () => {
    const interval = 2 ** 31 - 1
    host = await rig({ script: () => spent(`Usage limit reached. Resets at ${new Date(Date.now() + 40 * 24 * HOUR).toISOString()}`), config: { longTermDelayMs: interval } })
    const agent = await host.start()
    agent.followup(user('work'))
    await waiting(agent, 1)
    expect(waits(agent)[0].data.delayMs).toBe(interval)
    await pass(24 * HOUR)
    expect(host.adapter.requests).toHaveLength(1)
  })

  it('a wait whose time another session put off is not said again', async () => {
    host = await rig({ script: () => spent() })
    for (const id of ['s0', 's1', 's2']) {
      const agent = await host.start(id)
      agent.followup(user('work'))
      await waiting(agent, 1)
    }
    expect(host.warnings).toHaveLength(3)
    await pass(HOUR)
    // One asked for all and waits anew; the others wait on.
    expect(host.warnings).toHaveLength(4)
  })

  it('sessions that were told the same reset have one ask then, and follow in a spread', async () => {
    const reset = Date.now() + 30 * MINUTE
    let back = false
    host = await rig({ script: () => back ? say('done') : spent(`Usage limit reached. Resets at ${new Date(reset).toISOString()}`) })
    const agents: any[] = []
    for (let index = 0; index < 20; index += 1) {
      const agent = await host.start(`s${index}`)
      agent.followup(user('work'))
      await waiting(agent, 1)
      agents.push(agent)
    }
    back = true
    await pass(30 * MINUTE + 5_000)
    expect(host.adapter.requests).toHaveLength(21)
    await pass(10_000)
    expect(agents.flatMap(outcomes)).toEqual(Array.from({ length: 20 }, () => 'completed'))
    const times = host.adapter.times.slice(20)
    for (const time of times) expect(times.filter(other => other >= time && other < time + 1_000).length).toBeLessThanOrEqual(5)
  })

  it('sends nothing that was queued when the person stops the wait', async () => {
    host = await rig({ script: () => spent() })
    const agent = await host.start()
    agent.followup(user('work'))
    await waiting(agent, 1)
    await pass(3_000)
    agent.followup(user('and this'))
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    await pass(5 * HOUR)
    expect([agent.status, host.adapter.requests.length, outcomes(agent)]).toEqual(['idle', 1, ['aborted']])
  })

  it('a stop while the others follow ends them, too', async () => {
    let back = false
    host = await rig({ script: () => back ? say('done') : spent() })
    const agents: any[] = []
    for (let index = 0; index < 8; index += 1) {
      const agent = await host.start(`s${index}`)
      agent.followup(user('work'))
      await waiting(agent, 1)
      agents.push(agent)
    }
    back = true
    await pass(HOUR + 300)
    const asked = host.adapter.requests.length
    expect(asked).toBeLessThan(16)
    for (const agent of agents) agent.cancel({ kind: 'user' })
    await pass(HOUR)
    expect(host.adapter.requests).toHaveLength(asked)
  })
})

/** Real time for I/O, while the faked clock stands. */
async function breathe(ms: number): Promise<void> {
  const end = realNow() + ms
  while (realNow() < end) await new Promise(resolve => setImmediate(resolve))
}
/** Let time pass no faster than a session can be opened. */
async function slowly(ms: number, stepMs = 50): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    await pass(stepMs)
    await breathe(20)
  }
}
describe('a restart with many that waited', () => {
  const closed = async (count: number, config: object, route = (_index: number) => A): Promise<void> => {
    root = await mkdtemp(join(tmpdir(), 'quota-rig-'))
    const first = await rig({ root, script: () => spent(), config, providers: Array.from({ length: count }, (_none, index) => `p${index}`).concat('a') })
    for (let index = 0; index < count; index += 1) {
      const agent = await first.start(`s${index}`, route(index))
      agent.followup(user('work'))
      await waiting(agent, 1)
      await first.ctx.sessions.flush(agent.session)
    }
    await first.ctx.llmQuotaRetry
    await breathe(200)
    await first.dispose()
  }
  const peak = (): number => Math.max(0, ...host.adapter.times.map(time => host.adapter.times.filter(other => other >= time && other < time + 1_000).length))

  it.each<[string, object, (index: number) => typeof A]>([
    ['on one route', {}, () => A],
    ['on one route, each for itself', { probe: 'each' }, () => A],
    ['each on a provider of its own', {}, index => ({ provider: `p${index}`, model: 'm' })],
  ])('asks for them one after another: %s', async (_how, more, route) => {
    const config = { ...more, resumeDelaySeconds: 0 }
    await closed(12, config, route)
    vi.setSystemTime(Date.now() + 5 * HOUR)
    host = await rig({ root: root!, script: () => say('done'), config, providers: Array.from({ length: 12 }, (_none, index) => `p${index}`).concat('a') })
    await breathe(300)
    await slowly(8_000)
    expect(host.adapter.requests).toHaveLength(12)
    // Five a second go; how long each takes to open is the disk's affair.
    expect(peak()).toBeLessThanOrEqual(7)
  })

  it('waits an interval at most where the clock was set back a day meanwhile', async () => {
    const config = { resumeDelaySeconds: 0 }
    await closed(1, config)
    vi.setSystemTime(Date.now() - 24 * HOUR)
    host = await rig({ root: root!, script: () => say('done'), config })
    await breathe(300)
    await slowly(5_000)
    expect(host.adapter.requests).toHaveLength(0)
    await pass(HOUR)
    await slowly(2_000)
    await until(() => host.adapter.requests.length === 1, 'the attempt an interval later')
  })

  it('asks once for all while they are refused, at the time that they had', async () => {
    const config = { resumeDelaySeconds: 0 }
    await closed(12, config)
    const due = Date.now() + HOUR
    vi.setSystemTime(Date.now() + 20 * MINUTE)
    host = await rig({ root: root!, script: () => spent(), config })
    await breathe(300)
    await slowly(2_000, 500)
    await pass(due - Date.now() - 1)
    await breathe(100)
    expect(host.adapter.requests).toHaveLength(0)
    await slowly(2_000)
    expect(host.adapter.requests).toHaveLength(1)
    await slowly(60_000, 5_000)
    expect(host.adapter.requests).toHaveLength(1)
  })
})
