/** The plugin is unloaded and loaded again under a running host, in the middle of everything. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startWeb } from '../../demo/support/dsh.ts'
import { defaultRowId, makeHome } from '../../demo/support/home.ts'
import { type RecordedRequest, refusals, startProvider } from '../../demo/support/provider.ts'
import { connectWeb } from '../../demo/support/web-api.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { eventsOf, fakeTime, LlmError, pass, passUntil, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
const CONFIG = { resumeDelaySeconds: 0 }
let host: Rig | undefined

beforeEach(() => { fakeTime() })
afterEach(async () => {
  await host?.dispose()
  host = undefined
  vi.useRealTimers()
})

const continuations = (agent: any): any[] => eventsOf(agent, 'user/message').filter(event => event.data.source?.kind === 'plugin')
const outcomes = (agent: any): string[] => eventsOf(agent, 'turn/end').map(event => event.data.reason.kind)

async function waiting(found: Rig, id = 's1'): Promise<any> {
  const agent = await found.start(id)
  agent.followup(user('work'))
  await until(() => eventsOf(agent, 'llm/retry').length > 0, 'the wait')
  return agent
}

describe('a reload in a wait', () => {
  it.each([true, false])('takes the run up again at the time it had, without a restart (storage: %s)', async (storage) => {
    let flowing = false
    host = await rig({ script: () => flowing ? say('done') : spent(), config: CONFIG, storage })
    const agent = await waiting(host)
    const planned = eventsOf(agent, 'llm/retry')[0]
    await pass(10 * MINUTE)
    await host.plugin.dispose()
    await host.load()
    flowing = true
    await pass(30 * MINUTE)
    expect(continuations(agent)).toHaveLength(0)
    await passUntil(() => continuations(agent).length > 0, 'the continuation', MINUTE)
    await agent.whenIdle()
    expect(continuations(agent)[0].time).toBeGreaterThanOrEqual(planned.time + planned.data.delayMs)
    expect(outcomes(agent)).toEqual(['error', 'completed'])
    await pass(3 * HOUR)
    expect(continuations(agent)).toHaveLength(1)
    expect(host.adapter.requests).toHaveLength(2)
    expect(host.warnings.join('\n')).not.toMatch(/failed|could not|cannot/)
  })

  it('with a configuration that gained a pool goes on in seconds, on the route that answers', async () => {
    host = await rig({ script: request => request.provider === 'a' ? spent() : say('hi'), config: { ...CONFIG, longTermDelayMs: 10 * HOUR } })
    const agent = await waiting(host)
    await host.plugin.dispose()
    await host.load({ ...CONFIG, longTermDelayMs: 10 * HOUR, pools: { p: { routes: [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' }] } } })
    await passUntil(() => host!.adapter.routes.length > 1, 'the attempt', 1_000)
    await agent.whenIdle()
    // The mark of the refusal was kept, so the next request moves on before it is sent.
    expect([host.adapter.routes, outcomes(agent)]).toEqual([['a/m', 'b/n'], ['error', 'completed']])
    expect(continuations(agent)).toHaveLength(1)
  })

  it('takes it up where the plugin is back before the turn has ended', async () => {
    let flowing = false
    host = await rig({ script: () => flowing ? say('done') : spent(), config: CONFIG })
    const agent = await waiting(host)
    const [disposed, loaded] = [host.plugin.dispose(), host.load()]
    await Promise.all([disposed, loaded])
    flowing = true
    await passUntil(() => continuations(agent).length > 0, 'the continuation')
    await agent.whenIdle()
    expect(outcomes(agent)).toEqual(['error', 'completed'])
  })

  it('continues each of many sessions once for each of many reloads, and asks for all with one', async () => {
    let flowing = false
    host = await rig({ script: () => flowing ? say('done') : spent(), config: CONFIG })
    const agents = await Promise.all(['s1', 's2', 's3', 's4', 's5'].map(id => waiting(host!, id)))
    let fiber = host.plugin
    for (let round = 1; round <= 3; round += 1) {
      await fiber.dispose()
      fiber = await host.load()
      const before = host.adapter.requests.length
      await passUntil(() => agents.some(agent => continuations(agent).length === round || continuations(agent).length > 0), 'a continuation')
      await settle(50)
      // Those who were told to wait on by the one that asked are asleep still, and were cut off once only.
      expect(host.adapter.requests.length - before).toBeLessThanOrEqual(2)
    }
    flowing = true
    await passUntil(() => agents.every(agent => outcomes(agent).at(-1) === 'completed'), 'every answer')
    for (const agent of agents) {
      const cuts = outcomes(agent).filter(kind => kind === 'error').length
      expect(continuations(agent).length).toBeLessThanOrEqual(cuts)
      expect(eventsOf(agent, 'user/message').filter(event => event.data.source?.kind === 'user')).toHaveLength(1)
    }
  })

  it('leaves a run alone that the person stopped, or switched off, while the plugin was away', async () => {
    host = await rig({ script: () => spent(), config: CONFIG })
    const [stopped, off] = [await waiting(host, 's1'), await waiting(host, 's2')]
    stopped.cancel({ kind: 'user' })
    await host.command(off, '/quota-retry off')
    await host.plugin.dispose()
    await host.load()
    await pass(3 * HOUR)
    expect([...continuations(stopped), ...continuations(off)]).toEqual([])
  })
})

describe('a reload while a request is on its way', () => {
  it('leaves its refusal to whoever is loaded then', async () => {
    let refuse = (): void => {}
    const hanging = new Promise<void>((resolve) => { refuse = resolve })
    host = await rig({
      config: CONFIG,
      script: async function* (_request: unknown, index: number): AsyncGenerator<any> {
        if (index === 0) await hanging
        if (index < 2) throw spent()
        yield* say('done')
      } as never,
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => host!.adapter.requests.length === 1, 'the request')
    await host.plugin.dispose()
    await host.load()
    refuse()
    await until(() => eventsOf(agent, 'llm/retry').length === 1, 'the wait')
    await passUntil(() => outcomes(agent).length > 0, 'the answer')
    expect(outcomes(agent)).toEqual(['completed'])
    expect(continuations(agent)).toEqual([])
  })
})

describe('after an unload', () => {
  it('nothing is left: no timer, no wait, no listener, no command', async () => {
    const clock = new FakeClock()
    host = await rig({ script: () => spent(), clock, config: CONFIG })
    const agents = await Promise.all(['s1', 's2'].map(id => waiting(host!, id)))
    expect(clock.pending).toBeGreaterThan(0)
    await host.plugin.dispose()
    await Promise.all(agents.map(agent => agent.whenIdle()))
    expect(clock.pending).toBe(0)
    clock.pass(10 * HOUR)
    const other = await host.start('s3')
    other.followup(user('work'))
    await other.whenIdle()
    expect(outcomes(other)).toEqual(['error'])
    expect([eventsOf(other, 'llm/retry'), host.adapter.requests.length, host.ctx.get('llmQuotaRetry')]).toEqual([[], 3, undefined])
    expect(host.ctx.commands.list?.(other).map((command: any) => command.name) ?? []).not.toContain('quota-retry')
  })

  it('no child process is left, whatever it does about being told to end', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'reload-'))
    const script = join(dir, 'stubborn.mjs')
    await writeFile(script, `import { writeFileSync } from 'node:fs'; process.on('SIGTERM', () => {}); writeFileSync(process.argv[2], String(process.pid)); setInterval(() => {}, 1000)`)
    vi.useRealTimers()
    host = await rig({
      script: () => spent(), subprocess: true,
      config: { ...CONFIG, pools: { p: { routes: [{ provider: 'a', model: 'm' }] } }, balances: [{ provider: 'a', script: [process.execPath, script, join(dir, 'pid')], timeoutMs: 60_000 }] },
    })
    await waiting(host)
    const pid = (): number => { try { return Number(readFileSync(join(dir, 'pid'), 'utf8')) } catch { return 0 } }
    await until(() => pid() > 0, 'the script')
    await host.plugin.dispose()
    expect(() => process.kill(pid(), 0)).toThrow('ESRCH')
    await rm(dir, { recursive: true })
  })

  it('and a load, others still recover first', async () => {
    let asked = 0
    host = await rig({
      config: CONFIG, script: (_request, index) => index === 0 ? new LlmError('Insufficient Balance', 'QUOTA', { status: 402 }) : say('done'),
      after: async (ctx) => { (ctx as any).on('agent/request-error', () => { asked += 1; return Promise.resolve({ kind: 'retry' }) }) },
    })
    await host.plugin.dispose()
    await host.load()
    const agent = await host.start()
    agent.followup(user('work'))
    await agent.whenIdle()
    expect([asked, eventsOf(agent, 'llm/retry').length, outcomes(agent)]).toEqual([1, 0, ['completed']])
  })
})

describe('the real web host', () => {
  it('that applies the row anew, as when its configuration is edited, loses no wait', async () => {
    vi.useRealTimers()
    await using stack = new AsyncDisposableStack()
    const goesOn = ({ body }: RecordedRequest): boolean => JSON.stringify(body.messages).includes('Please go on.')
    const provider = await startProvider({ name: 'a', answer: request => goesOn(request) ? { kind: 'answer', text: 'back again' } : refusals.insufficientBalance })
    stack.defer(() => provider.close())
    const config = { resumeDelaySeconds: 0, longTermDelayMs: 4_000, continuation: 'Please go on.' }
    const home = await makeHome({
      profile: 'web', providers: { a: { url: provider.url, models: ['m'] } }, defaultModel: { provider: 'a', model: 'm' },
      plugin: { spec: fileURLToPath(new URL('../..', import.meta.url)), config },
    })
    stack.defer(() => home.dispose())
    const web = await startWeb(home)
    stack.defer(() => web.stop())
    const api = await connectWeb(web.url)
    stack.defer(() => { api.close() })
    const session = await api.createSession()
    await api.prompt(session, 'work')
    await api.event(session, event => event.type === 'llm/retry')
    await home.reconfigure([{ id: defaultRowId, config: { ...config, longTermDelayMs: 5_000 } }],
      async () => (await api.events(session)).some(event => event.type === 'turn/end'))
    await api.event(session, event => event.type === 'turn/end' && event.data.reason.kind === 'completed')
    const events = await api.events(session)
    const said = events.filter(event => event.type === 'user/message' && event.data.source.kind === 'plugin' && event.data.source.plugin === defaultRowId)
    expect(said).toHaveLength(1)
    expect(provider.agentRequests().filter(goesOn)).toHaveLength(1)
    expect(web.process.exitCode).toBeNull()
  })
})
