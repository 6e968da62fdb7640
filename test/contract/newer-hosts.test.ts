/** The plugin on hosts of newer shapes, in the real loop of the pinned one. */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isSourceOf, sourceOf } from '../../src/events/source.ts'
import { readStoredLog, storedSessions } from '../../src/host/stored.ts'
import { inheritedEvents } from '../../src/host/harness.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { log } from '../support/build.ts'
import { eventsOf, fakeTime, pass, passUntil, type Rig, rig, say, spent, until, user } from '../support/rig.ts'
import { assertV4MessageSource, SessionController012, sessionPersistence012, sessionPersistenceUnknown, streamFrames } from './releases.ts'

const HOUR = 3_600_000
const OURS = 'llm-quota-retry'
const pools = { medium: { routes: [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' }] } }
let root: string
const hosts: Rig[] = []

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quota-contract-'))
  fakeTime()
})
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.dispose()
  vi.useRealTimers()
  await rm(root, { recursive: true, force: true })
})

async function open(options: Parameters<typeof rig>[0]): Promise<Rig> {
  const host = await rig({ root, ...options })
  hosts.push(host)
  return host
}

const journal = (): string => join(root, 'storages', 'llm_quota_retry.json')
const waits = (agent: any): any[] => eventsOf(agent, 'llm/retry')
const completed = (agent: any): number => eventsOf(agent, 'turn/end').filter(({ data }) => data.reason.kind === 'completed').length
const continuations = (agent: any): any[] => eventsOf(agent, 'user/message').filter(({ data }) => isSourceOf(data.source, OURS))

/** A host ends while a session waits; the next one has other services. */
async function restarted(sees: NonNullable<Parameters<typeof rig>[0]['sees']>): Promise<Rig> {
  const first = await open({ script: () => spent() })
  const agent = await first.start()
  agent.followup(user('work'))
  await until(() => waits(agent).length === 1, 'the wait')
  await first.ctx.sessions.flush(agent.session)
  await until(() => existsSync(journal()) && readFileSync(journal(), 'utf8').includes('"s1"'), 'the index')
  await hosts.pop()!.dispose()
  return open({ script: () => say('back'), config: { resumeDelaySeconds: 0 }, sees })
}

const live = (host: Rig): any => host.ctx.agents.get('s1')

describe('stored sessions as 0.1.2 lists them', () => {
  it('go on after a restart', async () => {
    const host = await restarted(ctx => ({ sessionPersistence: sessionPersistence012(ctx.sessionPersistence), sessionController: new SessionController012(ctx) }))
    await passUntil(() => live(host) !== undefined && completed(live(host)) === 1, 'the answer')
    expect(continuations(live(host))).toHaveLength(1)
    expect(host.warnings.join('\n')).toContain('1 of 1 sessions that waited')
  })

  it('are absent only when every entry of the list is understood', async () => {
    const host = await restarted(() => ({}))
    const real = host.ctx.sessionPersistence
    const seen = (service: unknown): any => ({ get: () => service })
    for (const [service, of, other] of [
      [real, 'stored', 'absent'],
      [sessionPersistence012(real), 'stored', 'absent'],
      [sessionPersistenceUnknown(real), undefined, undefined],
      [{ list: async () => [...await sessionPersistence012(real).list(), { key: 's9' }], open: sessionPersistence012(real).open }, 'stored', undefined],
      [{ list: async () => [{ id: 's1' }] }, undefined, 'absent'],
      [{ list: async () => ({ sessions: [] }) }, undefined, undefined],
      [{ load: real.readFrom }, undefined, undefined],
    ] as const) {
      const ctx = seen(service)
      const known = await storedSessions(ctx)
      const found = await readStoredLog(ctx, 's1', known)
      expect([typeof found === 'object' ? 'stored' : found, await readStoredLog(ctx, 's2', known)]).toEqual([of, other])
    }
  })

  it('are kept where the list says nothing that is known here, and that is said once', async () => {
    const host = await restarted(ctx => ({ sessionPersistence: sessionPersistenceUnknown(ctx.sessionPersistence) }))
    const said = (): number => host.warnings.filter(line => line.includes('could not be read')).length
    await passUntil(() => said() > 0, 'the look', 1_000)
    for (let hour = 0; hour < 5; hour += 1) await pass(HOUR)
    expect(said()).toBe(1)
    await hosts.pop()!.dispose()
    const again = await open({ script: () => say('back'), config: { resumeDelaySeconds: 0 } })
    await passUntil(() => live(again) !== undefined && completed(live(again)) === 1, 'the answer, under a host that is known')
  })
})

