/** Balance scripts as the host runs them: real child processes, and nothing of what they print anywhere but in readings. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { clockText } from '../../src/projections/text.ts'
import * as QuotaRetry from '../../src/index.ts'
import { eventsOf, LlmError, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'
import { SPACING_MS } from '../../src/host/pace.ts'

const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'n' }
const pools = { medium: { routes: [A, B] } }
const REFRESH = 60_000

let dir: string
let clock: FakeClock
let host: Rig
let out: Set<string>
const servers: Server[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'balances-'))
  clock = new FakeClock()
  // Events of the harness carry the platform's time.
  clock.wall = Date.now()
  out = new Set()
})
afterEach(async () => {
  await host?.dispose()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  rmSync(dir, { recursive: true, force: true })
})

/** What a script noted of one run. */
interface Run { pid: number; args: string[]; env: Record<string, string> }

const file = (name: string): string => join(dir, name)

/** Write a script that notes each run before it does what the test wants of it, and return its command. */
function script(name: string, body: string, ...args: string[]): [string, ...string[]] {
  writeFileSync(file(`${name}.mjs`), `
    import { appendFileSync, existsSync } from 'node:fs'
    appendFileSync(${JSON.stringify(file(`${name}.runs`))}, JSON.stringify({ pid: process.pid, args: process.argv.slice(2), env: process.env }) + '\\n')
    const until = async (name) => { while (!existsSync(${JSON.stringify(dir)} + '/' + name)) await new Promise(resolve => setTimeout(resolve, 5)) }
    const print = (value) => { process.stdout.write(typeof value === 'string' ? value : JSON.stringify(value)) }
    ${body}
  `)
  return [process.execPath, file(`${name}.mjs`), ...args]
}

const runs = (name: string): Run[] => existsSync(file(`${name}.runs`))
  ? readFileSync(file(`${name}.runs`), 'utf8').split('\n').filter(line => line !== '').map(line => JSON.parse(line) as Run)
  : []

/** Wait until a script runs. */
async function running(name: string, count = 1): Promise<Run> {
  await expect.poll(() => runs(name).length, { interval: 5 }).toBeGreaterThanOrEqual(count)
  return runs(name)[count - 1]!
}

/** Whether a process is there. */
function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const HANG = 'await new Promise(() => { setInterval(() => {}, 1_000) })'
/** Prints what stands in a file, so that a test can change it between two runs. */
const FROM_FILE = (name: string): string => `
  const { readFileSync } = await import('node:fs')
  print(readFileSync(${JSON.stringify(file(name))}, 'utf8'))
`

const answering = (request: { provider: string }) => out.has(request.provider)
  ? spent(`${request.provider} has insufficient balance`)
  : say(`hi from ${request.provider}`)

async function open(balances: object[], config: object = {}, more: object = {}): Promise<Rig> {
  host = await rig({
    script: answering, providers: ['a', 'b'], subprocess: true, credentials: {}, clock,
    config: { pools, balances, ...config } as never, ...more,
  })
  return host
}

const pick = (): Promise<any> => host.ctx.llmQuotaRetry.pickRoute('medium')
const report = (provider: string): any => host.ctx.llmQuotaRetry.report().pools[0].routes.find((route: any) => route.provider === provider)
const ask = async (agent: any, text = 'work'): Promise<void> => {
  agent.followup(user(text))
  await agent.whenIdle()
}
const outcomes = (agent: any): string[] => eventsOf(agent, 'turn/end').map(event => event.data.reason.kind)
const routesText = async (agent: any): Promise<string> => (await host.command(agent, '/quota-routes')).result.text

