/** The pinned web host as a process, two loopback providers, and the plugin linked into it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startWeb, type WebHost } from '../../demo/support/dsh.ts'
import { defaultRowId, type Home, makeHome } from '../../demo/support/home.ts'
import { type Provider, type RecordedRequest, refusals, startProvider } from '../../demo/support/provider.ts'
import { readLog } from '../../demo/support/session-log.ts'
import { connectWeb, type SessionEvent, type WebApi } from '../../demo/support/web-api.ts'
import { replay } from '../../src/replay.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'n' }
const pools = { medium: { routes: [A, B] } }
const refused = refusals.insufficientBalance
const reply = (text: string) => ({ kind: 'answer', text }) as const

let a: Provider
let b: Provider
let home: Home
let host: WebHost
let api: WebApi

async function boot(): Promise<void> {
  host = await startWeb(home)
  api = await connectWeb(host.url)
}

async function setUp(): Promise<void> {
  a = await startProvider({ name: 'a', answer: reply('from a') })
  b = await startProvider({ name: 'b', answer: reply('from b') })
  home = await makeHome({
    profile: 'web',
    providers: { a: { url: a.url, models: ['m', 'elsewhere'] }, b: { url: b.url, models: ['n'] } },
    defaultModel: A,
    plugin: { spec: root, config: { pools } },
  })
  await boot()
}

async function tearDown(): Promise<void> {
  api.close()
  await host.stop()
  await Promise.all([home.dispose(), a.close(), b.close()])
}

/** How often each provider was asked by an agent so far. */
const asked = (): { a: number; b: number } => ({ a: a.agentRequests().length, b: b.agentRequests().length })
/** How often each was asked while something ran. */
async function askedWhile(run: () => Promise<unknown>): Promise<{ a: number; b: number }> {
  const before = asked()
  await run()
  const after = asked()
  return { a: after.a - before.a, b: after.b - before.b }
}
const outcome = (end: SessionEvent): string => end.data.reason.kind
/** What the browser's model picker shows: it asks the host for this whenever it mounts or opens. */
const picker = async (session: string): Promise<unknown> => (await api.models(session)).current
/** The deployment's default, as it is stored and as a new session takes it. */
const defaults = async (): Promise<{ stored: string; shown: unknown }> => ({
  stored: readFileSync(join(home.dir, 'settings.yaml'), 'utf8'),
  shown: await picker(await api.createSession()),
})
const projection = async (session: string): Promise<any> => (await api.projections(session)).values['quotaRetry']
const command = async (session: string, line: string): Promise<string | undefined> => (await api.executeCommand(session, line))?.result.text
const sentRoutes = (events: readonly SessionEvent[]): string[] => events.filter(event => event.type === 'request/header')
  .map(({ data: { header: { config } } }) => `${config.provider}/${config.model}`)

/** Let provider a answer once, which ends its mark, and make it the default again. */
async function lift(): Promise<void> {
  a.setAnswer(reply('from a'))
  b.setAnswer(reply('from b'))
  const session = await api.createSession()
  await api.selectModel(session, A)
  await command(session, '/quota-pool off')
  await api.ask(session, 'hello')
}

/** A session whose provider refuses, so that it moves. */
async function moved(): Promise<string> {
  const session = await api.createSession()
  a.setAnswer(refused)
  await api.ask(session, 'hello')
  return session
}

