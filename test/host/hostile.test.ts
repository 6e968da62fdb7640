/** Hostile text from every side ends in no terminal, page, log or file as it came. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { timeline, timelineText } from '../../src/projections/timeline.ts'
import { replay } from '../../src/replay.ts'
import { eventsOf, fakeTime, LlmError, pass, type Rig, rig, say, SessionId, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
/** Clears the screen, writes a title, rings, turns the direction, ends a script, and is no whole text. */
const NASTY = '\u001B[2J\u001B]0;title\u0007\u009B31m\r\n\u202E</script><img src=x onerror=alert(1)>%s%n\u0000\u2028\uD800 $(reboot) `x`'
const LONG = `Insufficient Balance ${NASTY}${'\u001B[31m余\uDC00'.repeat(200_000)}`
/** What would act on a terminal; a page gets text, and escapes what it shows. */
const ACTS = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]|\p{Surrogate}/u

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

async function open(options: Partial<Parameters<typeof rig>[0]> = {}): Promise<Rig> {
  const host = await rig({ root, script: () => new LlmError(LONG, 'QUOTA', { status: 402 }), ...options })
  hosts.push(host)
  return host
}

async function waiting(host: Rig, id = 's1'): Promise<any> {
  const agent = await host.start(id)
  agent.followup(user(`work ${NASTY}`))
  await until(() => eventsOf(agent, 'llm/retry').length > 0, 'the wait')
  return agent
}

const journal = (): string => { try { return readFileSync(join(root, 'storages', 'llm_quota_retry.json'), 'utf8') } catch { return '' } }
const shown = (result: any): string => String(result.text ?? result.result?.text)

describe('a refusal of a megabyte', () => {
  it('is one short line on the terminal, in the status and in the report', async () => {
    const host = await open({ config: { pools: { p: { routes: [{ provider: 'a', model: 'm' }] } } } })
    const agent = await waiting(host)
    const texts = [
      ...host.warnings, shown(await host.command(agent, '/quota-retry status')), shown(await host.command(agent, '/quota-routes')),
      shown(await host.command(agent, `/quota-pool ${NASTY}`)), shown(await host.command(agent, `/quota-retry ${NASTY}`)), shown(await host.command(agent, `/quota-routes ${NASTY}`)),
    ]
    expect(host.warnings.length).toBeGreaterThan(0)
    for (const text of texts) {
      expect(text).not.toMatch(ACTS)
      expect(text.length).toBeLessThan(2_500)
    }
  })

  it('stands in the log once, as the harness has it, and short in every wait and in the journal', async () => {
    const host = await open()
    const agent = await waiting(host)
    await until(() => journal().includes('sessionWaiting'), 'the index')
    for (let round = 0; round < 5; round += 1) await pass(HOUR)
    const waits = eventsOf(agent, 'llm/retry')
    expect(waits.length).toBeGreaterThan(3)
    for (const { data } of waits) expect(JSON.stringify(data).length).toBeLessThan(20_000)
    expect(journal().length).toBeLessThan(50_000)
    expect(() => JSON.parse(journal())).not.toThrow()
    expect(timelineText(timeline(replay([agent.session.header, ...agent.session.events])))).not.toMatch(ACTS)
  })

  it('loads again, in a host with the plugin and in one without', async () => {
    const first = await open()
    const agent = await waiting(first)
    await first.ctx.sessions.flush(agent.session)
    await hosts.pop()!.dispose()
    for (const plugin of [true, false]) {
      const host = await open({ plugin, script: () => say('back') })
      const { agent: again } = await host.ctx.agents.resume({ resumeSessionId: SessionId('s1'), agentOptions: { provider: 'a', model: 'm' } })
      again.followup(user('and now?'))
      await again.whenIdle()
      expect(eventsOf(again, 'turn/end').at(-1).data.reason.kind).toBe('completed')
      await host.ctx.sessions.flush(again.session)
      await hosts.pop()!.dispose()
    }
  })
})

describe('a session id that is no name', () => {
  it.each([['acts on terminals', `s\u001B[2J\u0007\u202E`], ['is a key of every object', '__proto__'], ['is longer than any name', 'x'.repeat(2_000)], ['is a piece of a page', '<script>']])(
    'is waited for like any other: one that %s', async (_what, id) => {
      let flowing = false
      const host = await open({ script: () => flowing ? say('done') : new LlmError('Insufficient Balance', 'QUOTA', { status: 402 }) })
      const agent = await waiting(host, id)
      flowing = true
      await pass(HOUR)
      await agent.whenIdle()
      expect(eventsOf(agent, 'turn/end')[0].data.reason.kind).toBe('completed')
      for (const line of host.warnings) expect(line).not.toMatch(ACTS)
      if (journal() !== '') expect(() => JSON.parse(journal())).not.toThrow()
    })
})

describe('a script that prints anything', () => {
  it.each([
    ['a megabyte', `process.stdout.write('x'.repeat(1_000_000))`],
    ['controls in every field', `process.stdout.write(JSON.stringify({ remaining: 5, unit: ${JSON.stringify(NASTY)}.slice(0, 40), resetsAt: ${JSON.stringify(NASTY)}.slice(0, 60), error: ${JSON.stringify(NASTY)} }))`],
    ['fields of a megabyte', `process.stdout.write(JSON.stringify({ remaining: 5, unit: 'x'.repeat(60_000) }))`],
    ['bytes that are no text', `process.stdout.write(Buffer.from([0x7b, 0xff, 0xfe, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]))`],
    ['what changes objects', `process.stdout.write('{"__proto__":{"remaining":9},"constructor":{"prototype":{"remaining":9}}}')`],
    ['on the error stream only', `process.stderr.write('\\u001b[2J'.repeat(100_000))`],
  ])('shows no more than a reading: %s', async (_what, source) => {
    vi.useRealTimers()
    const script = join(root, 'script.mjs')
    await writeFile(script, source)
    const host = await open({ subprocess: true, config: { pools: { p: { routes: [{ provider: 'a', model: 'm' }] } }, balances: [{ provider: 'a', script: [process.execPath, script], timeoutMs: 10_000 }] } })
    const agent = await host.start()
    const text = shown(await host.command(agent, '/quota-routes'))
    for (const line of [text, ...host.warnings]) {
      expect(line).not.toMatch(ACTS)
      expect(line.length).toBeLessThan(1_500)
    }
    const { reading, missing } = host.ctx.llmQuotaRetry.report().pools[0].routes[0]
    expect(reading ?? missing, 'the script ran').toBeDefined()
    expect(({} as any).remaining).toBeUndefined()
  })
})

it('leaves no file larger than its log', async () => {
  const host = await open()
  await waiting(host)
  await until(() => journal().includes('sessionWaiting'), 'the index')
  expect((await stat(join(root, 'storages', 'llm_quota_retry.json'))).size).toBeLessThan(50_000)
})
