/** Whatever is wrong with the storage: failures are answered, nothing is overwritten, one line says what to do, and it catches up. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { foldJournal } from '../../src/reducers/journal.ts'
import { type Faults, mountFaultyStorage, systemError } from '../support/faulty-storage.ts'
import { eventsOf, fakeTime, pass, passUntil, type Rig, rig, say, spent, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
let root: string
let faults: Faults
let unmount: () => Promise<void>
const hosts: Rig[] = []
const stack: (() => void)[] = []

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quota-rig-'))
  await mkdir(join(root, 'storages'))
  faults = {}
  fakeTime()
})
afterEach(async () => {
  // The medium looks at this very object: whatever is written from here on must not hang again.
  faults.put = undefined
  faults.open = undefined
  for (const undo of stack.splice(0)) undo()
  for (const host of hosts.splice(0)) await host.dispose()
  vi.useRealTimers()
  await rm(root, { recursive: true, force: true })
})

const file = (name = 'llm_quota_retry'): string => join(root, 'storages', `${name}.json`)
const SPARE = 'llm_quota_retry_spare'
const textOf = (name?: string): string => existsSync(file(name)) ? readFileSync(file(name), 'utf8') : ''
const claimFile = (number = 1): string => join(root, 'storages', 'llm_quota_retry_owner', String(number))
const journalOf = (name?: string): any => JSON.parse(textOf(name)).tables.journal
const indexed = (name?: string): string[] => textOf(name) === '' ? [] : Object.keys(foldJournal(journalOf(name).waiting?.records ?? []).waiting)
const aboutStorage = (host: Rig): string[] => host.warnings.filter(line => line.includes('journal'))

/** A host on faulty storage; the provider refuses until it is told otherwise. */
async function open(answers: () => boolean = () => false, config: object = {}): Promise<Rig> {
  const host = await rig({
    root, storage: false, config: { resumeDelaySeconds: 0, ...config },
    script: () => answers() ? say('done') : spent(),
    before: async (ctx) => { unmount = await mountFaultyStorage(ctx, join(root, 'storages'), faults) },
  })
  hosts.push(host)
  return host
}

/** A session that waits. */
async function waits(host: Rig, id = 's1'): Promise<any> {
  const agent = await host.start(id)
  agent.followup(user('work'))
  await until(() => eventsOf(agent, 'llm/retry').length > 0, 'the wait')
  return agent
}

const close = async (): Promise<void> => { await hosts.pop()!.dispose() }

/** A journal in which a session waits, written by a host that is gone. */
async function left(id = 's1'): Promise<void> {
  await waits(await open(), id)
  await until(() => indexed().includes(id), 'the index')
  await close()
}

const continued = (agent: any): number => eventsOf(agent, 'user/message').filter(event => event.data.source?.kind === 'plugin').length
/** The session that waited in an earlier life of the host is continued. */
const goesOn = (host: Rig): Promise<void> => passUntil(() => agentOf(host, 's1') !== undefined && continued(agentOf(host, 's1')) === 1, 'the continuation')
const agentOf = (host: Rig, id: string): any => host.ctx.agents.get(id)

describe.each([['read-only', 'EROFS'], ['full', 'ENOSPC'], ['failing', 'EIO']])('a medium that is %s', (_what, code) => {
  it('costs no answer and one line, and is caught up with when it is well again, without anything new to write', async () => {
    let flowing = false
    const host = await open(() => flowing)
    faults.put = () => { throw systemError(code) }
    const agent = await waits(host)
    await until(() => aboutStorage(host).length > 0, 'the line')
    await waits(host, 's2')
    expect(indexed()).toEqual([])
    faults.put = undefined
    await pass(MINUTE)
    await until(() => indexed().length === 2, 'the index')
    flowing = true
    await pass(HOUR)
    await agent.whenIdle()
    expect(eventsOf(agent, 'turn/end')[0].data.reason.kind).toBe('completed')
    expect(aboutStorage(host)).toEqual([expect.stringMatching(new RegExp(`${code}.*space and the permissions`))])
    expect(host.warnings.join()).not.toContain('/a/path')
  })
})

const NEWER = JSON.stringify({ unit: { name: 'llm_quota_retry', version: 7 }, global: null, tables: { journal: {} } })

