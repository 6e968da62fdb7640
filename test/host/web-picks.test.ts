/** A model that a person picks on the real web host, which forgets it with its process: the session's log does not. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startWeb, type WebHost } from '../../demo/support/dsh.ts'
import { type Home, makeHome } from '../../demo/support/home.ts'
import { type Provider, refusals, startProvider } from '../../demo/support/provider.ts'
import { readLog } from '../../demo/support/session-log.ts'
import { connectWeb, type SessionEvent, type WebApi } from '../../demo/support/web-api.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'n' }
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

beforeAll(async () => {
  a = await startProvider({ name: 'a', answer: reply('from a') })
  b = await startProvider({ name: 'b', answer: reply('from b') })
  home = await makeHome({
    profile: 'web',
    providers: { a: { url: a.url, models: ['m'] }, b: { url: b.url, models: ['n'] } },
    defaultModel: A,
    plugin: { spec: root, config: { pools: { medium: { routes: [A, B] } } } },
  })
  await boot()
})
afterAll(async () => {
  api.close()
  await host.stop()
  await Promise.all([home.dispose(), a.close(), b.close()])
})

async function killAndStart(): Promise<void> {
  api.close()
  host.signal('SIGKILL')
  await host.exited
  await boot()
}

/** How often each provider was asked while something ran. */
async function askedWhile(run: () => Promise<unknown>): Promise<{ a: number; b: number }> {
  const before = { a: a.agentRequests().length, b: b.agentRequests().length }
  await run()
  return { a: a.agentRequests().length - before.a, b: b.agentRequests().length - before.b }
}
const noted = (kind: string) => (event: SessionEvent): boolean => event.type === 'command/run' && String(event.data.args).startsWith(` ${kind} `)
/** What of a session is on the disk: a host that is killed has nothing else to go by. */
const storedRows = (id: string) => home.sessionLogs().filter(file => file.includes(id)).flatMap(file => readLog(file))
const isMarked = async (provider: string): Promise<void> => {
  const journal = join(home.dir, 'storages', 'llm_quota_retry.json')
  await vi.waitFor(() => { expect(existsSync(journal) && readFileSync(journal, 'utf8')).toMatch(new RegExp(`"provider":\\s*"${provider}"`)) }, { timeout: 10_000 })
}

describe('a model that is picked on a web host that is killed', () => {
  it('before any request went there has the next one', { timeout: 60_000 }, async () => {
    const session = await api.createSession()
    await api.ask(session, 'hello')
    await api.selectModel(session, B)
    await api.event(session, noted('picked'))
    await vi.waitFor(() => { expect(storedRows(session).some(row => noted('picked')(row as unknown as SessionEvent))).toBe(true) }, { timeout: 30_000 })
    await killAndStart()
    expect(await askedWhile(() => api.ask(session, 'more'))).toEqual({ a: 0, b: 1 })
    expect((await api.models(session)).current).toEqual(B)
  })

  it('although its provider is out of allowance has the next one, too', { timeout: 60_000 }, async () => {
    const session = await api.createSession()
    await api.selectModel(session, A)
    await api.ask(session, 'hello')
    await api.selectModel(session, B)
    expect(await askedWhile(() => api.ask(session, 'on the pick'))).toEqual({ a: 0, b: 1 })
    const other = await api.createSession()
    await api.selectModel(other, B)
    await api.executeCommand(other, '/quota-retry off')
    b.setAnswer(refused)
    await api.ask(other, 'runs out')
    await isMarked('b')
    await killAndStart()
    b.setAnswer(reply('from b'))
    const fresh = await api.createSession()
    expect((await api.executeCommand(fresh, '/quota-routes'))?.result.text).toMatch(/b\/n: out of allowance/)
    expect(await askedWhile(() => api.ask(session, 'again'))).toEqual({ a: 0, b: 1 })
  })
})

describe('a session that leaves its route before its first request', () => {
  it('says so in its log, in its projection and in the transcript', { timeout: 60_000 }, async () => {
    const other = await api.createSession()
    await api.selectModel(other, A)
    a.setAnswer(refused)
    await api.ask(other, 'runs out')
    const fresh = await api.createSession()
    expect(await askedWhile(() => api.ask(fresh, 'hello'))).toEqual({ a: 0, b: 1 })
    const events = await api.events(fresh)
    const { data } = events.find(noted('moved'))!
    expect(data).toMatchObject({ name: 'quota-pool', args: ' moved b/n from a/m pool medium because marked over a/m', source: { kind: 'user' } })
    expect(events.find(event => event.type === 'command/done' && event.data.commandId === data.commandId)?.data)
      .toMatchObject({ kind: 'success', text: 'Requests go to b/n (pool medium): a/m is out of allowance.' })
    expect((await api.projections(fresh)).values['quotaRetry']).toMatchObject({ lastMove: { from: A, to: B, pool: 'medium', why: 'marked', turn: 1 } })
  })
})
