import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventsOf, fakeTime, pass, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
let host: Rig

beforeEach(() => { fakeTime() })
afterEach(async () => {
  await host.dispose()
  vi.useRealTimers()
})

const waits = (agent: any): any[] => eventsOf(agent, 'llm/retry')
const waiting = (agent: any, count: number): Promise<void> => until(() => waits(agent).length === count, `wait ${count}`)
const outcomes = (agent: any): string[] => eventsOf(agent, 'turn/end').map(event => event.data.reason.kind)

/** A session that was refused once and waits. */
async function waitingSession(refusals: number, config = {}) {
  host = await rig({ script: (_request, index) => index < refusals ? spent() : say('done'), config })
  const agent = await host.start()
  agent.followup(user('work'))
  await waiting(agent, 1)
  return agent
}

describe('a session whose account is out of allowance', () => {
  it('waits in the same open step, once an hour, and goes on when the provider answers again', async () => {
    const agent = await waitingSession(2)
    expect(agent.status).toBe('running')
    await pass(HOUR - 1)
    expect(host.adapter.requests).toHaveLength(1)
    await pass(1)
    await waiting(agent, 2)
    expect(host.adapter.requests).toHaveLength(2)
    await pass(HOUR)
    await agent.whenIdle()
    expect(host.adapter.requests).toHaveLength(3)
    expect(outcomes(agent)).toEqual(['completed'])
    expect(eventsOf(agent, 'step/start')).toHaveLength(1)
  })

  it('writes each wait as the harness\'s own retry record, paired when the attempt begins', async () => {
    const agent = await waitingSession(2)
    await pass(HOUR)
    await waiting(agent, 2)
    const [first, second] = waits(agent).map(event => event.data)
    expect(first).toMatchObject({
      turn: 1, step: 1, provider: 'a', mode: 'always', retry: 1, delayMs: HOUR,
      policyKey: JSON.stringify(['llm-quota-retry', 'wait', HOUR]), failure: { code: 'QUOTA', message: 'Insufficient Balance', status: 402 },
    })
    expect(second).toMatchObject({ retryId: first.retryId, retry: 2 })
    expect(eventsOf(agent, 'llm/retry-started').map(event => event.data)).toEqual([{ retryId: first.retryId, turn: 1, step: 1, retry: 1 }])
  })

  it('announces the entry when it opens and when it ends, each once, with every field', async () => {
    const start = Date.now()
    const agent = await waitingSession(2)
    await pass(HOUR)
    await waiting(agent, 2)
    await pass(HOUR)
    await agent.whenIdle()
    await settle()
    expect(host.announced.map(({ name }) => name)).toEqual(['entered', 'left'])
    const [entered, left] = host.announced.map(({ payload }) => payload)
    expect(entered).toMatchObject({
      provider: 'a', turn: 1, step: 1, enteredAt: start, nextAttemptAt: start + HOUR, attempts: 1, pending: true, retrying: true,
      failure: { code: 'QUOTA', status: 402, message: 'Insufficient Balance' },
    })
    expect(entered.session).toBe(agent.session)
    expect(entered.agent).toBe(agent)
    expect(left).toMatchObject({
      reason: 'recovered', provider: 'a', turn: 1, step: 1, enteredAt: start, leftAt: start + 2 * HOUR, durationMs: 2 * HOUR, attempts: 2,
    })
    expect(left.session).toBe(agent.session)
  })

  it('is told of by the service while it lasts, in a snapshot nobody can change', async () => {
    const start = Date.now()
    const agent = await waitingSession(1)
    const service = host.ctx.llmQuotaRetry
    expect(service.isRetrying(agent.session)).toBe(true)
    const state = service.stateOf(agent.session)
    expect(state).toEqual({
      pending: true, attempts: 1, enteredAt: start, since: start, nextAttemptAt: start + HOUR,
      provider: 'a', model: 'm', turn: 1, step: 1, reason: 'Insufficient Balance',
    })
    expect(() => { state.attempts = 7 }).toThrow(TypeError)
    await pass(HOUR)
    await agent.whenIdle()
    expect(service.isRetrying(agent.session)).toBe(false)
    expect(service.stateOf(agent.session)).toBeUndefined()
  })

  it('is shown by the projection with the live wait', async () => {
    const start = Date.now()
    const agent = await waitingSession(1)
    const value = () => host.ctx.sessionProjections.snapshot(agent.session).values.quotaRetry
    expect(value()).toEqual({
      version: 1, enabled: true, defaultEnabled: true, source: 'default', pool: null, poolSource: 'default', pools: [], lastMove: null,
      wait: { since: start, nextAttemptAt: start + HOUR, pending: true, attempts: 1, provider: 'a', model: 'm', reason: 'Insufficient Balance', resetsAt: null, next: { provider: 'a', model: 'm' }, pool: null },
    })
    expect(host.ctx.llmQuotaRetry.facts(agent.session)).toEqual(value())
    await pass(HOUR)
    await agent.whenIdle()
    expect(value().wait).toBeNull()
  })

  it('keeps the entry when the turn is cancelled: not pending, nothing announced, nothing sent later', async () => {
    const agent = await waitingSession(1)
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['aborted'])
    expect(host.ctx.llmQuotaRetry.stateOf(agent.session)).toMatchObject({ pending: false, attempts: 1 })
    expect(host.ctx.llmQuotaRetry.stateOf(agent.session).nextAttemptAt).toBeUndefined()
    await pass(5 * HOUR)
    expect(host.adapter.requests).toHaveLength(1)
    expect(host.announced.map(({ name }) => name)).toEqual(['entered'])
  })

  it('re-arms the kept entry at the next refusal, and ends it once at the next answer', async () => {
    const start = Date.now()
    const agent = await waitingSession(2)
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    await pass(60_000)
    agent.followup(user('again'))
    await waiting(agent, 2)
    expect(host.ctx.llmQuotaRetry.stateOf(agent.session)).toMatchObject({ pending: true, attempts: 2, enteredAt: start, since: start + 60_000, turn: 2 })
    await pass(HOUR)
    await agent.whenIdle()
    await settle()
    expect(host.announced.map(({ name }) => name)).toEqual(['entered', 'left'])
    expect(host.announced[1]?.payload).toMatchObject({ reason: 'recovered', attempts: 2, enteredAt: start })
  })

  it('asks at once when the person says now, and says so when nothing waits', async () => {
    const agent = await waitingSession(1)
    const { result } = await host.command(agent, '/quota-retry now')
    expect(result.kind).toBe('success')
    await agent.whenIdle()
    expect(host.adapter.requests).toHaveLength(2)
    const idle = await host.command(agent, '/quota-retry now')
    expect(idle.result).toMatchObject({ kind: 'error', text: expect.stringContaining('Nothing holds this session') })
  })

  it('brings the attempt forward for a new message, but not closer than ten seconds to the refusal', async () => {
    const agent = await waitingSession(1)
    await pass(3_000)
    agent.followup(user('are you there?'))
    await pass(6_999)
    expect(host.adapter.requests).toHaveLength(1)
    await pass(1)
    await agent.whenIdle()
    expect(host.adapter.requests.length).toBeGreaterThanOrEqual(2)
    expect(outcomes(agent)).toEqual(['completed', 'completed'])
  })

  it('ends with the original failure when the longest wait is used up, after one last look', async () => {
    const agent = await waitingSession(Number.POSITIVE_INFINITY, { longTermDelayMs: HOUR, maxWaitMs: 1.5 * HOUR })
    await pass(HOUR)
    await waiting(agent, 2)
    expect(waits(agent)[1].data).toMatchObject({ delayMs: 0.5 * HOUR, policyKey: JSON.stringify(['llm-quota-retry', 'wait', HOUR, 'limit']) })
    await pass(0.5 * HOUR)
    await agent.whenIdle()
    expect(host.adapter.requests).toHaveLength(3)
    expect(eventsOf(agent, 'turn/end')[0].data.reason).toMatchObject({ kind: 'error', error: { code: 'QUOTA', message: 'Insufficient Balance' } })
  })

  it('tries at the reset time that the provider names when that comes before the interval', async () => {
    host = await rig({
      script: (_request, index) => index === 0 ? spent(`Usage limit reached. Resets at ${new Date(Date.now() + 600_000).toISOString()}`) : say('done'),
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await waiting(agent, 1)
    expect(waits(agent)[0].data.delayMs).toBeGreaterThanOrEqual(600_000)
    expect(waits(agent)[0].data.delayMs).toBeLessThanOrEqual(660_000)
    await pass(660_000)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['completed'])
  })

  it('says once for each wait what it waits for, where no page shows it', async () => {
    const agent = await waitingSession(2)
    await pass(HOUR)
    await waiting(agent, 2)
    expect(host.warnings).toHaveLength(2)
    expect(host.warnings[0]).toContain('a is out of allowance')
    expect(host.warnings[0]).toContain('next check 2026-09-01')
  })

  it('notices after a sleep of the machine that its time has come', async () => {
    const agent = await waitingSession(1)
    // The wall clock runs on while no timer does.
    vi.setSystemTime(Date.now() + 3 * HOUR)
    await pass(60_000)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['completed'])
  })
})