describe('a balance script', () => {
  it('is run as a list of arguments that no shell looks at', async () => {
    const args = ['an argument with spaces', `$(touch ${file('pwned')})`, `; touch ${file('pwned')}`, '`id`', '*', '', '"quoted"', 'a|b>c']
    await open([{ provider: 'a', script: script('argv', 'print({ remaining: 5 })', ...args) }])
    await pick()
    expect(runs('argv').map(run => run.args)).toEqual([args])
    expect(existsSync(file('pwned'))).toBe(false)
    expect(report('a').reading).toMatchObject({ remaining: 5 })
  })

  it('gets its key under the name of the credential, resolved anew at every run', async () => {
    const credentials: Record<string, string> = { THE_KEY: 'first' }
    await open([{ provider: 'a', script: script('key', 'print({ remaining: 5 })'), apiKeyEnv: 'THE_KEY', refreshMs: REFRESH }], {}, { credentials })
    await pick()
    credentials['THE_KEY'] = 'second'
    clock.step(REFRESH)
    await pick()
    expect(runs('key').map(run => run.env['THE_KEY'])).toEqual(['first', 'second'])
  })

  it('gets the literals of its row, and none of the host\'s own secrets', async () => {
    process.env['SOME_OTHER_API_KEY'] = 'not for scripts'
    try {
      await open([{ provider: 'a', script: script('env', 'print({ remaining: 5 })'), env: { REGION: 'cn', BASE: 'http://127.0.0.1:1/ $HOME' } }])
      await pick()
    } finally {
      delete process.env['SOME_OTHER_API_KEY']
    }
    expect(runs('env')[0]?.env).toMatchObject({ REGION: 'cn', BASE: 'http://127.0.0.1:1/ $HOME' })
    expect(runs('env')[0]?.env).not.toHaveProperty('SOME_OTHER_API_KEY')
  })

  it('that hangs is a missing reading after its timeout, and its process is ended', async () => {
    await open([{ provider: 'a', script: script('hang', HANG), timeoutMs: 5_000 }])
    const picked = pick()
    const { pid } = await running('hang')
    clock.pass(5_000)
    expect(await picked).toEqual(A)
    expect(report('a').missing).toMatchObject({ missing: 'timeout' })
    await expect.poll(() => alive(pid)).toBe(false)
  })

  it('that will not be told to end holds nobody up and is killed', async () => {
    await open([{ provider: 'a', script: script('stubborn', `process.on('SIGTERM', () => {}); ${HANG}`), timeoutMs: 5_000 }])
    const picked = pick()
    const { pid } = await running('stubborn')
    clock.pass(5_000)
    expect(await picked).toEqual(A)
    await expect.poll(() => alive(pid)).toBe(false)
  })

  it('that keeps its key waiting is bounded by the same timeout', async () => {
    await open([{ provider: 'a', script: script('locked', 'print({ remaining: 5 })'), apiKeyEnv: 'LOCKED', timeoutMs: 5_000 }], {}, {
      credentials: undefined,
      before: async (ctx: any) => { ctx.provide('credentials', { resolve: () => new Promise(() => {}) }) },
    })
    const picked = pick()
    clock.pass(5_000)
    expect(await picked).toEqual(A)
    expect(report('a').missing).toMatchObject({ missing: 'timeout' })
    expect(runs('locked')).toHaveLength(0)
  })

  it('is run once at a time for each provider, however many ask', async () => {
    await open([
      { provider: 'a', script: script('one', 'await until("go"); print({ remaining: 5 })') },
      { provider: 'b', script: script('two', 'await until("go"); print({ remaining: 5 })') },
    ])
    const picks = [pick(), pick(), pick()]
    await running('one')
    picks.push(pick())
    writeFileSync(file('go'), '')
    expect(await Promise.all(picks)).toEqual([A, A, A, A])
    expect(runs('one')).toHaveLength(1)
    expect(runs('two')).toHaveLength(1)
  })

  it('is not run again before its reading is older than refreshMs', async () => {
    await open([{ provider: 'a', script: script('cached', 'print({ remaining: 5 })'), refreshMs: REFRESH }])
    await pick()
    clock.step(REFRESH - 1)
    await pick()
    expect(runs('cached')).toHaveLength(1)
    clock.step(1)
    await pick()
    expect(runs('cached')).toHaveLength(2)
  })

  it('that gave no reading is not run again before refreshMs either', async () => {
    await open([{ provider: 'a', script: script('failing', 'process.exit(3)'), refreshMs: REFRESH }])
    await pick()
    await pick()
    expect(runs('failing')).toHaveLength(1)
  })

  it('is run again when the clock was set back', async () => {
    await open([{ provider: 'a', script: script('back', 'print({ remaining: 5 })'), refreshMs: REFRESH }])
    await pick()
    clock.step(-24 * 3_600_000)
    await pick()
    expect(runs('back')).toHaveLength(2)
  })

  it('is run once for a hundred sessions that are refused at the same time', async () => {
    out.add('a')
    await open([{ provider: 'a', script: script('storm', 'print({ remaining: 5 })') }, { provider: 'b', script: script('storm-b', 'print({ remaining: 5 })') }])
    const agents: any[] = []
    for (let index = 0; index < 100; index += 1) agents.push(await host.start(`s${index}`))
    for (const agent of agents) agent.followup(user('work'))
    // Whoever moves takes their turn on the target.
    for (const _agent of agents) {
      await settle()
      clock.pass(2 * SPACING_MS)
    }
    await until(() => agents.every(agent => agent.status === 'idle'), 'the end of all')
    await pick()
    expect(agents.flatMap(outcomes)).toEqual(Array.from({ length: 100 }, () => 'completed'))
    expect(runs('storm')).toHaveLength(1)
    expect(runs('storm-b')).toHaveLength(1)
  })

  it('of another pool\'s provider is not run', async () => {
    await open([
      { provider: 'a', script: script('near', 'print({ remaining: 5 })') },
      { provider: 'b', script: script('far', 'print({ remaining: 5 })') },
    ], { pools: { medium: { routes: [A] }, other: { routes: [B] } } })
    await pick()
    expect(runs('near')).toHaveLength(1)
    expect(runs('far')).toHaveLength(0)
  })

  it('says its unit, its maximum, when it resets and what the provider says, and /quota-routes shows them', async () => {
    await open([
      { provider: 'a', script: script('full', 'print({ remaining: 42.5, unit: "credits", maximum: 100, resetsAt: "2026-10-01T00:00:00Z", error: "window closed", more: { deep: true } })'), minimumRemaining: 7 },
      { provider: 'b', script: script('plain', 'print({ remaining: -3, unit: "credits" })'), unit: 'usd' },
    ])
    const agent = await host.start()
    clock.step(30_000)
    const text = await routesText(agent)
    expect(text).toContain('42.5 of 100 credits left')
    expect(text).toContain(`resets ${clockText(Date.parse('2026-10-01T00:00:00Z'))}`)
    expect(text).toContain('the provider says: window closed')
    expect(text).toContain('not chosen below 7')
    expect(text).toContain('-3 usd left')
    expect(text).toContain('> 1. a/m')
  })
})

