import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { timeline, timelineText } from '../../src/projections/timeline.ts'
import { replay } from '../../src/replay.ts'
import { eventsOf, fakeTime, LlmError, pass, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
let host: Rig

beforeEach(() => { fakeTime() })
afterEach(async () => {
  await host.dispose()
  vi.useRealTimers()
})

const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'n' }
const C = { provider: 'c', model: 'o' }
const pools = { medium: { routes: [A, B] } }
const three = { medium: { routes: [A, B, C] } }
const PROVIDERS = ['a', 'b', 'c']

/** Providers that are out of allowance; the others answer. */
let out: Set<string>
beforeEach(() => { out = new Set(['a']) })
const script = (request: { provider: string }) => out.has(request.provider) ? spent(`${request.provider} has insufficient balance`) : say(`hi from ${request.provider}`)

const open = (config: object = { pools }, more: object = {}): Promise<Rig> => rig({ script, config, providers: PROVIDERS, ...more })
const outcomes = (agent: any): string[] => eventsOf(agent, 'turn/end').map(event => event.data.reason.kind)
const retries = (agent: any): any[] => eventsOf(agent, 'llm/retry').map(event => event.data)
const ask = async (agent: any, text = 'work'): Promise<void> => {
  agent.followup(user(text))
  await agent.whenIdle()
}
const facts = (agent: any): any => host.ctx.llmQuotaRetry.facts(agent.session)
const marked = (provider: string): any => host.ctx.llmQuotaRetry.report().pools[0].routes.find((route: any) => route.provider === provider).mark