describe.each([
  ['that is no JSON', '{"this is": not json', 'malformed-medium'],
  ['of another unit', '{"unit":{"name":"else","version":0},"tables":{}}', 'malformed-medium'],
  ['of a newer version', NEWER, 'version-mismatch'],
  ['that is empty', '', 'malformed-medium'],
])('a file %s', (_what, text, code) => {
  it('is left to the letter, and a second one takes over until it is mended', async () => {
    await writeFile(file(), text)
    let flowing = false
    const first = await open(() => flowing)
    await waits(first)
    await until(() => indexed(SPARE).includes('s1'), 'the index in the spare')
    expect(aboutStorage(first)).toEqual([expect.stringMatching(new RegExp(`${code}.*"llm_quota_retry".*${SPARE}`))])
    await close()
    expect(readFileSync(file(), 'utf8')).toBe(text)
    // The next start reads the spare, and takes the run up from it.
    flowing = true
    const second = await open(() => flowing)
    await until(() => aboutStorage(second).length > 0, 'the line')
    await goesOn(second)
    await agentOf(second, 's1').whenIdle()
    expect(readFileSync(file(), 'utf8')).toBe(text)
  })

  it('that is moved away gives its place back, with all that was written meanwhile', async () => {
    await writeFile(file(), text)
    await waits(await open())
    await until(() => indexed(SPARE).includes('s1'), 'the index in the spare')
    await close()
    await rm(file())
    const second = await open()
    await until(() => indexed().includes('s1') && indexed(SPARE).length === 0, 'the index in its own place')
    expect(aboutStorage(second)).toEqual([])
  })
})

describe('one bad value in the file', () => {
  it('is kept under a new name, the rest is read, and its place is used again', async () => {
    await left()
    const document = JSON.parse(textOf())
    document.tables.journal.marks = { records: 'not a list', note: 'somebody\'s' }
    await writeFile(file(), JSON.stringify(document))
    const host = await open()
    await waits(host, 's2')
    await until(() => indexed().includes('s2') && textOf().includes('providerMarked'), 'the journal')
    expect(journalOf().marks_unreadable_1).toEqual({ records: 'not a list', note: 'somebody\'s' })
    expect(indexed()).toContain('s1')
    expect(aboutStorage(host)).toEqual([])
  })

  it('is never overwritten where it cannot be kept aside', async () => {
    const document = { unit: { name: 'llm_quota_retry', version: 0 }, global: null, tables: { journal: { waiting: 5 } } }
    await writeFile(file(), JSON.stringify(document))
    faults.put = (_name, key) => { if (key.includes('unreadable')) throw systemError('ENOSPC') }
    const host = await open()
    await waits(host)
    await until(() => aboutStorage(host).length > 0, 'the line')
    expect(JSON.parse(textOf())).toEqual(document)
    faults.put = undefined
    await pass(MINUTE)
    await until(() => indexed().includes('s1'), 'the index')
    expect(journalOf().waiting_unreadable_1).toBe(5)
  })
})

/** A process that stands for another host: it claims the home and then does nothing but live, until it is told to end. */
async function otherHost(): Promise<{ pid: number; end(): Promise<void> }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../support/other-host.ts', import.meta.url)), join(root, 'storages')], { stdio: ['pipe', 'pipe', 'ignore'] })
  stack.push(() => { child.kill('SIGKILL') })
  await once(child.stdout, 'data')
  return {
    pid: child.pid!,
    async end() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

describe('a second host on the same home', () => {
  it('leaves the journal and the waiting sessions to the first, says so once, and takes over when that is gone', async () => {
    await left()
    // The host that left it has ended, and not only its plugin.
    await rm(join(root, 'storages', 'llm_quota_retry_owner'), { recursive: true })
    const first = await otherHost()
    const before = textOf()
    const second = await open()
    await waits(second, 's2')
    await until(() => aboutStorage(second).length > 0, 'the line')
    await pass(10 * MINUTE)
    expect(textOf()).toBe(before)
    expect(agentOf(second, 's1')).toBeUndefined()
    expect(aboutStorage(second)).toEqual([expect.stringMatching(new RegExp(`process ${first.pid} on .*DSH_HOME`))])
    await first.end()
    await passUntil(() => indexed().length === 2, 'both in the index', 1_000)
    await goesOn(second)
  })

  it('that took over from this one while it stood still is left the journal and the runs', async () => {
    await left()
    const first = await open(() => false, { resumeDelaySeconds: 3_600 })
    await waits(first, 's3')
    await until(() => indexed().includes('s3'), 'the index')
    // As whoever takes over does: the next number.
    await writeFile(claimFile(3), JSON.stringify({ ...JSON.parse(readFileSync(claimFile(2), 'utf8')), id: 'another', boot: 'of another machine' }))
    const before = textOf()
    await waits(first, 's2')
    await until(() => aboutStorage(first).length > 0, 'the line')
    for (let minutes = 0; minutes < 120; minutes += 1) {
        const now = new Date()
      await utimes(claimFile(3), now, now)
      await pass(MINUTE)
    }
    expect(textOf()).toBe(before)
    expect(agentOf(first, 's1')).toBeUndefined()
    expect(aboutStorage(first)[0]).toMatch(/took its journal over/)
  })
})

/** The machine has been up for longer than it has. */
function uptimeLater(ms: number): { mockRestore(): void } {
  const real = process.hrtime.bigint.bind(process.hrtime)
  const later = vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => real() + BigInt(ms) * 1_000_000n)
  stack.push(() => { later.mockRestore() })
  return later
}

