import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startWeb, type WebHost } from '../../demo/support/dsh.ts'
import { makeHome, type Home } from '../../demo/support/home.ts'
import { startProvider, type Provider } from '../../demo/support/provider.ts'
import { readLog } from '../../demo/support/session-log.ts'
import { connectWeb, WebApiError, type WebApi } from '../../demo/support/web-api.ts'
import { writeBundle } from '../support/bundle.ts'

const reply = (text: string) => ({ kind: 'answer', text }) as const

/** A plugin with a command and a channel of its own, to prove that the client reaches both. */
const probe = `
  export const name = 'probe'
  export const inject = ['commands', 'connection']
  export function apply(ctx, config) {
    process.stderr.write('config ' + JSON.stringify(config) + '\\n')
    ctx.commands.register({
      name: 'echo', description: 'Echoes.', input: { hint: '<text>' },
      handler: async ({ rawInput }) => rawInput === '' ? { kind: 'error', text: 'nothing' } : { kind: 'success', text: rawInput.trim() },
    })
    ctx.connection.rpc.handle('/probe', async (endpoint, payload) => ({ ok: true, value: { endpoint, payload } }), { authority: 'loopback' })
  }
`

describe('a web host', () => {
  let dir: string
  let first: Provider
  let second: Provider
  let home: Home
  let host: WebHost
  let api: WebApi
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'probe-'))
    writeBundle(dir, { name: 'probe', source: probe })
    first = await startProvider({ name: 'first', answer: reply('from the first') })
    second = await startProvider({ name: 'second', answer: reply('from the second') })
    home = await makeHome({
      profile: 'web',
      providers: { first: { url: first.url, models: ['m'] }, second: { url: second.url, models: ['n'] } },
      defaultModel: { provider: 'first', model: 'm' },
      plugin: { spec: dir, rowId: 'probe', config: { round: 1 } },
    })
    host = await startWeb(home)
    api = await connectWeb(host.url)
  })
  afterAll(async () => {
    api.close()
    await host.stop()
    await Promise.all([home.dispose(), first.close(), second.close()])
    rmSync(dir, { recursive: true })
  })

  beforeEach(() => { first.setAnswer(reply('from the first')) })

  it('answers a prompt; events and projections can be read', async () => {
    const session = await api.createSession()
    const end = await api.ask(session, 'hello')
    expect(end.data.reason).toEqual({ kind: 'completed' })
    const events = await api.events(session)
    expect(events.map(event => event.seq)).toEqual(events.map((_, index) => index))
    expect(JSON.stringify(events.find(event => event.type === 'assistant/message')?.data)).toContain('from the first')
    const { asOfSeq, values } = await api.projections(session)
    expect(asOfSeq).toBeGreaterThanOrEqual(end.seq)
    expect(values).toMatchObject({ sessionStats: { turns: 1 } })
    const pushed = await api.frame(frame => frame.type === 'session/projection' && frame.sessionId === session && frame['key'] === 'sessionStats')
    expect(pushed['value']).toBeDefined()
    expect(await api.sessions()).toMatchObject([{ sessionId: session, cwd: home.cwd }])
  })

  it('runs commands, and tells a failed one and an unknown one apart', async () => {
    const session = await api.createSession()
    expect((await api.commands(session)).map(({ name }) => name)).toContain('echo')
    expect(await api.executeCommand(session, '/echo some words')).toMatchObject({ result: { kind: 'success', text: 'some words' } })
    expect(await api.executeCommand(session, '/echo')).toMatchObject({ result: { kind: 'error', text: 'nothing' } })
    expect(await api.executeCommand(session, '/no-such')).toBeUndefined()
    const done = (await api.events(session)).filter(event => event.type === 'command/done')
    expect(done.map(event => event.data.kind)).toEqual(['success', 'error'])
  })

  it('reaches a channel that a plugin opens', async () => {
    expect(await api.channel('/probe', 'state', { a: 1 })).toEqual({ endpoint: 'state', payload: { a: 1 } })
  })

  it('cancels a turn in a request', async () => {
    first.setAnswer({ kind: 'hang' })
    const session = await api.createSession()
    await api.prompt(session, 'hello')
    const request = await first.agentRequest(first.agentRequests().length)
    await api.cancel(session)
    expect(await request.closed).toBe('aborted')
    const end = await api.event(session, event => event.type === 'turn/end')
    expect(end.data.reason).toEqual({ kind: 'aborted', reason: { kind: 'user' } })
  })

  it('picks a model', async () => {
    const session = await api.createSession()
    expect(await api.models(session)).toMatchObject({ current: { provider: 'first', model: 'm' }, routable: true })
    await api.selectModel(session, { provider: 'second', model: 'n' })
    const before = second.agentRequests().length
    await api.ask(session, 'hello')
    expect(second.agentRequests().length - before).toBe(1)
    const error = await api.selectModel(session, { provider: 'nobody', model: 'n' }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(WebApiError)
    await api.selectModel(session, { provider: 'first', model: 'm' })
  })

  it('takes a changed row config while it runs', async () => {
    await home.reconfigure([{ id: 'probe', config: { round: 2 } }], () => host.output().includes('config {"round":2}'))
  })

  it('lives on with its sessions after a restart', async () => {
    const session = await api.createSession()
    await api.ask(session, 'hello')
    api.close()
    await host.stop()
    expect(await host.exited).toEqual({ code: 0, signal: null })
    const log = home.sessionLogs().find(path => path.includes(session)) ?? ''
    const stored = readLog(log).length
    host = await startWeb(home)
    api = await connectWeb(host.url)
    expect((await api.ask(session, 'again')).data.reason).toEqual({ kind: 'completed' })
    await host.stop()
    expect(readLog(log).length).toBeGreaterThan(stored)
  })
})

describe('a web host with a plugin that does not load', () => {
  it('is reported with what the host printed', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'broken-'))
    writeBundle(dir, { name: 'broken', source: 'import "./absent.js"' })
    const home = await makeHome({
      profile: 'web', providers: {}, defaultModel: { provider: 'none', model: 'none' }, plugin: { spec: dir, rowId: 'broken' },
    })
    await expect(startWeb(home)).rejects.toThrow('absent.js')
    await home.dispose()
    rmSync(dir, { recursive: true })
  })
})
