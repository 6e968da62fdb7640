import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventsOf, fakeTime, pass, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

let host: Rig

beforeEach(() => { fakeTime() })
afterEach(async () => {
  await host.dispose()
  vi.useRealTimers()
})

const waiting = (agent: any): Promise<void> => until(() => eventsOf(agent, 'llm/retry').length > 0, 'the first wait')
const ending = (agent: any): any => eventsOf(agent, 'turn/end').at(-1)?.data.reason
const facts = (agent: any): any => host.ctx.llmQuotaRetry.facts(agent.session)

describe('the switch of a session', () => {
  it('is on by default, and a session that is switched off fails as it would without the plugin', async () => {
    host = await rig({ script: () => spent() })
    const agent = await host.start()
    expect(facts(agent)).toMatchObject({ enabled: true, defaultEnabled: true, source: 'default' })
    await host.command(agent, '/quota-retry off')
    expect(facts(agent)).toMatchObject({ enabled: false, source: 'session' })
    agent.followup(user('work'))
    await agent.whenIdle()
    expect(ending(agent)).toMatchObject({ kind: 'error', error: { code: 'QUOTA' } })
    expect(eventsOf(agent, 'llm/retry')).toHaveLength(0)
  })

  it('ends a wait at once when it goes off, and announces that', async () => {
    host = await rig({ script: () => spent() })
    const agent = await host.start()
    agent.followup(user('work'))
    await waiting(agent)
    await host.command(agent, '/quota-retry off')
    await agent.whenIdle()
    await settle()
    expect(ending(agent)).toMatchObject({ kind: 'error', error: { code: 'QUOTA' } })
    expect(host.announced.map(({ name }) => name)).toEqual(['entered', 'left'])
    expect(host.announced[1]?.payload).toMatchObject({ reason: 'disabled', attempts: 1 })
    expect(host.ctx.llmQuotaRetry.isRetrying(agent.session)).toBe(false)
  })

  it('can be the opt-in of a whole deployment', async () => {
    host = await rig({ script: (_request, index) => index < 2 ? spent() : say('done'), config: { defaultEnabled: false } })
    const agent = await host.start()
    agent.followup(user('work'))
    await agent.whenIdle()
    expect(ending(agent).kind).toBe('error')
    await host.command(agent, '/quota-retry on')
    agent.followup(user('work'))
    await waiting(agent)
    await pass(3_600_000)
    await agent.whenIdle()
    expect(ending(agent).kind).toBe('completed')
  })

  it('ends a wait also when it goes back to a default that is off', async () => {
    host = await rig({ script: () => spent(), config: { defaultEnabled: false } })
    const agent = await host.start()
    await host.command(agent, '/quota-retry on')
    agent.followup(user('work'))
    await waiting(agent)
    await host.command(agent, '/quota-retry default')
    await agent.whenIdle()
    await settle()
    expect(facts(agent)).toMatchObject({ enabled: false, source: 'default' })
    expect(host.announced.map(({ name }) => name)).toEqual(['entered', 'left'])
    expect(host.announced[1]?.payload.reason).toBe('disabled')
  })

  it('goes back to the default without ending a wait where the default is on', async () => {
    host = await rig({ script: () => spent() })
    const agent = await host.start()
    agent.followup(user('work'))
    await waiting(agent)
    await host.command(agent, '/quota-retry default')
    expect(host.ctx.llmQuotaRetry.stateOf(agent.session)).toMatchObject({ pending: true })
  })

  it('is moved by other plugins through the service, recorded like a command', async () => {
    host = await rig({ script: () => spent() })
    const agent = await host.start()
    host.ctx.llmQuotaRetry.setEnabled(agent.session, false)
    expect(facts(agent)).toMatchObject({ enabled: false, source: 'session' })
    expect(eventsOf(agent, 'command/run')[0].data).toMatchObject({ name: 'quota-retry', args: ' by-plugin off', source: { kind: 'user' } })
    host.ctx.llmQuotaRetry.setEnabled(agent.session, null)
    expect(facts(agent)).toMatchObject({ enabled: true, source: 'default' })
  })

  it('may be moved from within a listener of session events, where nobody may append', async () => {
    host = await rig({ script: () => spent() })
    const agent = await host.start()
    let done = false
    host.ctx.on('session/event', (session: any, event: any) => {
      if (event.type !== 'turn/start' || done) return
      done = true
      host.ctx.llmQuotaRetry.setEnabled(session, false)
    })
    agent.followup(user('work'))
    await agent.whenIdle()
    expect(ending(agent).kind).toBe('error')
    expect(facts(agent).enabled).toBe(false)
  })

  it.each(['banana', 'on off', 'inherit off', 'by-plugin off', '--help'])('answers "%s" with its usage and changes nothing', async (word) => {
    host = await rig({ script: () => spent() })
    const agent = await host.start()
    const { result } = await host.command(agent, `/quota-retry ${word}`)
    expect(result).toMatchObject({ kind: 'error', text: expect.stringContaining('on|off|default|status|now') })
    expect(facts(agent)).toMatchObject({ enabled: true, source: 'default' })
  })

  it('shows itself and what the session waits for', async () => {
    host = await rig({ script: () => spent('Insufficient Balance\u001B[2Jbad') })
    const agent = await host.start()
    const before = await host.command(agent, '/quota-retry status')
    expect(before.result.text).toContain('Quota retry is on')
    expect(before.result.text).toContain('not out of allowance')
    agent.followup(user('work'))
    await waiting(agent)
    const { result } = await host.command(agent, '/quota-retry')
    expect(result.text).toContain('a/m')
    expect(result.text).toContain('Next check')
    expect(result.text).not.toContain('\u001B')
  })
})

