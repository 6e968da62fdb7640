import type { Route } from '../events/route.ts'
import { routeName } from '../events/route.ts'
import type { BalanceConfig, Config } from '../policy/config.ts'
import type { RoutesReport } from './routes.ts'

/** A session that waits for its allowance. */
export interface WaitingSession {
  readonly session: string
  /** False for one that waits since before the host started and that nobody has opened yet. */
  readonly open: boolean
  readonly provider: string
  readonly model: string | null
  /** Epoch ms. */
  readonly since: number
  /** Epoch ms; `null` while an attempt runs. */
  readonly nextAttemptAt: number | null
  readonly attempts: number | null
  /** What the provider said, cut; empty where only its log knows. */
  readonly reason: string
}

/** A session that went to another route. */
export interface PageMove {
  /** Epoch ms. */
  readonly at: number
  readonly session: string
  /** `failover`: after a refusal; `before`: before the request was sent. */
  readonly kind: 'failover' | 'before'
  readonly from: Route
  readonly to: Route
  readonly pool: string
}

/** One key of the configuration in effect. */
export interface ConfigRow {
  readonly key: string
  /** A delay in ms, a flag, or a text; `null` where nothing is set and there is no default. */
  readonly value: number | boolean | string | null
  /** Whether it differs from the default. */
  readonly set: boolean
}

/** Which files of the host name the plugin's row. */
export interface ConfigFiles {
  /** The one whose word holds, or `null` when none sets anything. */
  readonly used: string | null
  readonly others: readonly string[]
}

/** What the settings page shows: the state of the whole host. */
export interface QuotaPage {
  /** Version of this shape; a page that knows another leaves it alone. */
  readonly version: 1
  /** Epoch ms. */
  readonly at: number
  readonly report: RoutesReport
  /** Providers that a balance source is configured for. */
  readonly readable: readonly string[]
  readonly waiting: readonly WaitingSession[]
  /** The newest first. */
  readonly moves: readonly PageMove[]
  readonly config: readonly ConfigRow[]
  readonly files: ConfigFiles
}

const DELAYS = ['longTermDelayMs', 'exhaustedCooldownMs', 'maxWaitMs'] as const
const FLAGS = ['defaultEnabled', 'failOpen', 'beforeNativeRetries'] as const

/** Whether an argument can only be the name of a file: people also put keys there, in addresses and assignments. */
const isPlainFile = (argument: string): boolean => /^[\w./\\:-]+\.\w{1,5}$/.test(argument) && !argument.includes('://')

/** A source without what may be secret: of `env` the names alone, of the command its executable and the file it runs. */
function sourceText(source: BalanceConfig): string {
  const [executable = '', ...rest] = source.script ?? []
  const file = rest[0] !== undefined && isPlainFile(rest[0]) ? [rest[0]] : []
  const count = source.script === undefined ? (source.args ?? []).length : rest.length - file.length
  return [
    source.preset === undefined ? `script ${[executable, ...file].join(' ')}` : `preset ${source.preset}`,
    ...count === 0 ? [] : [`${count} more ${count === 1 ? 'argument' : 'arguments'}`],
    ...source.apiKeyEnv === undefined ? [] : [`apiKeyEnv ${source.apiKeyEnv}`],
    ...source.env === undefined ? [] : [`env ${Object.keys(source.env).join(' ')}`],
    ...source.unit === undefined ? [] : [`unit ${source.unit}`],
    `minimumRemaining ${source.minimumRemaining}`, `refreshMs ${source.refreshMs}`, `timeoutMs ${source.timeoutMs}`,
  ].join(', ')
}

/**
 * The configuration in effect, for people: nothing in it is secret.
 *
 * @param config - the deployment.
 * @param defaults - what holds where a row says nothing.
 */
export function configRows(config: Config, defaults: Config): ConfigRow[] {
  return [
    ...[...DELAYS, ...FLAGS, 'probe' as const].map(key => ({ key, value: config[key] ?? null, set: config[key] !== defaults[key] })),
    ...Object.entries(config.pools).map(([name, { routes }]) => ({
      key: `pools.${name}`,
      value: routes.map(route => `${routeName(route)}${route.reasoningEffort === undefined ? '' : ` (${route.reasoningEffort})`}`).join(', '),
      set: true,
    })),
    ...config.balances.map(source => ({ key: `balances.${source.provider}`, value: sourceText(source), set: true })),
  ]
}