describe('a request that is refused for a spent allowance', () => {
  it('is retried at once on the pool\'s next route, in the same step, and announced', async () => {
    host = await open()
    const agent = await host.start()
    const at = Date.now()
    await ask(agent)
    await settle()
    expect(host.adapter.routes).toEqual(['a/m', 'b/n'])
    expect(outcomes(agent)).toEqual(['completed'])
    expect(eventsOf(agent, 'step/start')).toHaveLength(1)
    expect(host.announced.map(({ name }) => name)).toEqual(['failover'])
    expect(host.announced[0]?.payload).toMatchObject({ from: A, to: B, pool: 'medium', at, failure: { code: 'QUOTA' } })
    expect(host.announced[0]?.payload.agent).toBe(agent)
    expect(host.ctx.llmQuotaRetry.isRetrying(agent.session)).toBe(false)
  })

  it('leaves a move pair in the log, confirmed by the header that follows', async () => {
    host = await open()
    const agent = await host.start()
    await ask(agent)
    expect(retries(agent)).toMatchObject([{ provider: 'a', delayMs: 0, mode: 'always', policyKey: JSON.stringify(['llm-quota-retry', 'move', 'medium', 'b', 'n']) }])
    expect(eventsOf(agent, 'llm/retry-started')).toHaveLength(1)
    expect(eventsOf(agent, 'request/header').map(event => event.data.header.config.provider)).toEqual(['a', 'b'])
    expect(facts(agent).lastMove).toMatchObject({ from: A, to: B, pool: 'medium' })
  })

  it('marks its provider until the cooldown is over, and the provider\'s own answer lifts the mark', async () => {
    host = await open({ pools, exhaustedCooldownMs: 600_000 })
    const agent = await host.start()
    const at = Date.now()
    await ask(agent)
    expect(marked('a')).toMatchObject({ at, until: at + 600_000, rule: expect.any(String) })
    out.clear()
    const fresh = await host.start('fresh')
    await host.command(fresh, '/quota-pool off')
    await ask(fresh)
    expect(host.adapter.routes.at(-1)).toBe('a/m')
    expect(marked('a')).toBeUndefined()
  })

  it('is answered, where another plugin says in our place where requests go', async () => {
    const elsewhere = { provider: 'a', model: 'm' }
    host = await open({ pools: { medium: { routes: [A] } } }, { before: async (ctx: any) => { ctx.on('agent/request', async () => elsewhere) } })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 1, 'the wait')
    expect(marked('a')).toBeDefined()
    out.clear()
    await ask(await host.start('fresh'))
    expect(marked('a')).toBeUndefined()
    // The answer tells the one who waits, too.
    await pass(10_000)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['completed'])
  })

  it.each<[string, (agent: any) => unknown]>([
    ['a command', agent => host.command(agent, '/quota-pool medium')],
    ['another plugin', agent => host.ctx.llmQuotaRetry.setPool(agent.session, 'medium')],
  ])('goes on in seconds when %s puts it in a pool with a free route in the middle of its wait', async (_who, put) => {
    host = await open({ pools: { medium: { routes: [A, B] }, other: { routes: [A, C] } }, longTermDelayMs: 10 * HOUR })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 1, 'the wait')
    await put(agent)
    await pass(15_000)
    await agent.whenIdle()
    expect([host.adapter.routes, outcomes(agent)]).toEqual([['a/m', 'b/n'], ['completed']])
  })

  it('asks each route of its pool once an interval, however short the cooldown', async () => {
    out = new Set(['a', 'b'])
    host = await open({ pools, longTermDelayMs: HOUR, exhaustedCooldownMs: 60_000 })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 2, 'the wait')
    await pass(HOUR - 60_000)
    expect(host.adapter.routes).toEqual(['a/m', 'b/n'])
    await pass(120_000)
    await until(() => host.adapter.routes.length === 4, 'the second round')
    out.clear()
    await pass(HOUR + 60_000)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['completed'])
  })

  it.each<[string, object]>([['429', { providerRetryAfterMs: 10 * HOUR }], ['429: Please try again in 10h', {}], ['429: 请在10小时后重试', {}], ['429: Please wait 36127 seconds before retrying.', {}]])('is moved when it says to come back in ten hours: %s', async (message, more) => {
    host = await rig({ script: request => request.provider === 'a' ? new LlmError(message, 'RATE_LIMIT', { status: 429, ...more }) : say('hi'), config: { pools }, providers: PROVIDERS })
    const agent = await host.start()
    agent.followup(user('work'))
    await pass(60_000)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['completed'])
    expect(host.adapter.routes.at(-1)).toBe('b/n')
  })

  it('is marked by the newest refusal, also by one that comes seconds after another', async () => {
    let count = 0
    host = await rig({
      script: request => request.provider !== 'a' ? say('hi') : spent(count++ === 0 ? 'Usage limit reached.' : `Usage limit reached. Resets at ${new Date(Date.now() + 60_000).toISOString()}`),
      config: { pools }, providers: PROVIDERS,
    })
    const two = await host.start('two')
    await host.command(two, '/quota-pool off')
    await ask(await host.start('one'))
    await pass(2_000)
    two.followup(user('work'))
    await until(() => retries(two).length === 1, 'the wait')
    expect(marked('a').until - Date.now()).toBeLessThanOrEqual(65_000)
  })

  it.each(['500: {"message":"invalid reasoning block: signature mismatch"}', '502: upstream returned 400: Invalid signature in thinking block'])('goes to the next route when the one it moved to does not take the conversation: %s', async (message) => {
    host = await rig({ script: request => request.provider === 'a' ? spent() : request.provider === 'b' ? new LlmError(message, 'SERVER', { status: 500 }) : say('hi from c'), config: { pools: three }, providers: PROVIDERS })
    const agent = await host.start()
    agent.followup(user('work'))
    await pass(120_000)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['completed'])
    expect(host.adapter.routes.at(-1)).toBe('c/o')
    expect(host.ctx.llmQuotaRetry.report().pools[0].routes[1].mark).toBeUndefined()
  })

  it('has every route of the pool asked once an interval where all are out, also with a longer cooldown', async () => {
    out = new Set(['a', 'b'])
    host = await open({ pools, longTermDelayMs: 600_000, exhaustedCooldownMs: 6 * HOUR })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 2, 'the wait')
    await pass(HOUR + 30_000)
    const count = (provider: string): number => host.adapter.routes.filter(route => route.startsWith(`${provider}/`)).length
    expect([count('a'), count('b')]).toEqual([7, 7])
    out = new Set(['a'])
    await pass(600_000)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['completed'])
    expect(host.adapter.routes.at(-1)).toBe('b/n')
  })

  it('says in its log why it is asked when, and why a wait ended on another route', async () => {
    out = new Set(['a', 'b'])
    host = await rig({
      script: request => request.provider === 'a' ? out.has('a') ? spent(`Usage limit reached. Resets at ${new Date(Date.now() + 600_000).toISOString()}`) : say('hi') : spent(),
      config: { pools }, providers: PROVIDERS,
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 2, 'the wait')
    out.clear()
    await pass(700_000)
    await agent.whenIdle()
    expect(retries(agent).map(({ policyKey }) => JSON.parse(policyKey).slice(1))).toEqual([
      ['move', 'medium', 'b', 'n'], ['wait', HOUR, 'other-route'], ['move', 'medium', 'a', 'm', 'due'],
    ])
    await settle()
    expect(host.announced.filter(({ name }) => name === 'failover').map(({ payload }) => payload.afterWait)).toEqual([undefined, 'due'])
    const told = timelineText(timeline(replay([agent.session.header, ...agent.session.events])))
    expect(told).toContain('(another route of the pool may be asked)')
    expect(told).toContain('moved from b/n to a/m (pool medium) because the wait was over: the time of the route came')
  })

  it('for the allowance of one model leaves the others of its provider', async () => {
    const routes = [{ provider: 'a', model: 'big' }, { provider: 'a', model: 'small' }, { provider: 'paid', model: 'x' }]
    let bigIsOut = true
    host = await rig({
      script: request => bigIsOut && request.model === 'big'
        ? new LlmError("429: You've hit your usage limit for GPT-5.5-Codex. Switch to another model now", 'RATE_LIMIT', { status: 429 })
        : say(`hi from ${request.model}`),
      config: { pools: { medium: { routes } }, probe: 'each', longTermDelayMs: 600_000, exhaustedCooldownMs: 600_000, beforeNativeRetries: true }, providers: ['a', 'paid'],
    })
    const agent = await host.start('s1', routes[0])
    await ask(agent)
    expect([host.adapter.routes, outcomes(agent)]).toEqual([['a/big', 'a/small'], ['completed']])
    const marks = (): any[] => host.ctx.llmQuotaRetry.report().pools[0].routes.map((route: any) => route.mark?.scope)
    expect(marks()).toEqual(['route', undefined, undefined])
    expect(await host.ctx.llmQuotaRetry.pickRoute('medium')).toMatchObject(routes[1]!)
    // The answer of the small one told nothing of the big one: who starts there goes to the small one, without a request.
    const other = await host.start('s2', routes[0])
    await ask(other)
    expect(host.adapter.routes).toEqual(['a/big', 'a/small', 'a/small'])
    bigIsOut = false
    const alone = await host.start('s3', routes[0])
    await host.command(alone, '/quota-pool off')
    await ask(alone)
    expect(host.adapter.routes.at(-1)).toBe('a/big')
    expect(marks()).toEqual([undefined, undefined, undefined])
  })

  it('marks for no longer than the provider\'s own reset', async () => {
    host = await rig({ script: request => request.provider === 'a' ? spent(`Usage limit reached. Resets at ${new Date(Date.now() + 60_000).toISOString()}`) : say('hi'), config: { pools }, providers: PROVIDERS })
    const agent = await host.start()
    await ask(agent)
    expect(marked('a').until - Date.now()).toBeLessThan(120_000)
  })

  it('marks both providers when two refuse in one step, and then waits', async () => {
    out = new Set(['a', 'b'])
    host = await open()
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 2, 'a move and a wait')
    expect(host.adapter.routes).toEqual(['a/m', 'b/n'])
    expect(marked('a')).toBeDefined()
    expect(marked('b')).toBeDefined()
    expect(host.ctx.llmQuotaRetry.stateOf(agent.session)).toMatchObject({ pending: true, provider: 'b' })
    await settle()
    expect(host.announced.map(({ name }) => name)).toEqual(['failover', 'entered'])
  })

  it('is asked of the preferred route again after the wait, once each', async () => {
    out = new Set(['a', 'b'])
    host = await open()
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 2, 'a move and a wait')
    await pass(HOUR)
    await until(() => host.adapter.routes.length === 4, 'the second round')
    expect(host.adapter.routes.slice(2)).toEqual(['a/m', 'b/n'])
    out.clear()
    await pass(HOUR)
    await agent.whenIdle()
    expect(host.adapter.routes.slice(4)).toEqual(['a/m'])
    expect(outcomes(agent)).toEqual(['completed'])
  })

  it('waits where it is when its pool setting is off', async () => {
    host = await open()
    const agent = await host.start()
    await host.command(agent, '/quota-pool off')
    agent.followup(user('work'))
    await until(() => retries(agent).length === 1, 'the wait')
    expect(host.adapter.routes).toEqual(['a/m'])
    expect(host.ctx.llmQuotaRetry.stateOf(agent.session)).toMatchObject({ pending: true })
  })

  it('is neither moved nor waited out in a session that is switched off', async () => {
    host = await open()
    const agent = await host.start()
    await host.command(agent, '/quota-retry off')
    await ask(agent)
    expect(host.adapter.routes).toEqual(['a/m'])
    expect(outcomes(agent)).toEqual(['error'])
    // What it learnt still serves the others.
    expect(marked('a')).toBeDefined()
  })

  it('in a session of no pool is waited out', async () => {
    host = await open()
    const agent = await host.start('s', { provider: 'c', model: 'elsewhere' })
    out.add('c')
    agent.followup(user('work'))
    await until(() => retries(agent).length === 1, 'the wait')
    expect(host.ctx.llmQuotaRetry.poolOf(agent.session)).toBeUndefined()
  })

  it('moves nobody on a guess when two pools share the route', async () => {
    host = await open({ pools: { one: { routes: [A, B] }, two: { routes: [A, C] } } })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 1, 'the wait')
    expect(host.adapter.routes).toEqual(['a/m'])
  })

  it('carries neither the effort nor the token limit of the old model over', async () => {
    host = await rig({
      script, providers: PROVIDERS,
      config: { pools: { medium: { routes: [A, B] } } },
    })
    const { agent } = await host.ctx.agents.create({ sessionId: 's', agentOptions: { ...A, maxTokens: 77 } })
    await ask(agent)
    expect(host.adapter.requests.map(request => request.maxTokens)).toEqual([77, undefined])
  })
})