describe('a child session', () => {
  it('takes over the nearest ancestor\'s explicit switch once, before its first request', async () => {
    host = await rig({ script: () => spent() })
    const parent = await host.start('parent')
    await host.command(parent, '/quota-retry off')
    const child = await host.start('child', undefined, { parentSession: 'parent', origin: 'subagent', delegationDepth: 1 })
    const grandchild = await host.start('grandchild', undefined, { parentSession: 'child', origin: 'subagent', delegationDepth: 2 })
    expect(facts(child)).toMatchObject({ enabled: false, source: 'inherited' })
    expect(facts(grandchild)).toMatchObject({ enabled: false, source: 'inherited' })
    await host.command(parent, '/quota-retry on')
    expect(facts(child)).toMatchObject({ enabled: false, source: 'inherited' })
    await host.command(child, '/quota-retry default')
    expect(facts(child)).toMatchObject({ enabled: true, source: 'default' })
  })

  it('gets no record of its own where no ancestor states anything', async () => {
    host = await rig({ script: () => spent() })
    await host.start('parent')
    const child = await host.start('child', undefined, { parentSession: 'parent', origin: 'subagent', delegationDepth: 1 })
    expect(eventsOf(child, 'command/run')).toHaveLength(0)
    expect(facts(child)).toMatchObject({ source: 'default' })
  })

  it('that is a fork keeps what its parent said, and not what its parent waited for', async () => {
    host = await rig({ script: (_request, index) => index === 1 ? spent() : say('hello') })
    const parent = await host.start('parent')
    parent.followup(user('hi'))
    await parent.whenIdle()
    await host.command(parent, '/quota-retry on')
    parent.followup(user('more'))
    await waiting(parent)
    parent.cancel({ kind: 'user' })
    await parent.whenIdle()
    const fork = host.ctx.sessions.fork(parent.session, undefined, 'fork')
    expect(host.ctx.llmQuotaRetry.isRetrying(parent.session)).toBe(true)
    expect(host.ctx.llmQuotaRetry.isRetrying(fork)).toBe(false)
    expect(host.ctx.llmQuotaRetry.facts(fork)).toMatchObject({ enabled: true, source: 'inherited' })
  })
})
