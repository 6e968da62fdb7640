/**
 * Several real hosts on one home, where a session waits that an earlier host left: it is to go on exactly once, and its
 * log must load.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startWeb } from '../../demo/support/dsh.ts'
import { binDir, type Home, makeHome } from '../../demo/support/home.ts'
import { type Running, start } from '../../demo/support/process.ts'
import { refusals, startProvider } from '../../demo/support/provider.ts'
import { readLog } from '../../demo/support/session-log.ts'
import { connectWeb } from '../../demo/support/web-api.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const CONTINUATION = 'Please go on.'
/** Longest takeover, with the start of a host on a busy machine, in ms. */
const PATIENCE_MS = 90_000
/** Time in which a second host would go on as well, in ms. */
const AFTERWARDS_MS = 4_000

/** How the hosts come to be on one home. */
export const ARRANGEMENTS = ['same moment', 'up to 800 ms apart', 'two pid namespaces', 'rolling replacement', 'dead owner with a reused id'] as const
/** How the hosts come to be on one home. */
export type Arrangement = typeof ARRANGEMENTS[number]

/** What came of a trial. */
export interface Trial {
  /** Times that the session was continued. */
  readonly continued: number
  /** Whether the numbers of its events are without a gap, as a host asks when it loads it. */
  readonly loads: boolean
  readonly completed: boolean
  /** Ms from the first start, or from the end of the host before, to the end of the continued turn. */
  readonly tookMs: number
}

/** Whether this machine lets a process have a namespace of its own. */
export const hasNamespaces = (): boolean => spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0

const pause = (ms: number): Promise<void> => new Promise((resolve) => { setTimeout(resolve, ms) })
const webArgs = ['--profile', 'web', '--no-open', '--port', '0']
const launch = (home: Home): Running => start(join(binDir, 'dsh'), webArgs, { cwd: home.cwd, env: home.env })
const launchApart = (home: Home): Running =>
  start('unshare', ['--pid', '--fork', '--kill-child', '--mount-proc', join(binDir, 'dsh'), ...webArgs], { cwd: home.cwd, env: home.env })

const events = (home: Home): any[] => home.sessionLogs().flatMap((path) => {
  try {
    return readLog(path) as any[]
  } catch {
    // A frame that is being written.
    return []
  }
})
const isContinuation = ({ type, data }: any): boolean => type === 'user/message' && JSON.stringify(data).includes(CONTINUATION)
const isEnd = ({ type, data }: any): boolean => type === 'turn/end' && data.reason.kind === 'completed'
const ownerFiles = (home: Home): string[] => readdirSync(join(home.dir, 'storages', 'llm_quota_retry_owner')).filter(name => /^\d+$/.test(name)).map(name => join(home.dir, 'storages', 'llm_quota_retry_owner', name))

/** The number of the dead owner belongs to this very process now. */
function reuse(home: Home): void {
  for (const file of ownerFiles(home)) writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), pid: process.pid }))
}

/**
 * Make one trial.
 *
 * @param arrangement - how the hosts come to be on one home.
 * @param random - a number from 0 to 1, for the time in between.
 */
export async function trial(arrangement: Arrangement, random: number): Promise<Trial> {
  await using stack = new AsyncDisposableStack()
  const provider = await startProvider({ name: 'a', answer: refusals.insufficientBalance })
  stack.defer(() => provider.close())
  const home = await makeHome({
    profile: 'web', providers: { a: { url: provider.url, models: ['m'] } }, defaultModel: { provider: 'a', model: 'm' },
    plugin: { spec: root, config: { resumeDelaySeconds: 0, longTermDelayMs: 1_500, continuation: CONTINUATION } },
  })
  stack.defer(() => home.dispose())
  const first = await startWeb(home)
  const api = await connectWeb(first.url)
  const session = await api.createSession()
  await api.prompt(session, 'work')
  const journal = (): string => { try { return readFileSync(join(home.dir, 'storages', 'llm_quota_retry.json'), 'utf8') } catch { return '' } }
  while (!(journal().includes(session) && events(home).some(({ type }) => type === 'llm/retry'))) await pause(20)
  const hosts: Running[] = []
  stack.defer(async () => {
    for (const host of [first, ...hosts]) host.kill()
    await Promise.all([first, ...hosts].map(host => host.exited))
  })
  let begun = performance.now()
  if (arrangement === 'rolling replacement') {
    hosts.push(launch(home))
    await hosts[0]!.waitFor(/dsh web: /)
    // Nothing is owed before the old host goes.
    begun = performance.now()
    first.signal('SIGTERM')
    await first.exited
    provider.setAnswer({ kind: 'answer', text: 'back again' })
  } else {
    first.process.kill('SIGKILL')
    await first.exited
    provider.setAnswer({ kind: 'answer', text: 'back again' })
    if (arrangement === 'dead owner with a reused id') reuse(home)
    const how = arrangement === 'two pid namespaces' ? launchApart : launch
    begun = performance.now()
    hosts.push(how(home))
    if (arrangement === 'up to 800 ms apart') await pause(800 * random)
    if (arrangement !== 'dead owner with a reused id') hosts.push(how(home))
  }
  api.close()
  while (!events(home).some(isEnd) && performance.now() - begun < PATIENCE_MS) await pause(50)
  const tookMs = Math.round(performance.now() - begun)
  await pause(AFTERWARDS_MS)
  const log = events(home).filter(({ seq }) => seq !== undefined)
  return {
    continued: log.filter(isContinuation).length, completed: log.some(isEnd), tookMs,
    loads: log.length > 0 && log.every(({ seq }, index) => seq === log[0].seq + index),
  }
}