describe('a target that cannot serve', () => {
  it('because the host refuses it is skipped for that step and named in /quota-routes', async () => {
    host = await rig({ script, providers: ['a', 'c'], config: { pools: three } })
    const agent = await host.start()
    await ask(agent)
    expect(host.adapter.routes).toEqual(['a/m', 'c/o'])
    const { result } = await host.command(agent, '/quota-routes')
    expect(result.text).toMatch(/b\/n.*\n +this host would not send to it/)
  })

  it('because every other route is refused by the host leaves the wait', async () => {
    host = await rig({ script, providers: ['a'], config: { pools: three } })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 1, 'the wait')
    expect(host.adapter.routes).toEqual(['a/m'])
  })

  it('because it will not take the conversation is left for the next route, without a mark', async () => {
    host = await rig({
      script: request => request.provider === 'a' ? spent() : request.provider === 'b'
        ? new LlmError('400: messages.1.content.0: Invalid `signature` in `thinking` block', 'INVALID_REQUEST', { status: 400 })
        : say('hi from c'),
      providers: PROVIDERS, config: { pools: three },
    })
    const agent = await host.start()
    await ask(agent)
    expect(host.adapter.routes).toEqual(['a/m', 'b/n', 'c/o'])
    expect(outcomes(agent)).toEqual(['completed'])
    expect(marked('b')).toBeUndefined()
  })

  it('because it will not take the conversation leaves the wait for the route that ran out', async () => {
    let back = false
    host = await rig({
      script: request => request.provider === 'a' ? back ? say('hi from a') : spent('a is out of credits')
        : new LlmError('400: Invalid `signature` in `thinking` block', 'INVALID_REQUEST', { status: 400 }),
      providers: PROVIDERS, config: { pools },
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 2, 'a move and a wait')
    expect(host.ctx.llmQuotaRetry.stateOf(agent.session)).toMatchObject({ provider: 'a', model: 'm', reason: 'a is out of credits' })
    back = true
    await pass(HOUR)
    await agent.whenIdle()
    expect(host.adapter.routes).toEqual(['a/m', 'b/n', 'a/m'])
    expect(outcomes(agent)).toEqual(['completed'])
  })

  it('because it will not take the conversation is left also where the request was moved there before it was sent', async () => {
    host = await rig({
      script: request => request.provider === 'a' ? spent() : request.provider === 'b'
        ? new LlmError('400: Invalid `signature` in `thinking` block', 'INVALID_REQUEST', { status: 400 }) : say('hi from c'),
      providers: PROVIDERS, config: { pools: three },
    })
    await ask(await host.start('one'))
    const two = await host.start('two')
    await ask(two)
    await ask(two, 'more')
    expect(outcomes(two)).toEqual(['completed', 'completed'])
    expect(host.adapter.routes.slice(3)).toEqual(['b/n', 'c/o', 'c/o'])
  })

  it('because its key is wrong strands nobody when the wait for the other is cancelled', async () => {
    host = await rig({
      script: request => request.provider === 'a' ? out.has('a') ? spent() : say('hi from a') : new LlmError('invalid api key', 'AUTH', { status: 401 }),
      providers: PROVIDERS, config: { pools },
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 2, 'a move and a wait')
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    out.clear()
    await pass(2 * HOUR)
    await ask(agent, 'again')
    expect(outcomes(agent)).toEqual(['aborted', 'completed'])
  })

  it('is looked at for longer than the interval without the wait being lost', async () => {
    host = await rig({ script, providers: ['a'], config: { pools, longTermDelayMs: 5_000 } })
    const slow = vi.spyOn(Object.getPrototypeOf(host.ctx.llm), 'resolveCallConfig')
    slow.mockImplementation(((config: { provider: string }) => config.provider === 'b'
      ? new Promise((_resolve, reject) => { setTimeout(() => { reject(new Error('no such provider')) }, 10_000) })
      : Promise.resolve(config)) as never)
    const agent = await host.start()
    agent.followup(user('work'))
    await pass(12_000)
    await until(() => retries(agent).length === 1, 'the wait')
    slow.mockRestore()
    expect(retries(agent)[0].delayMs).toBeLessThanOrEqual(5_000)
    out.clear()
    await pass(6_000)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['completed'])
  })

  it('and the look at it does not end: a cancel is heard all the same, and so is an unload', async () => {
    const endless = async (): Promise<any> => {
      host = await rig({ script, providers: ['a'], config: { pools } })
      let looked = false
      const look = vi.spyOn(Object.getPrototypeOf(host.ctx.llm), 'resolveCallConfig')
      stopLook = () => { look.mockRestore() }
      look.mockImplementation(((config: { provider: string }) => {
        looked ||= config.provider === 'b'
        return config.provider === 'b' ? new Promise(() => {}) : Promise.resolve(config)
      }) as never)
      const agent = await host.start()
      agent.followup(user('work'))
      await until(() => looked, 'the look')
      return agent
    }
    let stopLook = (): void => {}
    const cancelled = await endless()
    cancelled.cancel({ kind: 'user' })
    await cancelled.whenIdle()
    expect(outcomes(cancelled)).toEqual(['aborted'])
    stopLook()
    await host.dispose()
    const unloaded = await endless()
    await host.plugin.dispose()
    await unloaded.whenIdle()
    stopLook()
    expect(outcomes(unloaded)).toEqual(['error'])
  })

  it('because its key is wrong ends nothing while another route answers', async () => {
    host = await rig({
      script: request => request.provider === 'a' ? spent() : request.provider === 'b' ? new LlmError('invalid api key', 'AUTH', { status: 401 }) : say('hi'),
      providers: PROVIDERS, config: { pools: three },
    })
    const agent = await host.start()
    await ask(agent)
    expect(host.adapter.routes).toEqual(['a/m', 'b/n', 'c/o'])
  })
})

