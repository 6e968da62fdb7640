/** The pinned web host as a process that is killed while a session waits for its allowance. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { startWeb, type WebHost } from '../../demo/support/dsh.ts'
import { type Home, makeHome } from '../../demo/support/home.ts'
import { type Answer, type Provider, refusals, startProvider } from '../../demo/support/provider.ts'
import { readLog } from '../../demo/support/session-log.ts'
import { connectWeb, type WebApi } from '../../demo/support/web-api.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const CONTINUATION = 'Please go on.'
/** Kills of each kind, 0 to 50 ms after the acknowledgement; `STOPS=30` makes thirty. */
const STOPS = Number(process.env['STOPS'] ?? 2)
let stack: AsyncDisposableStack

afterEach(() => stack.disposeAsync())

interface World {
  readonly provider: Provider
  readonly home: Home
  host: WebHost
  api: WebApi
  /** Kill the host without a word, as a crash or a power cut does, or stop it as a supervisor does; then start it again. */
  restart(how: 'kill' | 'stop'): Promise<void>
}

async function world(answer: Answer, config: object): Promise<World> {
  stack = new AsyncDisposableStack()
  const provider = await startProvider({ name: 'a', answer })
  stack.defer(() => provider.close())
  const home = await makeHome({
    profile: 'web',
    providers: { a: { url: provider.url, models: ['m'] } },
    defaultModel: { provider: 'a', model: 'm' },
    plugin: { spec: root, config: { resumeDelaySeconds: 0, continuation: CONTINUATION, ...config } },
  })
  stack.defer(() => home.dispose())
  const host = await startWeb(home)
  const found: World = {
    provider, home, host, api: await connectWeb(host.url),
    async restart(how) {
      found.api.close()
      if (how === 'stop') await found.host.stop()
      else {
        found.host.process.kill('SIGKILL')
        await found.host.exited
      }
      found.host = await startWeb(home)
      found.api = await connectWeb(found.host.url)
    },
  }
  stack.defer(async () => {
    found.api.close()
    await found.host.stop()
  })
  return found
}

