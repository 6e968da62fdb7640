/** Runs the real pinned host as a process. */
import { dsh, type Home } from './home.ts'
import { isBlockedPort } from './ports.ts'
import { start, type Running } from './process.ts'

/** Options of a headless run. */
export interface HeadlessOptions {
  /** Aborting cancels the run as Ctrl-C does; see {@link cancelHeadless}. */
  signal?: AbortSignal
  onStderr?: (text: string) => void
  /** After this the group is killed and the run rejects; 100 s by default. */
  timeoutMs?: number
}

/** Bound of what takes seconds, in ms, for a machine on which everybody works at once. */
const PATIENCE_MS = 100_000

/** What came of a headless run. */
export interface HeadlessResult {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  durationMs: number
}

/** A headless run under way. */
export interface HeadlessRun extends Running { done: Promise<HeadlessResult> }

/**
 * Starts `dsh --profile headless <task>` and returns at once.
 * @param home - a home of the profile `headless`.
 * @param task - the task text.
 * @param options - see {@link HeadlessOptions}.
 */
export function startHeadless(home: Home, task: string, options: HeadlessOptions = {}): HeadlessRun {
  const limit = options.timeoutMs ?? PATIENCE_MS
  const running = start(dsh, ['--profile', home.profile, task], {
    cwd: home.cwd, env: home.env, onStderr: options.onStderr,
  })
  const cancel = (): void => { cancelHeadless(running) }
  if (options.signal?.aborted === true) cancel()
  options.signal?.addEventListener('abort', cancel, { once: true })
  let late = false
  const timer = setTimeout(() => {
    late = true
    running.kill()
  }, limit)
  const finish = async (): Promise<HeadlessResult> => {
    try {
      const exit = await running.exited
      if (late) throw new Error(`no end of the headless run within ${limit} ms:\n${running.output()}`)
      return { ...exit, stdout: running.stdout(), stderr: running.stderr(), durationMs: running.elapsed() }
    } finally {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', cancel)
    }
  }
  return { ...running, done: finish() }
}

/**
 * Runs one task to its end.
 * @param home - a home of the profile `headless`.
 * @param task - the task text.
 * @param options - see {@link HeadlessOptions}.
 */
export function runHeadless(home: Home, task: string, options: HeadlessOptions = {}): Promise<HeadlessResult> {
  return startHeadless(home, task, options).done
}

/**
 * Cancels a headless run as Ctrl-C does. The pinned host disposes its plugins and
 * ends at once, with 130 after SIGINT and with 0 after SIGTERM, in a request and
 * in a wait alike: it prints an empty line, and the log keeps the open turn
 * without an end. Where a plugin does not let go, the host ends by force after
 * five seconds, or at once on a second signal.
 * @param run - the run to cancel.
 * @param signal - SIGINT by default; SIGTERM is what a supervisor sends.
 */
export function cancelHeadless(run: Running, signal: 'SIGINT' | 'SIGTERM' = 'SIGINT'): void {
  run.signal(signal)
}

/** A running web host. */
export interface WebHost extends Running {
  /** `http://127.0.0.1:<port>`. */
  url: string
  /** Milliseconds from the start to the line that announces the URL. */
  readyMs: number
  /** Stops the host as a supervisor does and resolves when it is gone. */
  stop(): Promise<void>
}

/** Options of {@link startWeb}. */
export interface WebOptions {
  /** A fixed port; a free one by default. */
  port?: number
  /** How long to wait for the host to be ready. */
  timeoutMs?: number
}

/** The page answers, and the process that served it has survived that. */
async function assertServing(running: Running, url: string): Promise<void> {
  const response = await fetch(url)
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}:\n${running.output()}`)
  if (running.process.exitCode !== null) throw new Error(`the web host died after its first answer:\n${running.output()}`)
}

/**
 * Starts `dsh web` and waits until it is ready. The host prints its URL only
 * once its whole tree of plugins has settled, so that line is the event to wait
 * for: a row that fails to load ends the process before it.
 * @param home - a home of the profile `web`.
 * @param options - see {@link WebOptions}.
 */
export async function startWeb(home: Home, options: WebOptions = {}): Promise<WebHost> {
  for (;;) {
    const args = ['--profile', home.profile, '--no-open', '--port', String(options.port ?? 0)]
    const running = start(dsh, args, { cwd: home.cwd, env: home.env })
    const timer = setTimeout(running.kill, options.timeoutMs ?? PATIENCE_MS)
    const stop = async (): Promise<void> => {
      running.signal('SIGTERM')
      // The host gives its own teardown five seconds, and then ends by force.
      const last = setTimeout(running.kill, PATIENCE_MS)
      await running.exited
      clearTimeout(last)
    }
    try {
      const [, url = ''] = await running.waitFor(/dsh web: (http:\/\/\S+)/)
      const readyMs = running.elapsed()
      if (options.port === undefined && isBlockedPort(Number(new URL(url).port))) {
        await stop()
        continue
      }
      await assertServing(running, url)
      return { ...running, url: new URL(url).origin, readyMs, stop }
    } catch (error) {
      running.kill()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}