describe('at every request', () => {
  it('a second turn does not start on the route that refused', async () => {
    host = await open()
    const agent = await host.start()
    await ask(agent)
    await ask(agent, 'more')
    expect(host.adapter.routes).toEqual(['a/m', 'b/n', 'b/n'])
  })

  it('another session is moved before it is sent to a marked provider', async () => {
    host = await open()
    await ask(await host.start('one'))
    const two = await host.start('two')
    await ask(two)
    expect(host.adapter.routes).toEqual(['a/m', 'b/n', 'b/n'])
    expect(retries(two)).toHaveLength(0)
  })

  it.each([['turn', 'a/m'], ['never', 'b/n']])('a moved session goes back when the mark is gone: %s', async (returnToPreferred, route) => {
    host = await open({ pools, returnToPreferred })
    const agent = await host.start()
    await ask(agent)
    out.clear()
    await pass(2 * HOUR)
    await ask(agent, 'more')
    expect(host.adapter.routes.at(-1)).toBe(route)
    expect(outcomes(agent)).toEqual(['completed', 'completed'])
  })

  it('one of several moved sessions tries the preferred route for all, and costs one request when it is refused', async () => {
    host = await open()
    const agents: any[] = []
    for (let index = 0; index < 5; index += 1) agents.push(await host.start(`s${index}`))
    for (const agent of agents) await ask(agent)
    const count = (): number => host.adapter.routes.filter(route => route === 'a/m').length
    const before = count()
    await pass(2 * HOUR)
    for (const agent of agents) await ask(agent, 'more')
    expect(count() - before).toBe(1)
    out.clear()
    await pass(2 * HOUR)
    for (const agent of agents) await ask(agent, 'and more')
    expect(count() - before).toBe(6)
    expect(facts(agents[4]).lastMove).toMatchObject({ from: B, to: A, why: 'preferred' })
  })

  it('a model that was picked outside the pool is left alone', async () => {
    host = await open()
    await ask(await host.start('one'))
    const two = await host.start('two', { provider: 'a', model: 'other' })
    await host.command(two, '/quota-pool default')
    two.followup(user('work'))
    await until(() => retries(two).length === 1, 'the wait')
    expect(host.adapter.routes.at(-1)).toBe('a/other')
  })

  it('a pick of the person wins, even of a marked route, and is recognised by the route the host would use', async () => {
    let selected: { provider: string; model: string } = A
    host = await open({ pools }, {
      before: async (ctx: any) => { ctx.on('agent/request', async (_payload: unknown, next: () => Promise<object>) => ({ ...await next(), ...selected })) },
    })
    const agent = await host.start()
    await ask(agent)
    expect(host.adapter.routes).toEqual(['a/m', 'b/n'])
    await ask(agent)
    expect(host.adapter.routes.at(-1)).toBe('b/n')
    selected = C
    await ask(agent)
    expect(host.adapter.routes.at(-1)).toBe('c/o')
    out.clear()
    selected = A
    await ask(agent)
    expect(host.adapter.routes.at(-1)).toBe('a/m')
  })

  it('decides without waiting for anything', async () => {
    host = await open()
    const agent = await host.start()
    await ask(agent)
    const before = process.getActiveResourcesInfo().filter(name => name === 'ProcessWrap').length
    await ask(agent, 'more')
    expect(process.getActiveResourcesInfo().filter(name => name === 'ProcessWrap').length).toBe(before)
  })
})