describe('a script that gives no reading', () => {
  it.each<[string, string, string]>([
    ['ends with another code than 0', 'print({ remaining: 5 }); process.exitCode = 1', 'exit'],
    ['is killed', 'process.kill(process.pid, "SIGKILL"); await new Promise(() => {})', 'exit'],
    ['throws', 'throw new Error("no")', 'exit'],
    ['prints nothing', '', 'output'],
    ['prints no JSON', 'print("remaining: 5")', 'output'],
    ['prints two objects', 'print("{\\"remaining\\":1}\\n{\\"remaining\\":2}\\n")', 'output'],
    ['prints something beside the object', 'print("debug\\n{\\"remaining\\":1}\\n")', 'output'],
    ['prints a list', 'print([{ remaining: 5 }])', 'output'],
    ['prints a bare number', 'print("5")', 'output'],
    ['prints null', 'print("null")', 'output'],
    ['prints NaN', 'print("{\\"remaining\\":NaN}")', 'output'],
    ['prints a number that is none', 'print("{\\"remaining\\":1e999}")', 'output'],
    ['prints a text for the number', 'print({ remaining: "5" })', 'output'],
    ['prints no number at all', 'print({ error: "the key was not accepted" })', 'output'],
    ['prints a megabyte', 'print(JSON.stringify({ padding: "x".repeat(1 << 20), remaining: 5 }))', 'output'],
    ['prints a megabyte before a good end', 'print(" ".repeat(1 << 20) + JSON.stringify({ remaining: 5 }))', 'output'],
  ])('because it %s counts as unread, and the session knows nothing of it', async (_what, body, missing) => {
    await open([{ provider: 'a', script: script('broken', body) }])
    expect(await pick()).toEqual(A)
    expect(report('a')).toMatchObject({ missing: { missing }, grade: 'usable' })
    expect(report('a').reading).toBeUndefined()
    const agent = await host.start()
    await ask(agent)
    expect(outcomes(agent)).toEqual(['completed'])
    expect(host.adapter.routes).toEqual(['a/m'])
    expect(await routesText(agent)).toContain(`no reading (${missing})`)
    expect(host.warnings).toHaveLength(1)
    expect(host.warnings[0]).toContain(`the balance script of a gave no reading (${missing})`)
  })

  it('because there is no such program counts as unread', async () => {
    await open([{ provider: 'a', script: [file('no-such-program')] }])
    expect(await pick()).toEqual(A)
    expect(report('a').missing).toMatchObject({ missing: 'spawn' })
  })

  it.each([
    ['there is no such program', (): [string, ...string[]] => [file('no-such-program')], 'no-such-program'],
    ['its program is not on the PATH', (): [string, ...string[]] => ['no-such-program-anywhere'], 'no-such-program-anywhere'],
    ['its file is not there', (): [string, ...string[]] => [process.execPath, file('gone.mjs'), '--key', 'hush'], 'gone.mjs'],
  ])('because %s is named, and nothing is said of what it printed', async (_what, command, name) => {
    await open([{ provider: 'a', script: command() }])
    await pick()
    expect(report('a').missing).toMatchObject({ missing: 'spawn' })
    expect(host.warnings).toHaveLength(1)
    expect(host.warnings[0]).toContain(`the balance script of a does not exist: `)
    expect(host.warnings[0]).toContain(name)
    expect(host.warnings[0]).not.toMatch(/printed|hush/)
  })

  it('whose file comes later is read then', async () => {
    const command: [string, ...string[]] = [process.execPath, file('late.mjs')]
    await open([{ provider: 'a', script: command, refreshMs: REFRESH }])
    await pick()
    script('late', 'print({ remaining: 5 })')
    clock.step(REFRESH)
    await pick()
    expect(report('a').reading).toMatchObject({ remaining: 5 })
  })

  it('that it gave before is not remembered as if it held', async () => {
    writeFileSync(file('balance'), '{"remaining":5}')
    await open([{ provider: 'a', script: script('flaky', FROM_FILE('balance')), refreshMs: REFRESH }])
    await pick()
    expect(report('a').reading).toMatchObject({ remaining: 5 })
    writeFileSync(file('balance'), 'oops')
    clock.step(REFRESH)
    await pick()
    expect(report('a').reading).toBeUndefined()
    expect(report('a').missing).toMatchObject({ missing: 'output' })
  })

  it('with several providers in trouble is warned of once for each', async () => {
    await open([
      { provider: 'a', script: script('bad-a', 'process.exit(1)'), refreshMs: REFRESH },
      { provider: 'b', script: script('bad-b', 'process.exit(1)'), refreshMs: REFRESH },
    ])
    await pick()
    clock.step(REFRESH)
    await pick()
    expect(host.warnings).toHaveLength(2)
  })
})