describe('a write that hangs', () => {
  it('holds nothing up but the journal, is spoken of once, and is caught up with when it ends', async () => {
    let flowing = false
    const host = await open(() => flowing)
    let release = (): void => {}
    const hang = new Promise<void>((resolve) => { release = resolve })
    stack.push(release)
    let hangs = false
    faults.put = () => { hangs = true; return hang }
    const agent = await waits(host)
    await until(() => hangs, 'the write that hangs')
    const later = uptimeLater(MINUTE)
    await waits(host, 's2')
    later.mockRestore()
    expect(aboutStorage(host)).toEqual([expect.stringContaining('not ended after 30 seconds')])
    flowing = true
    await pass(HOUR)
    await agent.whenIdle()
    expect(eventsOf(agent, 'turn/end')[0].data.reason.kind).toBe('completed')
    flowing = false
    const third = await waits(host, 's3')
    faults.put = undefined
    release()
    await until(() => indexed().includes('s3'), 'the index')
    expect(aboutStorage(host)).toHaveLength(1)
    third.cancel({ kind: 'user' })
    await third.whenIdle()
  })

  it('is not spoken of where every write ends, however late the first one comes', async () => {
    // A host that has been up for an hour before anything is refused.
    uptimeLater(HOUR)
    const host = await open()
    for (const id of ['s1', 's2', 's3']) await waits(host, id)
    await until(() => indexed().length === 3, 'the index')
    expect(aboutStorage(host)).toEqual([])
  })

  it('is spoken of also where nothing more comes to be written', async () => {
    const host = await open()
    let release = (): void => {}
    const hang = new Promise<void>((resolve) => { release = resolve })
    stack.push(release)
    let hangs = false
    faults.put = () => { hangs = true; return hang }
    await waits(host)
    await until(() => hangs, 'the write that hangs')
    await pass(MINUTE)
    // The time that counts is the machine's own: half a minute of it has not passed.
    expect(aboutStorage(host)).toEqual([])
    const later = uptimeLater(MINUTE)
    await pass(MINUTE)
    later.mockRestore()
    expect(aboutStorage(host)).toEqual([expect.stringContaining('not ended after 30 seconds')])
  })

  it('does not hold up the end of the plugin', async () => {
    const host = await open()
    faults.put = () => new Promise((resolve) => { stack.push(resolve) })
    await waits(host)
    const disposed = host.plugin.dispose()
    await pass(MINUTE)
    await disposed
  })
})

describe('an open that fails for now', () => {
  it('is tried again every minute, and then what waited before the restart goes on', async () => {
    await left()
    faults.open = () => { throw systemError('EACCES') }
    const host = await open()
    await until(() => aboutStorage(host).length > 0, 'the line')
    await pass(5 * MINUTE)
    faults.open = undefined
    await pass(MINUTE)
    await goesOn(host)
    expect(aboutStorage(host)).toEqual([expect.stringMatching(/EACCES.*every minute/)])
  })

  it('and that hangs does not hold up the end of the plugin', async () => {
    faults.open = () => new Promise((resolve) => { stack.push(resolve) })
    const host = await open()
    await waits(host)
    const disposed = host.plugin.dispose()
    await pass(MINUTE)
    await disposed
  })
})

describe('storage that comes late, or goes and comes back', () => {
  it('is written to, and read once', async () => {
    await left()
    const host = await rig({ root, storage: false, config: { resumeDelaySeconds: 0 }, script: () => spent() })
    hosts.push(host)
    await waits(host, 's2')
    unmount = await mountFaultyStorage(host.ctx, join(root, 'storages'), faults)
    await until(() => indexed().length === 2, 'both in the index')
    for (const id of ['s3', 's4']) {
      await unmount()
      await waits(host, id)
      unmount = await mountFaultyStorage(host.ctx, join(root, 'storages'), faults)
      await until(() => indexed().includes(id), 'the index')
    }
    await goesOn(host)
    await pass(2 * HOUR)
    expect(continued(agentOf(host, 's1'))).toBe(1)
    expect(aboutStorage(host)).toEqual([])
  })
})