describe('a session that the controller of 0.1.2 does not open', () => {
  it('is tried again at growing gaps, until it does', async () => {
    const refusals = Array.from({ length: 5 }, (_none, index) => ({ code: index % 2 === 0 ? 'session/writer-held' : 'session/agent-busy', message: 'not now' }))
    let controller: SessionController012 | undefined
    const host = await restarted((ctx) => {
      controller ??= new SessionController012(ctx, refusals)
      return { sessionController: controller }
    })
    await passUntil(() => live(host) !== undefined && completed(live(host)) === 1, 'the answer')
    const gaps = controller!.calls.slice(1).map((at, index) => at - controller!.calls[index]!)
    expect(gaps).toHaveLength(5)
    for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(60_000 * 2 ** index)
    expect(continuations(live(host))).toHaveLength(1)
    expect(host.warnings.filter(line => line.includes('session/writer-held: not now'))).toHaveLength(1)
  })
})

describe('the source of a continuation', () => {
  it.each([[undefined, 'plugin'], [0, 'plugin'], [3, 'plugin'], [4, `plugin:${OURS}`], [5, `plugin:${OURS}`]])('follows the format of the log: %s', (version, kind) => {
    const source = sourceOf(OURS, version)
    expect(source.kind).toBe(kind)
    expect(isSourceOf(source, OURS)).toBe(true)
    if (Number(version) >= 4) assertV4MessageSource({ source })
    else expect(() => { assertV4MessageSource({ source }) }).toThrow('producer-owned')
  })

  it('is that of its log when a session is continued', async () => {
    let version = 0
    const host = await restarted((ctx) => {
      const controller = new SessionController012(ctx)
      return { sessionController: { resolveAgent: async (id: string) => {
        const { agent } = await controller.resolveAgent(id) as any
        version = agent.session.header.version
        Object.defineProperty(agent.session, 'header', { value: { ...agent.session.header, version: 4 } })
        return { agent }
      } } }
    })
    await passUntil(() => live(host) !== undefined && continuations(live(host)).length === 1, 'the continuation')
    expect([version, continuations(live(host))[0].data.source]).toEqual([0, { kind: `plugin:${OURS}` }])
    await live(host).whenIdle()
    // A log of format 0 that says so would be refused, as it should be.
    await expect(hosts.pop()!.dispose()).rejects.toThrow('message source')
  })
})