const journal = (home: Home): string => {
  const file = join(home.dir, 'storages', 'llm_quota_retry.json')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
const waits = (event: { type: string }): boolean => event.type === 'llm/retry'
const ends = (event: { type: string; data: any }): boolean => event.type === 'turn/end' && event.data.reason.kind === 'completed'

/** A session that waits, with the index and the log stored. */
async function waiting(found: World): Promise<string> {
  const session = await found.api.createSession()
  await found.api.prompt(session, 'work')
  await found.api.event(session, waits)
  const stored = (): boolean => journal(found.home).includes(session) && found.home.sessionLogs().some(path => readLog(path).some(waits))
  while (!stored()) await new Promise(resolve => setImmediate(resolve))
  return session
}

const messages = (events: readonly any[]): string[] => events
  .filter(event => event.type === 'user/message' && event.data.source.kind !== 'runtime-context')
  .map(event => event.data.content.map((part: any) => part.text ?? '').join(''))

const agentTexts = (provider: Provider): string[] => provider.agentRequests().map(request => JSON.stringify(request.body.messages))

describe('a host that ends while a session waits', { timeout: 60_000 }, () => {
  it.each(['kill', 'stop'] as const)('takes the run up again after a %s, at the time it had', async (how) => {
    const found = await world(refusals.insufficientBalance, { longTermDelayMs: 6_000 })
    const session = await waiting(found)
    found.provider.setAnswer({ kind: 'answer', text: 'back again' })
    await found.restart(how)
    await found.api.event(session, ends)
    const events = await found.api.events(session)
    expect(messages(events).filter(text => text === CONTINUATION)).toHaveLength(1)
    expect(messages(events).filter(text => text === 'work')).toHaveLength(1)
    expect(found.provider.agentRequests()).toHaveLength(2)
    const planned = events.find(waits)!
    expect(found.provider.agentRequests()[1]!.time).toBeGreaterThanOrEqual(planned.time + planned.data.delayMs)
    const continuation = events.find(event => event.type === 'user/message' && JSON.stringify(event.data).includes(CONTINUATION))!
    expect(continuation.data.source).toEqual({ kind: 'plugin', plugin: 'llm-quota-retry' })
  })

  it('goes on waiting when the provider still refuses, and is found again after a second kill', async () => {
    const found = await world(refusals.insufficientBalance, { longTermDelayMs: 1_500 })
    const session = await waiting(found)
    await found.restart('kill')
    await found.api.event(session, waits)
    found.provider.setAnswer({ kind: 'answer', text: 'back again' })
    await found.restart('kill')
    await found.api.event(session, ends)
    expect(messages(await found.api.events(session)).filter(text => text === 'work')).toHaveLength(1)
  })

  it.each(['kill', 'stop'] as const)('keeps what the person queued during the wait, over a %s, and sends it once', async (how) => {
    const found = await world(refusals.insufficientBalance, { longTermDelayMs: 4_000 })
    const session = await waiting(found)
    // The message brings the attempt forward, but not within ten seconds of the refusal; the interval is shorter.
    await found.api.prompt(session, 'and this too')
    // A crash keeps what is on the disk; the host writes a moment later than it accepts.
    const onDisk = (): boolean => found.home.sessionLogs().some(path => JSON.stringify(readLog(path)).includes('and this too'))
    while (!onDisk()) await new Promise(resolve => setImmediate(resolve))
    found.provider.setAnswer({ kind: 'answer', text: 'back again' })
    await found.restart(how)
    await found.api.event(session, ends)
    const sent = (): string[] => agentTexts(found.provider).filter(text => text.includes('and this too'))
    while (sent().length === 0) await new Promise(resolve => setImmediate(resolve))
    const events = await found.api.events(session)
    expect(messages(events).filter(text => text === 'and this too')).toHaveLength(1)
    expect(messages(events).filter(text => text === 'work')).toHaveLength(1)
  })

  it('says when a run goes on that nobody has opened yet, has it go on now, and lets it stay', async () => {
    const found = await world(refusals.insufficientBalance, { longTermDelayMs: 600_000 })
    const first = await waiting(found)
    const second = await waiting(found)
    const third = await waiting(found)
    found.provider.setAnswer({ kind: 'answer', text: 'back again' })
    await found.restart('kill')
    const channel = (endpoint: string, payload: object): Promise<any> => found.api.channel('/llm-quota-retry', endpoint, payload)
    const listed = async (): Promise<any[]> => (await channel('watch', { known: null })).page.waiting
    while ((await listed()).length < 3) await new Promise(resolve => setTimeout(resolve, 50))
    // Opened by a click, as the page does.
    const status = await found.api.executeCommand(first, '/quota-retry status')
    expect(status?.result.text).toMatch(/Next check .*: the host ended while this session waited, and it goes on by itself\./)
    expect((await found.api.projections(first)).values['quotaRetry'].wait).toMatchObject({ pending: false, nextAttemptAt: expect.any(Number) })
    expect(await channel('stop', { session: second })).toEqual({ done: true })
    expect((await listed()).map(({ session }) => session).sort()).toEqual([first, third].sort())
    await found.api.call('workspace.archiveSession', { sessionId: third })
    expect((await listed()).map(({ session }) => session)).toEqual([first])
    const asked = found.provider.agentRequests().length
    expect((await found.api.executeCommand(first, '/quota-retry now'))?.result.kind).toBe('success')
    await found.api.event(first, ends)
    expect(messages(await found.api.events(first)).filter(text => text === CONTINUATION)).toHaveLength(1)
    expect(found.provider.agentRequests()).toHaveLength(asked + 1)
    await found.restart('kill')
    expect(await listed()).toEqual([])
    expect(messages(await found.api.events(second))).not.toContain(CONTINUATION)
  })

  it('has a run that would go on by itself stopped, and leaves the switch as it was', async () => {
    const found = await world(refusals.insufficientBalance, { longTermDelayMs: 600_000 })
    const session = await waiting(found)
    await found.restart('kill')
    await found.api.events(session)
    const facts = async () => (await found.api.projections(session)).values['quotaRetry']
    expect(await facts()).toMatchObject({ wait: { pending: false, nextAttemptAt: expect.any(Number) } })
    const asked = found.provider.agentRequests().length
    expect((await found.api.executeCommand(session, '/quota-retry stop'))?.result.kind).toBe('success')
    expect(await facts()).toMatchObject({ enabled: true, source: 'default', wait: null })
    // Nor does another start take it up.
    await found.restart('kill')
    await found.api.events(session)
    expect(await facts()).toMatchObject({ enabled: true, wait: null })
    expect(found.provider.agentRequests()).toHaveLength(asked)
    expect((await found.api.executeCommand(session, '/quota-retry stop'))?.result.kind).toBe('error')
  })

  it('ends the wait of a session that is put away at once, and sends nothing later', async () => {
    const found = await world(refusals.insufficientBalance, { longTermDelayMs: 1_500 })
    const session = await waiting(found)
    await found.api.call('workspace.archiveSession', { sessionId: session })
    const end = await found.api.event(session, event => event.type === 'turn/end')
    expect(end.data.reason.kind).toBe('aborted')
    const asked = found.provider.agentRequests().length
    // Another one that waits on the route asks twice meanwhile, and only it does.
    const other = await found.api.createSession()
    await found.api.prompt(other, 'the other')
    await found.api.event(other, event => event.type === 'llm/retry' && event.data.retry === 2)
    expect(agentTexts(found.provider).slice(asked).length).toBeGreaterThan(1)
    expect(agentTexts(found.provider).slice(asked).filter(text => !text.includes('the other'))).toEqual([])
  })

  it('leaves a session alone that the person cancelled', async () => {
    const found = await world(refusals.insufficientBalance, { longTermDelayMs: 1_000 })
    const session = await waiting(found)
    await found.api.cancel(session)
    await found.api.event(session, event => event.type === 'turn/end')
    const asked = found.provider.agentRequests().length
    await found.restart('kill')
    const other = await found.api.createSession()
    found.provider.setAnswer({ kind: 'answer', text: 'hello' })
    await found.api.ask(other, 'hi')
    expect(found.provider.agentRequests()).toHaveLength(asked + 1)
    expect(messages(await found.api.events(session))).not.toContain(CONTINUATION)
  })

  it.each(['cancel', 'off', 'stop'] as const)('is killed right after it acknowledged what the person ended (%s), and does not go on', { timeout: 60_000 * STOPS }, async (how) => {
    const found = await world(refusals.insufficientBalance, { longTermDelayMs: 1_000 })
    for (let number = 0; number < STOPS; number += 1) {
      found.provider.setAnswer(refusals.insufficientBalance)
      const session = await waiting(found)
      if (how === 'cancel') await found.api.cancel(session)
      else if (how === 'off') await found.api.executeCommand(session, '/quota-retry off')
      else expect(await found.api.channel('/llm-quota-retry', 'stop', { session })).toEqual({ done: true })
      await new Promise(resolve => setTimeout(resolve, (50 * number) / STOPS))
      found.provider.setAnswer({ kind: 'answer', text: 'hello' })
      await found.restart('kill')
      // Opened, as by a click: what its log says is told then, and two intervals pass.
      await found.api.events(session)
      await new Promise(resolve => setTimeout(resolve, 2_000))
      expect(messages(await found.api.events(session))).not.toContain(CONTINUATION)
    }
  })

  it('resumes nothing where the deployment does not want it', async () => {
    const found = await world(refusals.insufficientBalance, { longTermDelayMs: 1_000, resumeOnStart: false })
    const session = await waiting(found)
    found.provider.setAnswer({ kind: 'answer', text: 'hello' })
    await found.restart('kill')
    const other = await found.api.createSession()
    await found.api.ask(other, 'hi')
    expect(messages(await found.api.events(session))).not.toContain(CONTINUATION)
  })
})