describe('a host', () => {
  it('without child processes is told once, and everything else works', async () => {
    out.add('a')
    await open([{ provider: 'a', script: script('never', 'print({ remaining: 5 })') }, { provider: 'b', script: script('never', '') }], {}, { subprocess: false })
    expect(await pick()).toEqual(A)
    clock.step(REFRESH)
    expect(await pick()).toEqual(A)
    const agent = await host.start()
    await ask(agent)
    expect(host.adapter.routes).toEqual(['a/m', 'b/n'])
    expect(outcomes(agent)).toEqual(['completed'])
    expect(await routesText(agent)).toContain('no reading (no-service)')
    expect(host.warnings).toHaveLength(1)
    expect(host.warnings[0]).toContain('no child processes')
    expect(runs('never')).toHaveLength(0)
  })

  it.each<[string, object]>([
    ['has no such credential', { credentials: {} }],
    ['has no credentials at all', { credentials: undefined }],
    ['cannot read its credentials', { credentials: undefined, before: async (ctx: any) => { ctx.provide('credentials', { resolve: async () => { throw new Error('locked') } }) } }],
  ])('that %s warns once, and the script runs without it', async (_what, more) => {
    await open([{ provider: 'a', script: script('keyless', 'print({ remaining: 5 })'), apiKeyEnv: 'NO_SUCH', refreshMs: REFRESH }], {}, more)
    await pick()
    clock.step(REFRESH)
    await pick()
    expect(report('a').reading).toMatchObject({ remaining: 5 })
    expect(runs('keyless').map(run => 'NO_SUCH' in run.env)).toEqual([false, false])
    expect(host.warnings).toHaveLength(1)
    expect(host.warnings[0]).toContain('NO_SUCH')
  })

  it('sends a request without waiting for a script that runs', async () => {
    await open([{ provider: 'a', script: script('slow', 'await until("go"); print({ remaining: 0 })') }])
    const agent = await host.start()
    const routes = routesText(agent)
    await running('slow')
    await ask(agent)
    expect(outcomes(agent)).toEqual(['completed'])
    expect(report('a').reading).toBeUndefined()
    writeFileSync(file('go'), '')
    expect(await routes).toContain('0 left')
  })
})

