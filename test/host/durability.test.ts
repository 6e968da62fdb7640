import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { replay } from '../../src/replay.ts'
import { eventsOf, fakeTime, pass, passUntil, type Rig, rig, say, SessionId, settle, spent, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
let root: string
const hosts: Rig[] = []

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quota-rig-'))
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

const journalFile = (): string => join(root, 'storages', 'llm_quota_retry.json')
const stored = (): string => existsSync(journalFile()) ? readFileSync(journalFile(), 'utf8') : ''
const waiting = (agent: any, count = 1): Promise<void> => until(() => eventsOf(agent, 'llm/retry').length === count, `wait ${count}`)

describe('a log that holds our records', () => {
  it('loads again after the plugin was removed, and the session goes on', async () => {
    const first = await open({ script: (_request, index) => index < 1 ? spent() : say('done') })
    const agent = await first.start()
    await first.command(agent, '/quota-retry on')
    agent.followup(user('work'))
    await waiting(agent)
    await pass(HOUR)
    await agent.whenIdle()
    await first.ctx.sessions.flush(agent.session)
    await hosts.pop()!.dispose()
    const bare = await open({ script: () => say('hello again'), plugin: false })
    const resumed = await bare.ctx.agents.resume({ resumeSessionId: SessionId('s1'), agentOptions: { provider: 'a', model: 'm' } })
    resumed.agent.followup(user('and now?'))
    await resumed.agent.whenIdle()
    expect(eventsOf(resumed.agent, 'turn/end').map(event => event.data.reason.kind)).toEqual(['completed', 'completed'])
  })

  it('gives the setting and the open entry back after a restart, with or without storage', async () => {
    const first = await open({ script: () => spent() })
    const agent = await first.start()
    agent.followup(user('work'))
    await waiting(agent)
    await first.command(agent, '/quota-retry on')
    await first.ctx.sessions.flush(agent.session)
    const enteredAt = first.ctx.llmQuotaRetry.stateOf(agent.session).enteredAt
    await hosts.pop()!.dispose()
    const second = await open({ script: () => say('back'), storage: false })
    const { agent: again } = await second.ctx.agents.resume({ resumeSessionId: SessionId('s1'), agentOptions: { provider: 'a', model: 'm' } })
    expect(second.ctx.llmQuotaRetry.facts(again.session)).toMatchObject({ enabled: true, source: 'session', wait: { pending: false, attempts: 1 } })
    expect(second.ctx.llmQuotaRetry.stateOf(again.session)).toMatchObject({ enteredAt, pending: false })
    again.followup(user('go on'))
    await again.whenIdle()
    await settle()
    expect(second.announced.map(({ name, payload }) => `${name} ${payload.reason}`)).toEqual(['left recovered'])
  })

  it('is looked for among all stored sessions once, however many waited', async () => {
    const first = await open({ script: () => spent() })
    for (const id of ['s1', 's2', 's3', 's4', 's5']) {
      const agent = await first.start(id)
      agent.followup(user('work'))
      await waiting(agent)
      await first.ctx.sessions.flush(agent.session)
    }
    await until(() => ['s1', 's2', 's3', 's4', 's5'].every(id => stored().includes(`"${id}"`)), 'the index')
    await hosts.pop()!.dispose()
    let listed = 0
    const second = await open({
      script: () => spent(), config: { resumeDelaySeconds: 0 },
      before: async (ctx: any) => {
        const list = ctx.sessionPersistence.list.bind(ctx.sessionPersistence)
        vi.spyOn(ctx.sessionPersistence, 'list').mockImplementation((...given: unknown[]) => { listed += 1; return list(...given) })
      },
    })
    await passUntil(() => second.warnings.some(line => line.includes('5 of 5 sessions')), 'the look', 1_000)
    expect(listed).toBe(1)
  })

  it('tells a replay what the live plugin saw', async () => {
    const host = await open({ script: (_request, index) => index < 2 ? spent() : say('done') })
    const agent = await host.start()
    agent.followup(user('work'))
    await waiting(agent)
    await pass(HOUR)
    await waiting(agent, 2)
    await pass(HOUR)
    await agent.whenIdle()
    await settle()
    const history = replay([agent.session.header, ...agent.session.events])
    const left = host.announced.find(({ name }) => name === 'left')!.payload
    expect(history.entries).toHaveLength(1)
    expect(history.entries[0]).toMatchObject({ enteredAt: left.enteredAt, leftAt: left.leftAt, attempts: left.attempts, reason: 'recovered' })
    expect(history).toMatchObject({ failures: 2, answers: 1, route: { provider: 'a', model: 'm' } })
  })
})

describe('the journal', () => {
  it('keeps a provider\'s mark across a restart and drops it when the provider answers', async () => {
    let open_ = false
    const script = () => open_ ? say('ok') : spent('Insufficient Balance')
    const first = await open({ script })
    const agent = await first.start()
    agent.followup(user('work'))
    await waiting(agent)
    await until(() => stored().includes('"providerMarked"'), 'the stored mark')
    await hosts.pop()!.dispose()
    open_ = true
    const second = await open({ script })
    const other = await second.start('s2')
    other.followup(user('work'))
    await other.whenIdle()
    await until(() => !stored().includes('"providerMarked"'), 'the mark gone from the file')
  })

  it('that is a corrupt file is left untouched, with one warning, and everything works', async () => {
    await mkdir(join(root, 'storages'), { recursive: true })
    await writeFile(journalFile(), '{"this is": not json')
    const host = await open({ script: (_request, index) => index < 1 ? spent() : say('done') })
    const aboutJournal = (): string[] => host.warnings.filter(line => line.includes('journal'))
    await until(() => aboutJournal().length > 0, 'the warning')
    const agent = await host.start()
    agent.followup(user('work'))
    await waiting(agent)
    const spare = join(root, 'storages', 'llm_quota_retry_spare.json')
    await until(() => existsSync(spare) && readFileSync(spare, 'utf8').includes('sessionWaiting'), 'the journal in its spare place')
    await pass(HOUR)
    await agent.whenIdle()
    expect(eventsOf(agent, 'turn/end')[0].data.reason.kind).toBe('completed')
    expect(aboutJournal()).toEqual([expect.stringContaining('llm_quota_retry')])
    expect(await readFile(journalFile(), 'utf8')).toBe('{"this is": not json')
  })

  it('passes over records of a later version and keeps them', async () => {
    const first = await open({ script: () => spent() })
    const agent = await first.start()
    agent.followup(user('work'))
    await waiting(agent)
    await until(() => stored().includes('"sessionWaiting"'), 'the stored index')
    await hosts.pop()!.dispose()
    const text = JSON.stringify(JSON.parse(stored())).replace('"waiting":{"records":[', '"waiting":{"records":[{"type":"somethingNewer","deep":{"x":1}},')
    await writeFile(journalFile(), text)
    const second = await open({ script: () => spent() })
    const other = await second.start('s2')
    other.followup(user('work'))
    await waiting(other)
    await until(() => stored().includes('"s2"'), 'a later write')
    expect(second.warnings.filter(line => line.includes('journal'))).toHaveLength(0)
    expect(stored()).toContain('somethingNewer')
  })

  it('writes a burst of a thousand sessions in a handful of puts', async () => {
    // A thousand logs that are all alike.
    const host = await open({ script: () => spent(), loadsLater: false })
    await settle(200)
    let puts = 0
    host.ctx.on('domain/changed', (change: any) => { if (JSON.stringify(change).includes('llm_quota_retry')) puts += 1 })
    const agents: any[] = []
    for (let index = 0; index < 1_000; index += 1) agents.push(await host.start(`s${index}`))
    await settle(50)
    puts = 0
    for (const agent of agents) agent.followup(user('work'))
    await until(() => agents.every(agent => eventsOf(agent, 'llm/retry').length === 1), 'a thousand waits')
    await until(() => puts > 0, 'a write')
    await settle(500)
    expect(puts).toBeGreaterThan(0)
    expect(puts).toBeLessThan(100)
    for (const agent of agents) agent.cancel({ kind: 'user' })
    await Promise.all(agents.map(agent => agent.whenIdle()))
  })
})

describe('bad configuration', () => {
  it('stops the activation and names key, value and what is allowed', async () => {
    await expect(rig({ root, script: () => spent(), config: { longTermDelayMs: 0, colour: 'red' } as never }))
      .rejects.toThrow(/longTermDelayMs.*got 0|colour/s)
  })
})