describe('the pool setting', () => {
  it('has three states, inferred from the only pool that holds the route', async () => {
    host = await open()
    const agent = await host.start()
    await ask(agent)
    expect(facts(agent)).toMatchObject({ pool: 'medium', poolSource: 'default', pools: ['medium'] })
    await host.command(agent, '/quota-pool off')
    expect(facts(agent)).toMatchObject({ pool: null, poolSource: 'off' })
    await host.command(agent, '/quota-pool medium')
    expect(facts(agent)).toMatchObject({ pool: 'medium', poolSource: 'session' })
    await host.command(agent, '/quota-pool default')
    expect(facts(agent)).toMatchObject({ pool: 'medium', poolSource: 'default' })
  })

  it('chooses a route for the next request, also of a session whose model is in no pool', async () => {
    out.clear()
    host = await open()
    const agent = await host.start('s', { provider: 'c', model: 'elsewhere' })
    await ask(agent)
    await host.command(agent, '/quota-pool medium')
    await ask(agent, 'more')
    await ask(agent, 'and more')
    expect(host.adapter.routes).toEqual(['c/elsewhere', 'a/m', 'a/m'])
  })

  it('chooses past a marked route', async () => {
    host = await open()
    await ask(await host.start('one'))
    const agent = await host.start('s', { provider: 'c', model: 'elsewhere' })
    expect(host.ctx.llmQuotaRetry.setPool(agent.session, 'medium')).toBe(true)
    await ask(agent)
    expect(host.adapter.routes.at(-1)).toBe('b/n')
  })

  it('is refused by the service and the command for a pool that does not exist', async () => {
    host = await open()
    const agent = await host.start()
    expect(host.ctx.llmQuotaRetry.setPool(agent.session, 'large')).toBe(false)
    const { result } = await host.command(agent, '/quota-pool large')
    expect(result).toMatchObject({ kind: 'error', text: 'There is no pool "large". Pools: medium.' })
    expect(facts(agent).poolSource).toBe('default')
  })

  it('is taken over by a child from its nearest ancestor, which then starts on a route that answers', async () => {
    host = await open()
    const parent = await host.start('parent')
    await host.command(parent, '/quota-pool medium')
    await ask(parent)
    const child = await host.start('child', A, { parentSession: 'parent', origin: 'subagent', delegationDepth: 1 })
    await ask(child)
    expect(facts(child)).toMatchObject({ pool: 'medium', poolSource: 'inherited' })
    expect(host.adapter.routes).toEqual(['a/m', 'b/n', 'b/n'])
  })

  it('opts out through the service with null', async () => {
    host = await open()
    const agent = await host.start()
    host.ctx.llmQuotaRetry.setPool(agent.session, null)
    expect(facts(agent)).toMatchObject({ pool: null, poolSource: 'off' })
    expect(host.ctx.llmQuotaRetry.poolOf(agent.session)).toBeUndefined()
    host.ctx.llmQuotaRetry.clearPool(agent.session)
    expect(facts(agent)).toMatchObject({ poolSource: 'default' })
  })
})

