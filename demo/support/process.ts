/**
 * A child process that cannot outlive us: its own process group, and a leash
 * that kills the group when this process is gone, however it went.
 */
import { spawn, type ChildProcess } from 'node:child_process'

/** How a process ended. */
export interface Exit { code: number | null; signal: NodeJS.Signals | null }

/** A running child and what it has printed. */
export interface Running {
  process: ChildProcess
  /** Milliseconds since the start. */
  elapsed(): number
  stdout(): string
  stderr(): string
  /** Both streams as they came in. */
  output(): string
  /** Resolves with the match once the output matches; rejects when the process ends first. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends a signal to the process alone, as a terminal or a supervisor would. */
  signal(name: NodeJS.Signals): void
  /** Kills the whole group at once. */
  kill(): void
  exited: Promise<Exit>
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is gone already.
  }
}

/**
 * A pipe to a shell that waits for its end: the pipe closes when this process
 * dies, also by SIGKILL, and no exit handler could do that.
 */
function leash(pid: number): ChildProcess {
  const script = `read -r _; kill -KILL -${pid}`
  const holder = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  // Holding the leash must not keep us alive.
  holder.unref()
  return holder
}

/** Options of {@link start}. */
export interface StartOptions {
  cwd: string
  env: Record<string, string>
  onStdout?: ((text: string) => void) | undefined
  onStderr?: ((text: string) => void) | undefined
}

/**
 * Starts a program.
 * @param file - the executable.
 * @param args - its arguments.
 * @param options - directory, environment and listeners.
 */
export function start(file: string, args: readonly string[], options: StartOptions): Running {
  const begun = performance.now()
  const child = spawn(file, args, { cwd: options.cwd, env: options.env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const held = child.pid === undefined ? undefined : leash(child.pid)
  const text = { stdout: '', stderr: '', both: '' }
  const watchers = new Set<() => void>()
  const wake = (): void => { for (const watcher of [...watchers]) watcher() }
  const collect = (name: 'stdout' | 'stderr', listener: ((chunk: string) => void) | undefined): void => {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk
      text.both += chunk
      listener?.(chunk)
      wake()
    })
  }
  collect('stdout', options.onStdout)
  collect('stderr', options.onStderr)

  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    // A grandchild may hold the pipes open after the exit, so the group goes first and `close` is awaited next.
    child.once('exit', () => {
      killGroup(child.pid)
      held?.kill('SIGKILL')
    })
    child.once('close', (code, signal) => { resolve({ code, signal }) })
  })
  let ended = false
  const end = (): void => {
    ended = true
    wake()
  }
  exited.then(end, end)

  const waitFor = (pattern: RegExp): Promise<RegExpExecArray> => new Promise((resolve, reject) => {
    const look = (): void => {
      const match = pattern.exec(text.both)
      if (match !== null) resolve(match)
      else if (ended) reject(new Error(`ended (${child.exitCode ?? child.signalCode}) before printing ${pattern}:\n${text.both}`))
      else return
      watchers.delete(look)
    }
    watchers.add(look)
    look()
  })
  return {
    process: child,
    elapsed: () => performance.now() - begun,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    output: () => text.both,
    waitFor,
    signal: name => { child.kill(name) },
    kill: () => { killGroup(child.pid) },
    exited,
  }
}
