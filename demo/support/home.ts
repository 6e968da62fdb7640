/**
 * A throw-away home of the host: settings, one profile, optionally this plugin.
 *
 * How a user configures the row of an installed plugin on the pinned host: the
 * profile's own patch file, `$DSH_HOME/profiles/<profile>/cordis.patch.yml`, a
 * list of `{id: <row id>, config: {...}}`. It is applied after every bundle, so
 * it wins over the `config` in the bundle's own `cordis.patch.yml`, and it
 * replaces that `config` as a whole instead of merging into it. Above it stand
 * `$DSH_HOME/cordis.patch.yml` (the same format, for all profiles) and
 * `dsh --patch <file>`. `settings.yaml` does not reach rows. The files are YAML;
 * JSON is written here because it is YAML too.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { refusedLater } from './loads-later.ts'
import { findLogs } from './session-log.ts'
import { installOnce } from './templates.ts'

const execFileAsync = promisify(execFile)

/** Binaries of this checkout: the pinned host, Node 24 and pnpm. */
export const binDir = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))

/** A host built by `scripts/host-next.mjs`, which the suite and the demo then run on; the pinned one otherwise. */
const { DSH_HOST } = process.env

/** The command of the host. */
export const dsh = join(DSH_HOST === undefined || DSH_HOST === '' ? binDir : join(DSH_HOST, 'bin'), 'dsh')

/** A model entry of a provider; a bare string is its id. */
export type ModelSpec = string | { id: string; [field: string]: unknown }

/** One provider of the settings, served over OpenAI chat completions. */
export interface ProviderSpec {
  /** Base URL, as in `Provider.url` of the loopback provider. */
  url: string
  models: readonly ModelSpec[]
  /** Further fields of the provider's settings, for instance `retryPolicy: quickRetries`. */
  [field: string]: unknown
}

/** One entry of the profile's patch file. */
export interface RowPatch { id: string; config?: unknown; disabled?: boolean; [field: string]: unknown }

/** Options of {@link makeHome}. */
export interface HomeOptions {
  profile: 'headless' | 'web'
  /** Providers by the name the host will know them under. */
  providers: Record<string, ProviderSpec>
  defaultModel: { provider: string; model: string }
  /** A plugin to install: a directory (linked) or a tarball (copied), and its row's config. */
  plugin?: { spec: string; config?: unknown; rowId?: string }
  /** `always` runs the real install where a copy of an installed profile would do. */
  install?: 'always'
  /** Further row patches, for instance to disable a row of the host. */
  patches?: readonly RowPatch[]
  /** Further settings namespaces. */
  settings?: Record<string, unknown>
  /** Further environment variables. */
  env?: Record<string, string>
}

/** A home on disk. */
export interface Home {
  /** `$DSH_HOME`. */
  dir: string
  /** An empty directory to run the host in. */
  cwd: string
  profile: 'headless' | 'web'
  /** The whole environment of the host; nothing of the caller's keys is in it. */
  env: Record<string, string>
  /** Paths of all session logs, oldest first. */
  sessionLogs(): string[]
  /** Writes the profile's patch file anew; a running host picks it up. */
  configure(patches: readonly RowPatch[]): void
  /**
   * The same for a running host, until it is seen to have taken it: one that has just started, on a busy machine, may not
   * watch its files yet. It leaves a file alone that says what it said before.
   */
  reconfigure(patches: readonly RowPatch[], taken: () => boolean | Promise<boolean>): Promise<void>
  /** Runs `dsh plugin --profile <profile> <args>`, for instance `['remove', name]`. */
  plugin(args: readonly string[]): Promise<void>
  /** Removes everything. Rejects when newer hosts would not load a session that was logged here. */
  dispose(): Promise<void>
}

/**
 * A `retryPolicy` for a provider that keeps the host's own five retries but does
 * not make a test wait the usual quarter of a minute for them.
 */
export const quickRetries = { mode: 'normal', backoff: { initialDelayMs: 5, maxDelayMs: 5 } } as const

/** Row id of this package's bundle. */
export const defaultRowId = 'llm-quota-retry'