describe('a pick that 0.1.2 logs', () => {
  it('is taken in the wait, and what we showed in the picker ourselves is none', async () => {
    const host = await open({
      script: ({ provider }) => provider === 'c' ? say('hi') : spent(), providers: ['a', 'b', 'c'], config: { pools, longTermDelayMs: 10 * HOUR },
      sees: ctx => ({ sessionController: new SessionController012(ctx) }), loadsLater: false,
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await passUntil(() => waits(agent).some(({ data }) => data.delayMs > 60_000), 'the wait', 1_000)
    const shown = eventsOf(agent, 'model/selection')
    expect(shown.map(({ data }) => data)).toContainEqual({ provider: 'b', model: 'n' })
    expect(foldSession(agent.session.events).picks.picked).toBeNull()
    const asked = host.adapter.requests.length
    await pass(60_000)
    expect([host.adapter.requests.length, eventsOf(agent, 'turn/end')]).toEqual([asked, []])
    agent.session.append('model/selection', { provider: 'c', model: 'k' })
    await pass(15_000)
    await agent.whenIdle()
    expect([host.adapter.routes.at(-1), completed(agent)]).toEqual(['c/k', 1])
  })
})

describe('a setting as 0.1.7 tells of it', () => {
  it('is a look at what is picked', async () => {
    let shown = { provider: 'a', model: 'm' }
    const host = await open({
      script: ({ provider }) => provider === 'b' ? say('hi') : spent(), config: { longTermDelayMs: HOUR },
      sees: () => ({ apiProxy: { sessions: { models: async () => ({ result: { value: { current: shown } } }) } } }),
    })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => waits(agent).length === 1, 'the wait')
    shown = { provider: 'b', model: 'n' }
    host.ctx.emit('settings/document-updated', 'agent-default-model', 3)
    await pass(15_000)
    await agent.whenIdle()
    expect([host.adapter.routes, completed(agent)]).toEqual([['a/m', 'b/n'], 1])
  })
})

describe('a stream that 0.1.3 keeps out of the log', () => {
  it('tells those who wait that the one who asks is being answered', async () => {
    let finish = (): void => {}
    let open_ = false
    async function * unsaid() {
      // As such a host: its log says nothing before the answer is whole.
      await new Promise<void>((resolve) => { finish = resolve })
      yield * say('a long answer')
    }
    let asks = 0
    const host = await open({ script: () => !open_ ? spent() : asks++ === 0 ? unsaid() : say('hi') })
    const agents: any[] = []
    for (const id of ['s1', 's2', 's3']) {
      const agent = await host.start(id)
      agent.followup(user('work'))
      await until(() => waits(agent).length === 1, 'the wait')
      agents.push(agent)
    }
    open_ = true
    const before = host.adapter.requests.length
    await passUntil(() => host.adapter.requests.length > before, 'the one who asks')
    await pass(30_000)
    expect(host.adapter.requests.length).toBe(before + 1)
    const prober = agents.find(agent => eventsOf(agent, 'llm/retry-started').length === 1)
    const [start, word, piece] = streamFrames(prober, ['Sorry', 'a'.repeat(2_000)])
    // The first words may be those of a refusal.
    for (const frame of [start, word]) host.ctx.emit('agent/assistant-stream', frame)
    await pass(30_000)
    expect(host.adapter.requests.length).toBe(before + 1)
    host.ctx.emit('agent/assistant-stream', piece)
    await pass(30_000)
    expect(host.adapter.requests.length).toBe(before + 3)
    finish()
    for (const agent of agents) await agent.whenIdle()
    expect(agents.map(completed)).toEqual([1, 1, 1])
  })
})

describe('a fork as 0.1.3 makes it', () => {
  it('begins where the log says, and takes over no wait', () => {
    const parent = log().turn().step().asks().refused().waits(HOUR)
    const fork = parent.endTurn('forked').forks(true)
    const { entries, lineage } = foldSession([{ type: 'session', version: 4, id: 'f', createdAt: 0, parentSession: 'p', isSeeded: true }, ...fork.rows])
    expect([entries.open, lineage.started]).toEqual([null, false])
  })

  it('says how many of its events are its parent\'s', () => {
    expect(inheritedEvents({ header: { seedLength: 7 } } as never)).toBe(7)
    expect(inheritedEvents({ header: { isSeeded: true }, inheritedEventCount: 9 } as never)).toBe(9)
    expect(inheritedEvents({ header: { isSeeded: false }, inheritedEventCount: 0 } as never)).toBe(0)
    expect(inheritedEvents({ header: {} } as never)).toBe(0)
  })
})

describe('an agent as 0.1.6 creates it', () => {
  it('is not kept from being created by a fault of ours', async () => {
    const host = await open({ script: () => say('hi') })
    const broken = { get session(): never { throw new Error('ours') } }
    // Serial and awaited: the first that returns something, or throws, ends it.
    expect(await host.ctx.serial('agent/created', { agent: broken, source: 'create' })).toBeUndefined()
    expect(host.warnings.join('\n')).toContain('passed over: Error: ours')
  })
})
