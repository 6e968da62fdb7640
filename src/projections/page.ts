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
  /** Epoch ms at which the provider said that its allowance is back, or `null`. */
  readonly resetsAt: number | null
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

/** One thing that a balance source says: the key in the configuration, or `more` for arguments that are not shown. */
export interface SourcePart {
  readonly key: 'script' | 'preset' | 'more' | 'apiKeyEnv' | 'env' | 'unit' | 'minimumRemaining' | 'refreshMs' | 'timeoutMs'
  readonly value: string | number
}

/** One key of the configuration in effect. */
export interface ConfigRow {
  readonly key: string
  /** A number, a flag, a text, or the parts of a balance source; `null` where nothing is set and there is no default. */
  readonly value: number | boolean | string | readonly SourcePart[] | null
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
  /** Keys of the row that stand beside its `config`, where nobody reads them. */
  readonly stray: readonly string[]
}

/** Whether an argument can only be the name of a file: people also put keys there, in addresses and assignments. */
export const isPlainFile = (argument: string): boolean => /^[\w./\\:-]+\.\w{1,5}$/.test(argument) && !argument.includes('://')

/** A source without what may be secret: of `env` the names alone, of the command its executable and the file it runs. */
function sourceParts(source: BalanceConfig): SourcePart[] {
  const [executable = '', ...rest] = source.script ?? []
  const file = rest[0] !== undefined && isPlainFile(rest[0]) ? [rest[0]] : []
  const more = source.script === undefined ? (source.args ?? []).length : rest.length - file.length
  return [
    source.preset === undefined ? { key: 'script', value: [executable, ...file].join(' ') } : { key: 'preset', value: source.preset },
    ...more === 0 ? [] : [{ key: 'more', value: more } as const],
    ...source.apiKeyEnv === undefined ? [] : [{ key: 'apiKeyEnv', value: source.apiKeyEnv } as const],
    ...source.env === undefined ? [] : [{ key: 'env', value: Object.keys(source.env).join(' ') } as const],
    ...source.unit === undefined ? [] : [{ key: 'unit', value: source.unit } as const],
    ...(['minimumRemaining', 'refreshMs', 'timeoutMs'] as const).map(key => ({ key, value: source[key] })),
  ]
}

/** Keys that have rows of their own kind. */
const LISTED: ReadonlySet<string> = new Set(['pools', 'balances'])

const isSection = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Every single value, those of a section under the section's name. */
function valueRows(config: Readonly<Record<string, unknown>>, defaults: Readonly<Record<string, unknown>>, prefix = ''): ConfigRow[] {
  const keys = new Set([...Object.keys(defaults), ...Object.keys(config)])
  return [...keys].filter(key => prefix !== '' || !LISTED.has(key)).flatMap((key): ConfigRow[] => {
    const [value, usual] = [config[key], defaults[key]]
    if (isSection(value)) return valueRows(value, isSection(usual) ? usual : {}, `${prefix}${key}.`)
    const set = JSON.stringify(value) !== JSON.stringify(usual)
    const shown = Array.isArray(value) ? value.join(', ') : value as string | number | boolean | null | undefined ?? null
    return [{ key: `${prefix}${key}`, value: shown, set }]
  })
}

/** Keys without a default, which a row does not name unless it sets them. */
const UNSET: Partial<Config> = { maxWaitMs: undefined }

/**
 * The whole configuration in effect, for people: nothing in it is secret.
 *
 * @param config - the deployment.
 * @param defaults - what holds where a row says nothing.
 */
export function configRows(config: Config, defaults: Config): ConfigRow[] {
  return [
    ...valueRows({ ...config }, { ...defaults, ...UNSET }),
    ...Object.entries(config.pools).map(([name, { routes }]) => ({
      key: `pools.${name}`,
      value: routes.map(route => `${routeName(route)}${route.reasoningEffort === undefined ? '' : ` (${route.reasoningEffort})`}`).join(', '),
      set: true,
    })),
    ...config.balances.map(source => ({ key: `balances.${source.provider}`, value: sourceParts(source), set: true })),
  ]
}