describe('a session on the web host whose provider is out of allowance', () => {
  beforeAll(setUp)
  afterAll(tearDown)
  beforeEach(lift)

  it('is answered by the other route of its pool in the same turn', async () => {
    const session = await api.createSession()
    a.setAnswer(refused)
    let end: SessionEvent | undefined
    expect(await askedWhile(async () => { end = await api.ask(session, 'hello') })).toEqual({ a: 1, b: 1 })
    expect(outcome(end!)).toBe('completed')
    const events = await api.events(session)
    expect(sentRoutes(events)).toEqual(['a/m', 'b/n'])
    expect(JSON.stringify(events.filter(event => event.type === 'assistant/message'))).toContain('from b')
    expect(await projection(session)).toMatchObject({ pool: 'medium', lastMove: { from: A, to: B, pool: 'medium' }, wait: null })
  })

  it('shows the route in use in the picker afterwards, and stays on it', async () => {
    const session = await moved()
    expect(await api.models(session)).toMatchObject({ current: B, routable: true })
    expect(await askedWhile(() => api.ask(session, 'more'))).toEqual({ a: 0, b: 1 })
    expect(await picker(session)).toEqual(B)
  })

  it('leaves the deployment\'s default as it was, and so do a move before sending and /quota-pool', async () => {
    const before = await defaults()
    expect(before.shown).toEqual(A)
    await moved()
    const second = await api.createSession()
    await api.ask(second, 'hello')
    expect(await picker(second)).toEqual(B)
    await command(second, '/quota-pool medium')
    await api.ask(second, 'more')
    expect(await defaults()).toEqual(before)
  })

  it('has told every session of its pool: the next one starts on the other route', async () => {
    await moved()
    const second = await api.createSession()
    expect(await askedWhile(() => api.ask(second, 'hello'))).toEqual({ a: 0, b: 1 })
    expect(sentRoutes(await api.events(second))).toEqual(['b/n'])
    expect((await api.events(second)).filter(event => event.type === 'llm/retry')).toEqual([])
  })

  it('is moved once when two sessions are refused at the same time', async () => {
    const [one, two] = [await api.createSession(), await api.createSession()]
    a.setAnswer(refused)
    const ends = await Promise.all([api.ask(one, 'hello'), api.ask(two, 'hello')])
    expect(ends.map(outcome)).toEqual(['completed', 'completed'])
    expect(await Promise.all([picker(one), picker(two)])).toEqual([B, B])
    for (const session of [one, two]) {
      expect(sentRoutes(await api.events(session)).at(-1)).toBe('b/n')
      expect((await api.events(session)).filter(event => event.type === 'llm/retry').length).toBeLessThanOrEqual(1)
    }
  })

  it('goes where the person picks, also back to a provider that is marked', async () => {
    const session = await moved()
    await api.ask(session, 'more')
    a.setAnswer(reply('from a'))
    await api.selectModel(session, A)
    expect(await askedWhile(() => api.ask(session, 'again'))).toEqual({ a: 1, b: 0 })
    expect(await picker(session)).toEqual(A)
  })

  it('keeps showing the pick where the person made one, and is moved all the same', async () => {
    const session = await api.createSession()
    await api.selectModel(session, A)
    a.setAnswer(refused)
    expect(await askedWhile(() => api.ask(session, 'hello'))).toEqual({ a: 1, b: 1 })
    expect(await askedWhile(() => api.ask(session, 'more'))).toEqual({ a: 0, b: 1 })
    // The pick is private to the pinned host; nobody but the person can change what it shows.
    expect(await picker(session)).toEqual(A)
    expect(sentRoutes(await api.events(session))).toEqual(['a/m', 'b/n'])
    // Once the provider answers anybody again, what the picker shows holds.
    await lift()
    expect(await askedWhile(() => api.ask(session, 'back'))).toEqual({ a: 1, b: 0 })
  })

  it('is answered by the model that the person picks while it waits', async () => {
    const session = await api.createSession()
    await command(session, '/quota-pool off')
    a.setAnswer(refused)
    await api.prompt(session, 'hello')
    await api.event(session, event => event.type === 'llm/retry')
    const answered = await askedWhile(async () => {
      await api.selectModel(session, B)
      await api.event(session, event => event.type === 'turn/end')
    })
    expect(answered).toEqual({ a: 0, b: 1 })
    const events = await api.events(session)
    expect(sentRoutes(events)).toEqual(['a/m', 'b/n'])
    // Not sooner than ten seconds after the refusal, like everything that the person does.
    const [refusal] = events.filter(event => event.type === 'llm/retry')
    expect(events.find(event => event.type === 'llm/retry-started')!.time - refusal!.time).toBeGreaterThanOrEqual(10_000)
    expect(await askedWhile(() => api.ask(session, 'more'))).toEqual({ a: 0, b: 1 })
  })

  it('asks a provider again that was picked away from and back to', async () => {
    const session = await moved()
    await api.selectModel(session, B)
    await api.ask(session, 'more')
    await api.selectModel(session, A)
    expect(await askedWhile(() => api.ask(session, 'again'))).toEqual({ a: 1, b: 1 })
    expect(await askedWhile(() => api.ask(session, 'and again'))).toEqual({ a: 0, b: 1 })
  })

  it('puts itself in a pool by a command and goes there with its next request', async () => {
    const session = await api.createSession()
    await api.selectModel(session, { provider: 'a', model: 'elsewhere' })
    await api.ask(session, 'hello')
    expect(await projection(session)).toMatchObject({ pool: null })
    const stored = readFileSync(join(home.dir, 'settings.yaml'), 'utf8')
    expect(await command(session, '/quota-pool medium')).toContain('in pool medium')
    await api.ask(session, 'more')
    expect(sentRoutes(await api.events(session))).toEqual(['a/elsewhere', 'a/m'])
    expect(await projection(session)).toMatchObject({ pool: 'medium', poolSource: 'session' })
    expect(await command(session, '/quota-pool status')).toContain('Pool medium')
    expect(readFileSync(join(home.dir, 'settings.yaml'), 'utf8')).toBe(stored)
    expect(await api.executeCommand(session, '/quota-pool nowhere')).toMatchObject({ result: { kind: 'error', text: expect.stringContaining('Pools: medium') } })
  })

  it('sees every pool, route and mark in /quota-routes', async () => {
    const session = await moved()
    const text = await command(session, '/quota-routes') ?? ''
    expect(text).toContain('Pool medium; /quota-pool medium would choose b/n')
    expect(text).toMatch(/1\. a\/m: out of allowance; no reading\n +refused .*Insufficient Balance.*; marked until/)
    expect(text).toMatch(/> 2\. b\/n: usable/)
    expect(await command(session, '/quota-routes medium')).toContain('Pool medium; /quota-pool medium would choose b/n')
    expect(await api.executeCommand(session, '/quota-routes nowhere')).toMatchObject({ result: { kind: 'error' } })
    expect((await api.commands(session)).map(({ name }) => name)).toEqual(expect.arrayContaining(['quota-retry', 'quota-pool', 'quota-routes']))
  })

  it('tells every connection of its move and of its settings', async () => {
    const other = await connectWeb(host.url)
    try {
      const session = await moved()
      const follows = (holds: (value: any) => boolean) => other.frame(frame =>
        frame.type === 'session/projection' && frame.sessionId === session && frame['key'] === 'quotaRetry' && holds(frame['value']))
      expect((await follows(value => value.lastMove !== null))['value']).toMatchObject({ lastMove: { from: A, to: B } })
      await command(session, '/quota-pool off')
      expect((await follows(value => value.poolSource === 'off'))['value']).toMatchObject({ pool: null })
      expect((await other.projections(session)).values['quotaRetry']).toEqual(await projection(session))
    } finally {
      other.close()
    }
  })

  it('has a child that it delegates to start on the route that answers, in the parent\'s pool', async () => {
    const task = 'count the stars'
    const isChild = ({ body }: RecordedRequest): boolean => !JSON.stringify(body.messages).includes('delegate it') && JSON.stringify(body.messages).includes(task)
    let delegated = false
    b.setAnswer((request) => {
      if (isChild(request)) return reply('a great many')
      if (delegated) return reply('the child has said it')
      delegated = true
      return { kind: 'answer', text: '', toolCalls: [{ name: 'subagent', args: { description: 'Count the stars', prompt: task, run_in_background: false } }] }
    })
    const before = asked()
    const session = await api.createSession()
    await command(session, '/quota-pool medium')
    a.setAnswer(refused)
    expect(outcome(await api.ask(session, 'delegate it'))).toBe('completed')
    expect(a.agentRequests().slice(before.a)).toHaveLength(1)
    expect(b.agentRequests().slice(before.b).map(isChild)).toEqual([false, true, false])
    const child = home.sessionLogs().map(readLog).find(rows => (rows[0] as { parentSession?: string }).parentSession === session)!
    expect(child).toBeDefined()
    expect(replay(child)).toMatchObject({ route: B })
    expect(child.filter(row => row.type === 'command/run').map(row => (row as any).data.args)).toEqual(expect.arrayContaining([expect.stringContaining('medium')]))
  })
})