describe('sessions that wait on one route', () => {
  /** Sessions that were all refused, and wait. */
  async function many(count: number, config = {}) {
    let back = false
    host = await rig({ script: () => back ? say('done') : spent(), config })
    const agents: any[] = []
    for (let index = 0; index < count; index += 1) {
      const agent = await host.start(`s${index}`)
      agent.followup(user('work'))
      await waiting(agent, 1)
      agents.push(agent)
    }
    return { agents, comeBack: () => { back = true }, asked: () => host.adapter.requests.length - count }
  }

  it('have one ask for all, once an interval, and are told the new time without asking', async () => {
    const { agents, asked } = await many(20)
    await pass(HOUR)
    await until(() => agents.every(agent => waits(agent).length === 2), 'a second record in each log')
    expect(asked()).toBe(1)
    expect(agents.filter(agent => eventsOf(agent, 'llm/retry-started').length === 1)).toHaveLength(1)
    expect(agents.slice(1).map(agent => JSON.parse(waits(agent)[1].data.policyKey)[3])).toEqual(Array.from({ length: 19 }, () => 'shared'))
    await pass(HOUR)
    expect(asked()).toBe(2)
  })

  it('follow one after another when it is answered, never more than five in a second', async () => {
    const { agents, comeBack, asked } = await many(20)
    comeBack()
    await pass(HOUR)
    expect(asked()).toBeLessThanOrEqual(2)
    await pass(10_000)
    await Promise.all(agents.map(agent => agent.whenIdle()))
    expect(agents.flatMap(outcomes)).toEqual(Array.from({ length: 20 }, () => 'completed'))
    expect(asked()).toBe(20)
    const times = host.adapter.times.slice(20)
    for (const time of times) expect(times.filter(other => other >= time && other < time + 1_000).length).toBeLessThanOrEqual(5)
  })

  it('go back to waiting when those who follow are refused', async () => {
    let answers = 3
    host = await rig({ script: () => (answers -= 1) >= 0 && Date.now() > start ? say('done') : spent() })
    const start = Date.now()
    answers = 0
    const agents: any[] = []
    for (let index = 0; index < 10; index += 1) {
      const agent = await host.start(`s${index}`)
      agent.followup(user('work'))
      await waiting(agent, 1)
      agents.push(agent)
    }
    answers = 3
    await pass(HOUR + 30_000)
    expect(agents.filter(agent => outcomes(agent).includes('completed'))).toHaveLength(3)
    expect(host.adapter.requests.length - 10).toBe(4)
    expect(agents.filter(agent => host.ctx.llmQuotaRetry.stateOf(agent.session)?.pending)).toHaveLength(7)
  })

  it('each ask for themselves where the deployment says so', async () => {
    const { agents, asked } = await many(5, { probe: 'each' })
    await pass(HOUR)
    await until(() => agents.every(agent => waits(agent).length === 2), 'a second wait')
    expect(asked()).toBe(5)
  })

  it('hand the asking on when the one who asks is cancelled', async () => {
    const { agents, asked } = await many(3)
    agents[0].cancel({ kind: 'user' })
    await agents[0].whenIdle()
    await pass(HOUR)
    expect(asked()).toBe(1)
    expect(agents.slice(1).every(agent => waits(agent).length === 2)).toBe(true)
  })

  it('learn at once of an answer that another session got', async () => {
    const { agents, comeBack } = await many(2)
    comeBack()
    const other = await host.start('other')
    other.followup(user('hi'))
    await other.whenIdle()
    await pass(2_000)
    await Promise.all(agents.map(agent => agent.whenIdle()))
    expect(agents.flatMap(outcomes)).toEqual(['completed', 'completed'])
    // The log says why the attempt came before its time.
    expect(JSON.parse(waits(agents[0]).at(-1).data.policyKey)[3]).toBe('ramp')
  })
})
