import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Context } from '@deepseek-ai/cordis'
import { z } from 'zod'
import type { BalanceConfig, Config } from '../../policy/config.ts'
import { ConfigError } from '../../policy/config.ts'
import { type MissingReading, parseReading, type Reading, type Readings } from '../../policy/pool/readings.ts'
import type { Clock } from '../clock.ts'
import type { Voice } from '../voice.ts'
import { missingFile } from './script-file.ts'

/** Where the scripts that ship with the package stand, seen from `lib/host/pool` as from `src/host/pool`. */
const PRESETS = new URL('../../../balance/', import.meta.url)
/** Most that is read of a script's output, in bytes; a reading is a few dozen. */
const MAX_OUTPUT = 64 * 1024
/** Time from asking a script to end to killing it, in ms. */
const GRACE_MS = 500
/** A shorter key is none, and taking it out of a text would only spoil the text. */
const SHORTEST_KEY = 8

const PresetIndex = z.looseObject({
  presets: z.array(z.looseObject({ name: z.string(), file: z.string(), defaultKeyEnv: z.string() })),
})

/** The command that runs one source. */
interface Command {
  readonly argv: readonly string[]
  /** Name of the credential, and of the variable that carries it. */
  readonly keyEnv: string | undefined
}

/** Told of each new reading; its `at` is here the time at which the run began, since when it can be no older. */
export type ReadingListener = (provider: string, reading: Reading) => void

interface Handle {
  readonly done: Promise<{ exitCode: number | null }>
  readonly collected: { readonly stdout?: { readFrom(offset: number): { text: string; lossy: boolean } } }
}
interface Subprocess {
  spawn(spec: Record<string, unknown>): Handle
}
interface Credentials {
  resolve(name: string): Promise<{ value: string } | undefined>
}

function presetCommand(source: BalanceConfig, index: number): Command {
  const { presets } = PresetIndex.parse(JSON.parse(readFileSync(new URL('index.json', PRESETS), 'utf8')))
  const preset = presets.find(({ name }) => name === source.preset)
  if (preset === undefined) {
    throw new ConfigError([`"balances[${index}].preset" must be one of ${presets.map(({ name }) => name).join(', ')}, got ${JSON.stringify(source.preset)}`])
  }
  const keyEnv = source.apiKeyEnv ?? preset.defaultKeyEnv
  // The script gives up by itself a little before it would be stopped, and can then still say why.
  const patience = Math.max(50, Math.floor(source.timeoutMs * 0.9))
  const file = fileURLToPath(new URL(preset.file, PRESETS))
  return { argv: [process.execPath, file, '--key-env', keyEnv, '--timeout-ms', String(patience), ...source.args ?? []], keyEnv }
}

/** Commands of balance sources by provider. */
export type Commands = ReadonlyMap<string, Command>

/**
 * The command of each balance source.
 *
 * @param config - the deployment.
 * @returns commands by provider.
 * @throws ConfigError for a preset that does not ship.
 */
export function resolveCommands(config: Pick<Config, 'balances'>): Commands {
  return new Map(config.balances.map((source, index) => [
    source.provider,
    source.script === undefined ? presetCommand(source, index) : { argv: source.script, keyEnv: source.apiKeyEnv },
  ]))
}

/** A provider may repeat the key in its refusal, and a script may pass that on; a reading is shown, and so is in logs. */
const withoutKey = (text: string, key: string): string => key.length < SHORTEST_KEY ? text : text.replaceAll(key, '[key]')

/** Runs balance scripts and keeps the last word of each. Nothing that a script prints leaves here but its reading. */
export class Balances {
  private readonly ctx: Context
  private readonly sources: ReadonlyMap<string, BalanceConfig>
  private readonly commands: Commands
  private readonly clock: Clock
  private readonly voice: Voice
  private readonly onReading: ReadingListener
  private readonly lifetime = new AbortController()
  private readonly running = new Map<string, Promise<void>>()
  private readonly children = new Set<Promise<void>>()
  private last: Record<string, Reading | MissingReading> = {}

  /**
   * @param ctx - the plugin's context.
   * @param config - the deployment.
   * @param commands - the command of each of its balance sources.
   * @param clock - for ages and timeouts.
   * @param voice - told once of each source that cannot run.
   * @param onReading - told of each new reading.
   */
  constructor(ctx: Context, config: Pick<Config, 'balances'>, commands: Commands, clock: Clock, voice: Voice, onReading: ReadingListener) {
    this.ctx = ctx
    this.sources = new Map(config.balances.map(source => [source.provider, source]))
    this.commands = commands
    this.clock = clock
    this.voice = voice
    this.onReading = onReading
  }

  /** The last word of each script. */
  get readings(): Readings {
    return this.last
  }

  /**
   * Read again what is older than its `refreshMs`. One run at a time for each provider: a second caller waits for it.
   *
   * @param providers - the providers to look at; those without a source are passed over.
   * @returns when each run ended, which its `timeoutMs` bounds. Never rejects.
   */
  async refresh(providers: Iterable<string>): Promise<void> {
    await Promise.all([...new Set(providers)].map(provider => this.refreshOne(provider)))
  }

  /** Say which scripts do not exist, before anybody needs their reading. */
  check(): void {
    for (const [provider, { argv }] of this.commands) this.missing(provider, argv)
  }