describe('a web host that dies after a failover', () => {
  let session: string
  beforeAll(async () => {
    await setUp()
    session = await moved()
    const journal = join(home.dir, 'storages', 'llm_quota_retry.json')
    await vi.waitFor(() => { expect(existsSync(journal) && readFileSync(journal, 'utf8')).toContain('"providerMarked"') }, { timeout: 60_000 })
    // An answer later in the log than the move, so that the move itself is stored.
    await api.ask(session, 'more')
    api.close()
    host.signal('SIGKILL')
    await host.exited
    await boot()
  })
  afterAll(tearDown)

  it('still knows after its restart who is out of allowance: a new session never asks there', async () => {
    a.setAnswer(refused)
    const fresh = await api.createSession()
    expect(await command(fresh, '/quota-routes')).toContain('would choose b/n')
    expect(await askedWhile(() => api.ask(fresh, 'hello'))).toEqual({ a: 0, b: 1 })
  })

  it('opens the session that had moved where it was, with its move', async () => {
    expect(await picker(session)).toEqual(B)
    expect(await projection(session)).toMatchObject({ lastMove: { from: A, to: B } })
    expect(await askedWhile(() => api.ask(session, 'again'))).toEqual({ a: 0, b: 1 })
  })

  it('takes balance scripts while it runs, with a key from its own credentials, and keeps the marks', async () => {
    const script = join(home.cwd, 'balance.mjs')
    writeFileSync(script, `
      const { LOOPBACK_PROVIDER_KEY: key, REGION: region } = process.env
      process.stderr.write(key)
      process.stdout.write(JSON.stringify({ remaining: key.length, unit: region, error: 'not accepted: ' + key }))
    `)
    const balances = [{ provider: 'b', script: [process.execPath, script], apiKeyEnv: 'LOOPBACK_PROVIDER_KEY', env: { REGION: 'moons' }, timeoutMs: 30_000 }]
    const fresh = await api.createSession()
    const key = home.env['LOOPBACK_PROVIDER_KEY']!
    await home.reconfigure([{ id: defaultRowId, config: { pools, balances } }],
      async () => (await command(fresh, '/quota-routes'))?.includes(`${key.length} moons left`) === true)
    const text = await command(fresh, '/quota-routes')
    expect(text).toContain('a/m: out of allowance')
    expect(text).toContain('the provider says: not accepted: ')
    expect(text).not.toContain(key)
    expect(JSON.stringify(await api.events(fresh))).not.toContain(key)
    expect(host.output()).not.toContain(key)
  })

  it('without the plugin opens every session, and they go on', async () => {
    const waiting = await api.createSession()
    b.setAnswer(refused)
    await api.prompt(waiting, 'hello')
    await api.event(waiting, event => event.type === 'llm/retry' && event.data.delayMs > 0)
    api.close()
    await host.stop()
    await home.plugin(['remove', 'dsh-llm-quota-retry'])
    home.configure([])
    a.setAnswer(reply('from a'))
    b.setAnswer(reply('from b'))
    await boot()
    const sessions = (await api.sessions()).map(({ sessionId }) => sessionId as string)
    expect(sessions).toEqual(expect.arrayContaining([session, waiting]))
    for (const id of sessions) {
      expect((await api.events(id)).length).toBeGreaterThan(0)
      expect(outcome(await api.ask(id, 'hello again'))).toBe('completed')
    }
    expect((await api.commands(session)).map(({ name }) => name)).not.toContain('quota-routes')
  })
})