describe('a route is chosen', () => {
  const reads = (a: number | undefined, b: number | undefined, more: object = {}): object[] => [
    ...a === undefined ? [] : [{ provider: 'a', script: script('a', `print({ remaining: ${a} })`), refreshMs: REFRESH, ...more }],
    ...b === undefined ? [] : [{ provider: 'b', script: script('b', `print({ remaining: ${b} })`), refreshMs: REFRESH }],
  ]

  it('past one that is below its own threshold', async () => {
    await open(reads(4, 4, { minimumRemaining: 5 }))
    expect(await pick()).toEqual(B)
    expect(report('a').grade).toBe('low')
    expect(report('b').grade).toBe('usable')
  })

  it('at its threshold exactly', async () => {
    await open(reads(5, 100, { minimumRemaining: 5 }))
    expect(await pick()).toEqual(A)
  })

  it('past one with nothing left, also where no threshold is set', async () => {
    await open(reads(0, 1))
    expect(await pick()).toEqual(B)
    expect(report('a').grade).toBe('empty')
  })

  it('for another account when nothing is read and failOpen is off', async () => {
    await open(reads(undefined, 1), { failOpen: false })
    expect(await pick()).toEqual(B)
    expect(report('a').grade).toBe('unread')
  })

  it('although it is unread when failOpen is on', async () => {
    await open(reads(undefined, 1))
    expect(await pick()).toEqual(A)
  })

  it('even when none is usable: the first of the pool', async () => {
    await open(reads(0, 0), { failOpen: false })
    expect(await pick()).toEqual(A)
    const agent = await host.start()
    await ask(agent)
    expect(outcomes(agent)).toEqual(['completed'])
  })

  it('with the effort it was configured with, if the host has that, and none for a pool that does not exist', async () => {
    await open(reads(0, 1), { pools: { medium: { routes: [A, { ...B, reasoningEffort: 'high' }] } } })
    expect(await pick()).toEqual(A)
    expect(await host.ctx.llmQuotaRetry.pickRoute('toString')).toBeUndefined()
    expect(await host.ctx.llmQuotaRetry.pickRoute('large')).toBeUndefined()
  })

  it('but a running session is not moved by a reading below its threshold', async () => {
    await open(reads(1, 100, { minimumRemaining: 5 }))
    const agent = await host.start()
    await ask(agent)
    expect(await pick()).toEqual(B)
    await ask(agent, 'more')
    await ask(agent, 'and more')
    expect(host.adapter.routes).toEqual(['a/m', 'a/m', 'a/m'])
  })

  it('for a move by its threshold first, and otherwise with little left rather than not at all', async () => {
    const C = { provider: 'c', model: 'o' }
    out.add('a')
    await open([
      { provider: 'b', script: script('b', 'print({ remaining: 2 })'), minimumRemaining: 5 },
      { provider: 'c', script: script('c', FROM_FILE('c')), refreshMs: REFRESH },
    ], { pools: { medium: { routes: [A, B, C] } } }, { providers: ['a', 'b', 'c'] })
    writeFileSync(file('c'), '{"remaining":9}')
    await pick()
    await ask(await host.start('one'))
    expect(host.adapter.routes).toEqual(['a/m', 'c/o'])
    writeFileSync(file('c'), '{"remaining":0}')
    clock.step(REFRESH)
    await pick()
    await ask(await host.start('two'))
    expect(host.adapter.routes.slice(2)).toEqual(['b/n'])
  })

  it('when a pool is stated, by readings that are there already', async () => {
    await open(reads(1, 100, { minimumRemaining: 5 }))
    await pick()
    const agent = await host.start('s', { provider: 'a', model: 'elsewhere' })
    await host.command(agent, '/quota-pool medium')
    await ask(agent)
    expect(host.adapter.routes).toEqual(['b/n'])
  })
})