const keyEnv = 'LOOPBACK_PROVIDER_KEY'
// Only what a program needs to run: the caller's real keys must not be reachable from a test.
const passedOn = ['LANG', 'LC_ALL', 'TMPDIR', 'TZ', 'SHELL', 'USER']

function baseEnv(root: string): Record<string, string> {
  const env: Record<string, string> = {
    PATH: `${binDir}${delimiter}${process.env.PATH ?? ''}`,
    HOME: root,
    DSH_HOME: join(root, 'dsh'),
    DSH_TELEMETRY_DISABLED: '1',
    [keyEnv]: 'not-a-real-key',
    NO_COLOR: '1',
  }
  for (const name of passedOn) {
    const value = process.env[name]
    if (value !== undefined) env[name] = value
  }
  return env
}

function settingsOf(options: HomeOptions): Record<string, unknown> {
  const providers = Object.entries(options.providers).map(([name, { url, models, ...more }]) => [name, {
    api: 'openai-completions',
    baseURL: url,
    apiKeyEnv: keyEnv,
    models: models.map(model => typeof model === 'string' ? { id: model } : model),
    ...more,
  }] as const)
  return {
    'llm-pi-ai': { providers: Object.fromEntries(providers) },
    'agent-default-model': options.defaultModel,
    ...options.settings,
  }
}

function rowPatches(options: HomeOptions): RowPatch[] {
  const patches = [...options.patches ?? []]
  const plugin = options.plugin
  if (plugin?.config !== undefined) patches.push({ id: plugin.rowId ?? defaultRowId, config: plugin.config })
  return patches
}

const undisposed = new Set<string>()
process.on('exit', () => {
  for (const root of undisposed) rmSync(root, { recursive: true, force: true })
})

/**
 * Makes a home with settings, and installs the plugin when one is given.
 * @param options - see {@link HomeOptions}.
 */
export async function makeHome(options: HomeOptions): Promise<Home> {
  // Resolved, because the host names log directories after the real path.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-home-')))
  undisposed.add(root)
  const env = { ...baseEnv(root), ...options.env }
  const dir = join(root, 'dsh')
  const cwd = join(root, 'work')
  const profileDir = join(dir, 'profiles', options.profile)
  mkdirSync(cwd)
  mkdirSync(dir)
  writeFileSync(join(dir, 'settings.yaml'), JSON.stringify(settingsOf(options), null, 2))

  const plugin = async (args: readonly string[]): Promise<void> => {
    // pnpm finds its store through the caller's own home, and must not ask a registry for what is in it.
    const installEnv = { ...process.env, ...env, HOME: process.env.HOME, npm_config_prefer_offline: 'true' }
    await execFileAsync(dsh, ['plugin', '--profile', options.profile, ...args], { cwd, env: installEnv })
  }
  const configure = (patches: readonly RowPatch[]): void => {
    mkdirSync(profileDir, { recursive: true })
    writeFileSync(join(profileDir, 'cordis.patch.yml'), JSON.stringify(patches, null, 2))
  }
  const reconfigure = async (patches: readonly RowPatch[], taken: () => boolean | Promise<boolean>): Promise<void> => {
    do {
      configure(patches)
      await pause(250)
    } while (!await taken())
  }
  const dispose = async (): Promise<void> => {
    const refused = refusedLater(join(dir, 'sessions'))
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    undisposed.delete(root)
    if (refused.length > 0) throw new Error(`newer hosts would not load what was logged:\n${refused.join('\n')}`)
  }
  try {
    if (options.plugin !== undefined) {
      const { spec } = options.plugin
      const install = (): Promise<void> => plugin(['add', spec])
      await (options.install === 'always' ? install() : installOnce(profileDir, options.profile, spec, install))
    }
    configure(rowPatches(options))
  } catch (error) {
    await dispose()
    throw error
  }
  const sessionLogs = (): string[] => findLogs(join(dir, 'sessions'))
  return { dir, cwd, profile: options.profile, env, sessionLogs, configure, reconfigure, plugin, dispose }
}
