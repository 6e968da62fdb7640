import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { cancelHeadless, runHeadless, startHeadless } from '../../demo/support/dsh.ts'
import { makeHome, quickRetries, type Home } from '../../demo/support/home.ts'
import { refusals, startProvider, type Provider } from '../../demo/support/provider.ts'
import { start } from '../../demo/support/process.ts'
import { readLog } from '../../demo/support/session-log.ts'
import { printConfig, writeBundle } from '../support/bundle.ts'

const answer = { kind: 'answer', text: 'forty-two' } as const
const types = (path: string): string[] => readLog(path).map(row => row.type)

describe('a headless host against the loopback provider', () => {
  let provider: Provider
  let home: Home
  beforeAll(async () => {
    provider = await startProvider({ name: 'main', answer })
    home = await makeHome({
      profile: 'headless',
      providers: { main: { url: provider.url, models: ['small', { id: 'large' }], retryPolicy: quickRetries } },
      defaultModel: { provider: 'main', model: 'large' },
    })
  })
  beforeEach(() => { provider.setAnswer(answer) })
  afterAll(async () => {
    await home.dispose()
    await provider.close()
  })
  const lastLog = (): string => home.sessionLogs().at(-1) ?? ''

  it('prints the answer and ends with 0', async () => {
    const result = await runHeadless(home, 'what is it?')
    expect(result).toMatchObject({ code: 0, signal: null, stdout: 'forty-two\n', stderr: '' })
    const [request] = provider.agentRequests()
    expect(request).toMatchObject({ model: 'large', authorized: true, path: '/v1/chat/completions' })
    expect(provider.requests.map(({ kind }) => kind).sort()).toEqual(['agent', 'title'])
    const rows = readLog(lastLog())
    expect(rows[0]).toMatchObject({ type: 'session', cwd: home.cwd })
    expect(rows.find(row => row.type === 'turn/end')?.data).toMatchObject({ reason: { kind: 'completed' } })
  })

  it('ends with 1 and names the cause when the balance is spent', async () => {
    provider.setAnswer(refusals.insufficientBalance)
    const before = provider.agentRequests().length
    const result = await runHeadless(home, 'what is it?')
    expect(result).toMatchObject({ code: 1, stdout: '\n' })
    expect(result.stderr).toMatch(/^dsh: QUOTA: 402: .*Insufficient Balance/)
    expect(provider.agentRequests().length - before).toBe(1)
    expect(types(lastLog())).toContain('turn/end')
  })

  it('shows the five retries of the host on a throttle', async () => {
    provider.setAnswer(refusals.rateLimited)
    const before = provider.agentRequests().length
    const result = await runHeadless(home, 'what is it?')
    expect(result.code).toBe(1)
    expect(provider.agentRequests().length - before).toBe(6)
    expect(types(lastLog()).filter(type => type === 'llm/retry')).toHaveLength(5)
  })

  it('runs a script that changes its mind', async () => {
    provider.setAnswer((_, index) => index % 2 === 0 ? refusals.serverError : answer)
    const result = await runHeadless(home, 'what is it?')
    expect(result).toMatchObject({ code: 0, stdout: 'forty-two\n' })
  })

  it.each([['SIGINT', 130], ['SIGTERM', 0]] as const)('%s in a request ends with %i and leaves the turn open', async (name, code) => {
    provider.setAnswer({ kind: 'hang' })
    const run = startHeadless(home, 'what is it?')
    const request = await provider.agentRequest(provider.agentRequests().length)
    cancelHeadless(run, name)
    expect(await run.done).toMatchObject({ code, signal: null, stdout: '\n', stderr: '' })
    expect(await request.closed).toBe('aborted')
    expect(types(lastLog())).not.toContain('turn/end')
  })

  it('cancels through a signal, and kills what takes too long', async () => {
    provider.setAnswer({ kind: 'hang' })
    const abort = new AbortController()
    const run = startHeadless(home, 'what is it?', { signal: abort.signal })
    await provider.agentRequest(provider.agentRequests().length)
    abort.abort()
    expect((await run.done).code).toBe(130)
    await expect(runHeadless(home, 'what is it?', { timeoutMs: 300 })).rejects.toThrow('within 300 ms')
  })
})

describe('the row of an installed plugin', () => {
  let dir: string
  let provider: Provider
  let home: Home | undefined
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'printer-'))
    provider = await startProvider({ name: 'main', answer })
  })
  afterEach(async () => {
    await home?.dispose()
    await provider.close()
    rmSync(dir, { recursive: true })
  })
  const printed = (text: string): unknown => JSON.parse(/^config (.*)$/m.exec(text)?.[1] ?? 'null')

  it('gets the config of the profile\'s patch file instead of the bundle\'s own', async () => {
    writeBundle(dir, { name: 'config-printer', source: printConfig, config: { fromBundle: true } })
    home = await makeHome({
      profile: 'headless',
      providers: { main: { url: provider.url, models: ['m'] } },
      defaultModel: { provider: 'main', model: 'm' },
      plugin: { spec: dir, rowId: 'config-printer', config: { fromUser: { deep: [1] } } },
    })
    const result = await runHeadless(home, 'x')
    expect(printed(result.stderr)).toEqual({ fromUser: { deep: [1] } })
    home.configure([])
    expect(printed((await runHeadless(home, 'x')).stderr)).toEqual({ fromBundle: true })
  })
})

describe('a process on the leash', () => {
  it('dies with the one who started it, even by SIGKILL', async () => {
    const module = JSON.stringify(new URL('../../demo/support/process.ts', import.meta.url).href)
    const script = `
      const { start } = await import(${module})
      const child = start(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { cwd: '.', env: {} })
      console.log('child ' + child.process.pid)
    `
    const parent = start(process.execPath, ['--input-type=module', '-e', script], { cwd: tmpdir(), env: {} })
    const pid = Number((await parent.waitFor(/child (\d+)/))[1])
    parent.signal('SIGKILL')
    await parent.exited
    await expect.poll(() => {
      try {
        // A dead child that nobody has reaped yet still answers to signal 0.
        return process.kill(pid, 0) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
      } catch {
        return false
      }
    }).toBe(false)
  })
})

describe('the log reader', () => {
  let dir: string
  beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'log-')) })
  afterEach(() => { rmSync(dir, { recursive: true }) })

  it('reads plain logs and stops at a torn line', () => {
    const path = join(dir, 'session.jsonl')
    writeFileSync(path, '{"type":"session"}\n{"type":"turn/start","seq":0}\n{"type":"tu')
    expect(types(path)).toEqual(['session', 'turn/start'])
    expect(readLog(join(dir, 'absent', 'session.jsonl'))).toEqual([])
  })

  it('gives a prefix of the rows wherever a compressed log is cut', async () => {
    const { zstdCompressSync } = await import('node:zlib')
    const rows = Array.from({ length: 40 }, (_, seq) => ({ type: 'event', seq, text: String(Math.sin(seq)).repeat(30) }))
    const frames = [rows.slice(0, 1), rows.slice(1, 5), rows.slice(5)]
      .map(part => zstdCompressSync(part.map(row => `${JSON.stringify(row)}\n`).join('')))
    mkdirSync(join(dir, 's'))
    const path = join(dir, 's', 'session.jsonl.zstd')
    writeFileSync(path, Buffer.concat(frames))
    expect(readLog(path)).toEqual(rows)
    for (let length = Buffer.concat(frames).length - 1; length >= 0; length--) {
      truncateSync(path, length)
      const read = readLog(path)
      expect(read).toEqual(rows.slice(0, read.length))
    }
  })
})