describe('a mark of a provider that refused', () => {
  const marked = (): any => report('a').mark
  const source = (more: object = {}): object[] => [{ provider: 'a', script: script('a', FROM_FILE('a')), refreshMs: REFRESH, ...more }]

  it('is not lifted by the reading that its own refusal set off', async () => {
    writeFileSync(file('a'), '{"remaining":50}')
    out.add('a')
    await open(source(), { exhaustedCooldownMs: 100 * REFRESH })
    await ask(await host.start())
    expect(await pick()).toEqual(B)
    expect(report('a').reading).toMatchObject({ remaining: 50 })
    expect(marked()).toBeDefined()
  })

  it('is lifted by one that is taken a whole refreshMs later, and not by one before', async () => {
    writeFileSync(file('a'), '{"remaining":1}')
    await open(source(), { exhaustedCooldownMs: 100 * REFRESH })
    await pick()
    writeFileSync(file('a'), '{"remaining":50}')
    clock.pass(REFRESH / 2)
    out.add('a')
    await ask(await host.start())
    await pick()
    clock.pass(REFRESH / 2)
    // The reading of before the refusal is stale now, and the new one comes half a refreshMs after it.
    expect(await pick()).toEqual(B)
    expect(runs('a')).toHaveLength(2)
    expect(marked()).toBeDefined()
    clock.pass(REFRESH)
    expect(await pick()).toEqual(A)
    expect(marked()).toBeUndefined()
  })

  it('is not lifted by a run that began too early, however late it ends', async () => {
    out.add('a')
    await open([{ provider: 'a', script: script('a', 'await until("go"); print({ remaining: 50 })'), refreshMs: 1_000, timeoutMs: 60_000 }])
    await ask(await host.start())
    await running('a')
    clock.pass(10_000)
    const picked = pick()
    writeFileSync(file('go'), '')
    expect(await picked).toEqual(B)
    expect(report('a').reading).toMatchObject({ remaining: 50 })
    expect(marked()).toBeDefined()
    clock.pass(1_000)
    expect(await pick()).toEqual(A)
  })

  it.each<[string, string, number]>([
    ['nothing', '{"remaining":0}', 0],
    ['less than nothing', '{"remaining":-1}', 0],
    ['less than the threshold', '{"remaining":4}', 5],
    ['no reading', 'oops', 0],
  ])('is never lifted by %s', async (_what, printed, minimumRemaining) => {
    writeFileSync(file('a'), printed)
    out.add('a')
    await open(source({ minimumRemaining }), { exhaustedCooldownMs: 100 * REFRESH })
    await ask(await host.start())
    await pick()
    clock.pass(5 * REFRESH)
    expect(await pick()).toEqual(B)
    expect(runs('a')).toHaveLength(2)
    expect(marked()).toBeDefined()
  })

  it('stays lifted for sessions that start afterwards, and is made anew by the next refusal', async () => {
    writeFileSync(file('a'), '{"remaining":50}')
    out.add('a')
    await open(source(), { exhaustedCooldownMs: 100 * REFRESH })
    await ask(await host.start('one'))
    await pick()
    clock.pass(REFRESH)
    await pick()
    expect(marked()).toBeUndefined()
    await ask(await host.start('two'))
    expect(host.adapter.routes).toEqual(['a/m', 'b/n', 'a/m', 'b/n'])
    expect(marked()).toBeDefined()
  })
})

describe('a preset', () => {
  const KEY = 'sk-preset-key'

  async function deepseek(status: number, body: unknown): Promise<{ url: string; seen: (string | undefined)[] }> {
    const seen: (string | undefined)[] = []
    const server = createServer((request, response) => {
      seen.push(`${request.url} ${request.headers.authorization}`)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    })
    servers.push(server)
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
  }

  const balance = { is_available: true, balance_infos: [{ currency: 'CNY', total_balance: '110.00', granted_balance: '10.00', topped_up_balance: '100.00' }] }

  it.each<[string, (url: string) => object]>([
    ['a variable', url => ({ env: { DEEPSEEK_BASE_URL: url } })],
    ['arguments', url => ({ args: ['--base-url', url] })],
  ])('reads its provider\'s endpoint, which %s may change', async (_how, more) => {
    const { url, seen } = await deepseek(200, balance)
    await open([{ provider: 'a', preset: 'deepseek', timeoutMs: 30_000, ...more(url) }], {}, { credentials: { DEEPSEEK_API_KEY: KEY } })
    expect(await pick()).toEqual(A)
    expect(seen).toEqual([`/user/balance Bearer ${KEY}`])
    expect(report('a').reading).toMatchObject({ remaining: 110, unit: 'cny' })
  })

  it('takes another credential, and the unit of the row', async () => {
    const { url, seen } = await deepseek(200, balance)
    await open([{ provider: 'a', preset: 'deepseek', apiKeyEnv: 'MY_KEY', unit: 'yuan', timeoutMs: 30_000, args: ['--base-url', url] }], {}, { credentials: { MY_KEY: KEY } })
    await pick()
    expect(seen).toEqual([`/user/balance Bearer ${KEY}`])
    expect(report('a').reading).toMatchObject({ remaining: 110, unit: 'yuan' })
  })

  it('whose provider refuses is a missing reading', async () => {
    const { url } = await deepseek(401, { error: { message: 'wrong key' } })
    await open([{ provider: 'a', preset: 'deepseek', timeoutMs: 30_000, args: ['--base-url', url] }], {}, { credentials: { DEEPSEEK_API_KEY: KEY } })
    expect(await pick()).toEqual(A)
    expect(report('a').missing).toMatchObject({ missing: 'exit' })
  })

  it('that does not exist stops the activation and is told what does', async () => {
    host = await rig({ script: answering, plugin: false })
    const said: string[] = []
    const row = {
      name: 'row', inject: QuotaRetry.inject,
      apply: (inner: any) => { QuotaRetry.apply(inner, { pools, balances: [{ provider: 'b', preset: 'moonshot' }, { provider: 'a', preset: 'deepsek' }] }, { sink: (line) => { said.push(line) } }) },
    }
    await expect((async () => { await host.ctx.plugin(row) })()).rejects.toThrow(/"balances\[1\]\.preset" must be one of .*deepseek.*moonshot.*, got "deepsek"/s)
    // A running host drops what its rows throw: the error stream is all that is left.
    expect(said).toEqual([expect.stringMatching(/^llm-quota-retry: the configuration is refused\. "balances\[1\]\.preset" must be one of/)])
  })
})