describe('beforeNativeRetries', () => {
  const policies: any = { a: { mode: 'normal', maxRetries: 5, retryableCodes: ['RATE_LIMIT'], backoff: { initialDelayMs: 1_000, maxDelayMs: 60_000, jitterRatio: 0 } } }
  const planSpent = (request: { provider: string }) => request.provider === 'a' ? new LlmError('429: {"message":"已达到 Token Plan 用量上限","code":"2067"}', 'RATE_LIMIT', { status: 429 }) : say('hi')

  it('lets a failure that certainly is a spent allowance act at once', async () => {
    host = await rig({ script: planSpent, providers: PROVIDERS, policies, config: { pools, beforeNativeRetries: true } })
    const agent = await host.start()
    await ask(agent)
    expect(host.adapter.routes).toEqual(['a/m', 'b/n'])
  })

  it('is off by default: the harness spends its own retries first', async () => {
    host = await rig({ script: planSpent, providers: PROVIDERS, policies, config: { pools } })
    const agent = await host.start()
    agent.followup(user('work'))
    await pass(60_000)
    await agent.whenIdle()
    expect(host.adapter.routes).toEqual([...Array.from({ length: 6 }, () => 'a/m'), 'b/n'])
  })

  it('leaves what is not certain to the native retries', async () => {
    host = await rig({ script: () => new LlmError('Too Many Requests', 'RATE_LIMIT', { status: 429 }), providers: PROVIDERS, policies, config: { pools, beforeNativeRetries: true, transient: { enabled: false } } })
    const agent = await host.start()
    agent.followup(user('work'))
    await pass(120_000)
    await agent.whenIdle()
    expect(retries(agent).map(retry => retry.policyKey.includes('quota'))).toEqual([false, false, false, false, false])
  })
})