  /** @returns whether a part of a provider's command does not exist, which is said once. */
  private missing(provider: string, argv: readonly string[]): boolean {
    const file = missingFile(argv)
    if (file !== undefined) this.voice.warn(`balance-file-${provider}`, `the balance script of ${provider} does not exist: ${file}. Its routes count as unread until it does.`)
    return file !== undefined
  }

  /** Stop every script that runs and wait for it to end. */
  async close(): Promise<void> {
    this.lifetime.abort()
    await Promise.allSettled([...this.running.values(), ...this.children])
  }

  private refreshOne(provider: string): Promise<void> {
    const source = this.sources.get(provider)
    if (source === undefined || this.lifetime.signal.aborted) return Promise.resolve()
    const running = this.running.get(provider)
    if (running !== undefined) return running
    const last = Object.hasOwn(this.last, provider) ? this.last[provider] : undefined
    const age = last === undefined ? undefined : this.clock.now() - last.at
    // A reading from the future was taken before the clock was set back, and may be as old as it likes.
    if (age !== undefined && age >= 0 && age < source.refreshMs) return Promise.resolve()
    const run = this.read(provider, source).finally(() => { this.running.delete(provider) })
    this.running.set(provider, run)
    return run
  }

  private async read(provider: string, source: BalanceConfig): Promise<void> {
    const began = this.clock.now()
    const found = await this.run(source).catch((): MissingReading => ({ missing: 'spawn', at: this.clock.now() }))
    if (this.lifetime.signal.aborted) return
    this.last = { ...this.last, [provider]: found }
    if (!('missing' in found)) this.onReading(provider, { ...found, at: began })
    else if (found.missing === 'spawn' && this.missing(provider, this.commands.get(provider)?.argv ?? [])) return
    else if (found.missing === 'no-service') this.voice.warn('no-subprocess', 'this host runs no child processes, so balance scripts give no readings.')
    else this.voice.warn(`balance-${provider}`, `the balance script of ${provider} gave no reading (${found.missing}); its routes count as unread. What it printed is not logged: run it by hand to see.`)
  }

  private async run(source: BalanceConfig): Promise<Reading | MissingReading> {
    const subprocess = this.ctx.get('subprocess' as never) as Subprocess | undefined
    const command = this.commands.get(source.provider)
    if (subprocess === undefined || command === undefined) return { missing: 'no-service', at: this.clock.now() }
    // A program would fail in its own words, which are not for a log.
    if (missingFile(command.argv) !== undefined) return { missing: 'spawn', at: this.clock.now() }
    const timeout = new AbortController()
    const signal = AbortSignal.any([timeout.signal, this.lifetime.signal])
    let onAbort = (): void => {}
    const late = new Promise<'late'>((resolve) => { onAbort = () => { resolve('late') } })
    signal.addEventListener('abort', onAbort, { once: true })
    const cancel = this.clock.after(() => { timeout.abort() }, source.timeoutMs)
    try {
      const key = await Promise.race([this.credential(command.keyEnv), late])
      if (key === 'late') return this.readingOf(undefined, 'late', source)
      const handle = subprocess.spawn({
        argv: command.argv, cwd: process.cwd(), env: { ...source.env, ...key }, graceMs: GRACE_MS, signal,
        // Of the error stream nothing is wanted, and the service knows no other way to have it dropped.
        stdio: { stdin: 'ignore', stdout: { maxBytes: MAX_OUTPUT }, stderr: { maxBytes: 1 } },
      })
      this.track(handle.done)
      // A script that does not let go is killed behind our back; whoever waits for the reading does not wait for that.
      const ended = await Promise.race([handle.done, late])
      return this.readingOf(handle, ended, source, Object.values(key)[0])
    } finally {
      cancel()
      // A signal made of others lives as long as they do while anybody listens to it: one a minute for days.
      signal.removeEventListener('abort', onAbort)
    }
  }

  private readingOf(handle: Handle | undefined, ended: { exitCode: number | null } | 'late', source: BalanceConfig, key = ''): Reading | MissingReading {
    const at = this.clock.now()
    if (ended === 'late') return { missing: 'timeout', at }
    if (ended.exitCode !== 0) return { missing: 'exit', at }
    const output = handle?.collected.stdout?.readFrom(0)
    const reading = output === undefined || output.lossy ? undefined : parseReading(output.text, at, text => withoutKey(text, key))
    if (reading === undefined) return { missing: 'output', at }
    return source.unit === undefined ? reading : { ...reading, unit: source.unit }
  }

  private track(done: Promise<unknown>): void {
    const tracked = done.catch(() => {}).then(() => { this.children.delete(tracked) })
    this.children.add(tracked)
  }

  /** Resolved anew at every run, so that a rotated key reaches the next one; never kept. */
  private async credential(name: string | undefined): Promise<Record<string, string>> {
    if (name === undefined) return {}
    const credentials = this.ctx.get('credentials' as never) as Credentials | undefined
    const resolved = await credentials?.resolve(name).catch(() => undefined)
    if (resolved === undefined) {
      this.voice.warn(`credential-${name}`, `no credential is configured for ${name}; the balance script runs without it.`)
      return {}
    }
    return { [name]: resolved.value }
  }
}