describe('when the plugin goes', () => {
  it.each<[string, string]>([['a script that runs', HANG], ['one that will not be told', `process.on('SIGTERM', () => {}); ${HANG}`]])('%s goes with it, and who waited goes on', async (_what, body) => {
    await open([{ provider: 'a', script: script('run', body) }])
    const picked = pick()
    const { pid } = await running('run')
    await host.plugin.dispose()
    expect(alive(pid)).toBe(false)
    expect(await picked).toEqual(A)
    expect(host.warnings).toHaveLength(0)
  })

  it('a credential that never comes does not hold it', async () => {
    await open([{ provider: 'a', script: script('locked', ''), apiKeyEnv: 'LOCKED' }], {}, {
      credentials: undefined,
      before: async (ctx: any) => { ctx.provide('credentials', { resolve: () => new Promise(() => {}) }) },
    })
    const picked = pick()
    await host.plugin.dispose()
    expect(await picked).toEqual(A)
    expect(runs('locked')).toHaveLength(0)
  })

  it('and comes back with another configuration, the readings are read anew and the marks hold', async () => {
    out.add('a')
    const balances = [{ provider: 'b', script: script('b', 'print({ remaining: 3 })'), minimumRemaining: 1, refreshMs: REFRESH }]
    await open(balances)
    await ask(await host.start('one'))
    await pick()
    expect(report('b')).toMatchObject({ grade: 'usable', reading: { remaining: 3 } })
    await host.plugin.update({ pools, balances: [{ ...balances[0], minimumRemaining: 5 }] })
    await expect.poll(() => host.ctx.get('llmQuotaRetry')).toBeDefined()
    expect(report('b').reading).toBeUndefined()
    await expect.poll(() => report('a').mark).toBeDefined()
    await pick()
    expect(report('b').grade).toBe('low')
    await ask(await host.start('two'))
    expect(host.adapter.routes).toEqual(['a/m', 'b/n', 'b/n'])
  })

  it('anew while a script runs, only the new one runs on', async () => {
    await open([{ provider: 'a', script: script('old', HANG) }])
    const old = pick()
    const { pid } = await running('old')
    await host.plugin.update({ pools, balances: [{ provider: 'a', script: script('new', 'print({ remaining: 8 })') }] })
    expect(await old).toEqual(A)
    expect(alive(pid)).toBe(false)
    await expect.poll(() => host.ctx.get('llmQuotaRetry')).toBeDefined()
    await pick()
    expect(report('a').reading).toMatchObject({ remaining: 8 })
  })
})