describe('an unload', () => {
  it('does not wait for the backoff of the harness, whose business the failure is by then', async () => {
    const policies: any = { a: { mode: 'normal', maxRetries: 5, retryableCodes: ['RATE_LIMIT'], backoff: { initialDelayMs: 15_000, maxDelayMs: 60_000, jitterRatio: 0 } } }
    host = await rig({ script: (_request, index) => index === 0 ? new LlmError('Too Many Requests', 'RATE_LIMIT', { status: 429 }) : say('hi'), providers: PROVIDERS, policies, config: { pools, beforeNativeRetries: true } })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 1, 'the backoff')
    await host.plugin.dispose()
    expect(outcomes(agent)).toEqual([])
    await pass(15_000)
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['completed'])
  })
})

describe('a storm', () => {
  it('of a hundred sessions moves each once and marks the provider once', async () => {
    host = await open()
    const agents: any[] = []
    for (let index = 0; index < 100; index += 1) agents.push(await host.start(`s${index}`))
    for (const agent of agents) agent.followup(user('work'))
    // Whoever moves takes their turn on the target: never more than five in a second.
    await pass(30_000)
    await Promise.all(agents.map(agent => agent.whenIdle()))
    expect(agents.flatMap(outcomes)).toEqual(Array.from({ length: 100 }, () => 'completed'))
    const times = host.adapter.times.filter((_time: number, index: number) => host.adapter.routes[index] === 'b/n')
    for (const time of times) expect(times.filter((other: number) => other >= time && other < time + 1_000).length).toBeLessThanOrEqual(5)
    expect(agents.map(agent => retries(agent).length).every(count => count <= 1)).toBe(true)
    expect(host.announced.filter(({ name }) => name === 'failover').length).toBe(agents.filter(agent => retries(agent).length === 1).length)
    expect(host.adapter.routes.filter(route => route === 'b/n')).toHaveLength(100)
  })
})