describe('secrets', () => {
  const KEY = 'canary-key-51f2'
  const OUTPUT = 'canary-output-8d3e'
  const ERRORS = 'canary-errors-a07c'
  const LITERAL = 'canary-literal-90bb'

  const bodies: Record<string, string> = {
    'that works': `process.stderr.write('${ERRORS}'); print({ remaining: 5, secret: '${OUTPUT}', key: process.env.THE_KEY })`,
    'that repeats its key in what it may say': `process.stderr.write('${ERRORS}'); print({ remaining: 5, error: 'not accepted: ' + process.env.THE_KEY, unit: process.env.THE_KEY, resetsAt: process.env.THE_KEY })`,
    'that prints no JSON': `process.stderr.write('${ERRORS}'); print('${OUTPUT} ' + process.env.THE_KEY)`,
    'that prints texts for numbers': `print({ remaining: '${OUTPUT}', error: '${OUTPUT}' + process.env.THE_KEY })`,
    'that fails': `process.stderr.write('${ERRORS}' + process.env.THE_KEY); print('${OUTPUT}'); process.exit(1)`,
    'that throws': `throw new Error('${ERRORS}' + process.env.THE_KEY)`,
    'that prints too much': `print('${OUTPUT}'.repeat(20_000))`,
  }

  /** Everything under a folder, as text. */
  const contents = (folder: string): string => readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name)).filter(path => statSync(path).isFile()).map(path => readFileSync(path, 'utf8')).join('\n')

  it.each(Object.keys(bodies).flatMap(name => [[name, true], [name, false]] as const))('of a script %s reach nothing that is kept or shown (logger heard: %s)', async (name, heard) => {
    const logged: unknown[] = []
    out.add('a')
    await open([
      { provider: 'a', script: script('canary', bodies[name]!), apiKeyEnv: 'THE_KEY', env: { LITERAL }, refreshMs: REFRESH },
      { provider: 'b', script: ['/no/such/program', LITERAL], apiKeyEnv: 'THE_KEY', env: { LITERAL }, refreshMs: REFRESH },
    ], {}, {
      credentials: { THE_KEY: KEY },
      script: (request: { provider: string }) => out.has(request.provider) ? new LlmError('402: the words of the provider: insufficient balance', 'QUOTA', { status: 402 }) : say('hi'),
      before: async (ctx: any) => { if (heard) ctx.logger.exporter({ levels: { default: 3 }, export: (message: any) => { logged.push(message.args.map(String)) } }) },
    })
    const agent = await host.start()
    await ask(agent)
    await pick()
    // As long as the mark is there: a reading will lift it.
    const journal = await vi.waitFor(() => {
      const text = contents(join(host.root, 'storages'))
      expect(text).toContain('providerMarked')
      return text
    })
    clock.pass(REFRESH)
    await pick()
    const texts = [
      journal,
      await routesText(agent),
      (await host.command(agent, '/quota-pool status')).result.text,
      (await host.command(agent, '/quota-retry status')).result.text,
      (await host.command(agent, '/quota-routes nowhere')).result.text,
      JSON.stringify(host.ctx.llmQuotaRetry.report()),
      JSON.stringify(host.ctx.llmQuotaRetry.facts(agent.session)),
      JSON.stringify(host.announced.map(({ payload: { session: _session, agent: _agent, ...payload } }) => payload)),
      JSON.stringify(agent.session.events),
      JSON.stringify(logged),
      JSON.stringify(host.ctx.logger.buffer?.map((message: any) => message.args.map(String)) ?? []),
      host.warnings.join('\n'),
    ]
    await host.ctx.sessions.flush(agent.session)
    await host.plugin.dispose()
    texts.push(contents(join(host.root, 'storages')))
    expect(runs('canary')[0]?.env).toMatchObject({ THE_KEY: KEY, LITERAL })
    const everything = texts.join('\n')
    // What is looked for would be found: the provider's own words are there.
    for (const text of [everything, journal]) expect(text).toContain('the words of the provider')
    expect((heard ? logged : host.warnings).length).toBeGreaterThan(0)
    for (const secret of [KEY, OUTPUT, ERRORS, LITERAL]) expect(everything).not.toContain(secret)
  })

  it('in a row that cannot be used are not in the error that says so', async () => {
    const error = await rig({
      root: dir,
      script: answering,
      config: { pools, balances: [{ provider: 'a', script: ['x'], apiKeyEnv: `${KEY} !`, env: { 'BAD NAME': LITERAL, N: 5 as never } }] },
    }).then(() => undefined, (reason: unknown) => reason)
    expect(String(error)).toContain('balances[0].apiKeyEnv')
    expect(String(error)).not.toContain(KEY)
    expect(String(error)).not.toContain(LITERAL)
    host = await rig({ script: answering, plugin: false })
  })
})