describe('a session of which every route is out', () => {
  it('says which pool that is, and which route is asked first', async () => {
    host = await rig({
      script: request => request.provider === 'a' ? spent(`Usage limit reached. Resets at ${new Date(Date.now() + 600_000).toISOString()}`) : spent(),
      config: { pools: three }, providers: PROVIDERS,
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 3, 'two moves and a wait')
    expect(facts(agent).wait).toMatchObject({ provider: 'c', pool: 'medium' })
    const { result } = await host.command(agent, '/quota-retry status')
    expect(result.text).toContain('Every route of pool medium is out of allowance')
    const said = host.warnings.find(line => line.includes('waits:'))
    expect(said).toMatch(/every route of pool medium is out of allowance, c\/o as the last \(.*\); next check .*, on a\/m/)
  })
})

describe('a person who asks now', () => {
  const waiting = async (): Promise<any> => {
    out = new Set(['a', 'b', 'c'])
    host = await open({ pools: three })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => retries(agent).length === 3, 'two moves and a wait')
    return agent
  }

  it.each<[string, (agent: any) => unknown]>([
    ['by the command', agent => host.command(agent, '/quota-retry now')],
    ['by the service', agent => host.ctx.llmQuotaRetry.retryNow(agent.session)],
    ['by a message', (agent) => { agent.followup(user('go on')) }],
  ])('%s has every route of the pool asked in order, each once, marked or not, and then waits again', async (_how, ask) => {
    const agent = await waiting()
    await pass(60_000)
    await ask(agent)
    await pass(1_000)
    await until(() => host.adapter.routes.length === 6, 'three more requests')
    await settle()
    expect(host.adapter.routes.slice(3)).toEqual(['a/m', 'b/n', 'c/o'])
    expect(facts(agent).wait).toMatchObject({ pending: true })
    await pass(60_000)
    expect(host.adapter.routes).toHaveLength(6)
  })

  it('is answered by the one that was topped up, whichever it is', async () => {
    const agent = await waiting()
    out = new Set(['a', 'c'])
    await pass(60_000)
    await host.command(agent, '/quota-retry now')
    await agent.whenIdle()
    expect([host.adapter.routes.slice(3), outcomes(agent)]).toEqual([['a/m', 'b/n'], ['completed']])
    await settle()
    expect(host.announced.filter(({ name }) => name === 'failover').map(({ payload }) => payload.to.provider)).toEqual(['b', 'c', 'b'])
  })

  it('by a message after they stopped the wait is answered by it, too', async () => {
    const agent = await waiting()
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    out = new Set(['b', 'c'])
    await ask(agent, 'again')
    expect([host.adapter.routes.slice(3), outcomes(agent)]).toEqual([['c/o', 'a/m'], ['aborted', 'completed']])
  })
})
