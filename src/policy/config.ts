import { z } from 'zod'
import { MAX_DELAY_MS } from './bounds.ts'
import { TransientConfig } from './transient/config.ts'
import { POOL_NAME, RESERVED_POOL_NAMES } from '../events/settings.ts'

export { MAX_DELAY_MS }

/** A delay in ms; without a minimum any positive one. */
function delay(minimum?: number) {
  const what = `a number of milliseconds ${minimum === undefined ? 'above 0 and up' : `from ${minimum}`} to ${MAX_DELAY_MS}`
  const number = z.number(what).max(MAX_DELAY_MS, what)
  return minimum === undefined ? number.positive(what) : number.min(minimum, what)
}
const text = (what: string) => z.string(what).trim().min(1, what)
const flag = () => z.boolean('true or false')

const RouteConfig = z.strictObject({
  provider: text('a provider id as the harness has it'),
  model: text('a model id of that provider'),
  reasoningEffort: text('a reasoning effort of that model').optional(),
}, 'a route {provider, model, reasoningEffort?}')

const PoolConfig = z.strictObject({
  routes: z.array(RouteConfig, 'a list of routes {provider, model, reasoningEffort?}')
    .min(1, 'at least one route {provider, model, reasoningEffort?}'),
}, 'a pool {routes: [...]}')

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const COMMAND = 'a command as a list, never a shell line: [executable, argument, ...]'

const BalanceConfig = z.strictObject({
  provider: text('the provider that the script reports on'),
  // Arguments go to the script as they stand, blanks and empty ones included; only the executable must be a name.
  script: z.tuple([text('the executable')], z.string('one argument of the command, as text'), COMMAND).optional(),
  preset: text('the name of a script that ships with the plugin').optional(),
  args: z.array(z.string('one argument, as text'), 'a list of further arguments for the preset').optional(),
  apiKeyEnv: z.string('the name of a credential').regex(ENV_NAME, 'the name of a credential: letters, digits and _').optional(),
  env: z.record(z.string().regex(ENV_NAME, 'a name of letters, digits and _'), z.string('a text'), 'a map from names to texts').optional(),
  unit: text('what the reading counts, for a person: percent, usd, ...').optional(),
  minimumRemaining: z.number('a number in the unit of the reading, 0 or more')
    .min(0, 'a number in the unit of the reading, 0 or more').default(0),
  refreshMs: delay(1_000).default(60_000),
  timeoutMs: delay(100).default(5_000),
}, 'a balance source {provider, script | preset, ...}')

const Pools = z.record(z.string(), PoolConfig, 'a map from pool names to {routes: [...]}').default({})
const Balances = z.array(BalanceConfig, 'a list of balance sources').default([])

const ConfigSchema = z.strictObject({
  longTermDelayMs: delay().default(3_600_000),
  defaultEnabled: flag().default(true),
  maxWaitMs: delay().optional(),
  pools: Pools,
  balances: Balances,
  failOpen: flag().default(true),
  exhaustedCooldownMs: delay().default(3_600_000),
  transient: TransientConfig.prefault({}),
  beforeNativeRetries: flag().default(false),
  returnToPreferred: z.enum(['never', 'turn', 'step'], 'never, turn or step').default('turn'),
  probe: z.enum(['single', 'each'], 'single or each').default('single'),
  resumeOnStart: flag().default(true),
  resumeConcurrency: z.number('a whole number from 1 to 64').int('a whole number from 1 to 64')
    .min(1, 'a whole number from 1 to 64').max(64, 'a whole number from 1 to 64').default(4),
  resumeDelaySeconds: z.number('a number of seconds from 0 to 3600').min(0, 'a number of seconds from 0 to 3600')
    .max(3_600, 'a number of seconds from 0 to 3600').default(3),
  continuation: text('the message that a session is continued with after a restart')
    .default('The host was restarted while this session waited for its model allowance. Continue where you left off.'),
}, 'a map of settings')

/** One route of a pool, as configured. */
export type RouteConfig = z.infer<typeof RouteConfig>
/** Where one provider's readings come from, as configured. */
export type BalanceConfig = z.infer<typeof BalanceConfig>
/** The row's configuration with every default filled in. */
export type Config = z.infer<typeof ConfigSchema>
/** The row's configuration as a person writes it. */
export type ConfigInput = z.input<typeof ConfigSchema>

const KEYS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(ConfigSchema.shape),
  'pool': Object.keys(PoolConfig.shape),
  'route': Object.keys(RouteConfig.shape),
  'balance': Object.keys(BalanceConfig.shape),
  'transient': Object.keys(TransientConfig.shape),
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((part, index) => typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`).join('')

function valueAt(config: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) =>
    typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined, config)
}

/** The keys of a balance source where nobody puts a credential. People do in all others, in its command line for one. */
const HARMLESS: ReadonlySet<PropertyKey | undefined> = new Set(['provider', 'preset', 'unit'])
const NUMBERS: ReadonlySet<PropertyKey | undefined> = new Set(['minimumRemaining', 'refreshMs', 'timeoutMs'])
/** What was meant to be a number, and is no credential: `5s`, `10_000`. */
const MISTYPED = /^\d[\w.,]{0,7}$/
/** Whether a value is never repeated. */
const isPrivate = (value: unknown, path: readonly PropertyKey[]): boolean => {
  if (path[0] !== 'balances' || HARMLESS.has(path[2])) return false
  if (path[2] === 'env' || path[2] === 'apiKeyEnv') return true
  return typeof value === 'string' && !(NUMBERS.has(path[2]) && MISTYPED.test(value))
}

const short = (text: string): string => text.length > 80 ? `${text.slice(0, 79)}…` : text

/** A value as an error may show it: short, of a list or a map no content, and nothing that may be a credential. */
function shown(value: unknown, path: readonly PropertyKey[]): string {
  if (value === undefined) return 'nothing'
  if (isPrivate(value, path)) return typeof value === 'object' ? 'an object' : `a ${typeof value}`
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value)
    return keys.length === 0 ? '{}' : short(`a map of ${keys.join(', ')}`)
  }
  if (typeof value === 'string') return short(JSON.stringify(value))
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : String(value)
}

function allowedKeys(path: readonly PropertyKey[]): readonly string[] {
  if (path.length === 0) return KEYS[''] ?? []
  if (path[0] === 'balances') return KEYS['balance'] ?? []
  if (path[0] === 'transient') return KEYS['transient'] ?? []
  return (path.length === 2 ? KEYS['pool'] : KEYS['route']) ?? []
}

function explain(issue: z.core.$ZodIssue, config: unknown): string {
  if (issue.code === 'unrecognized_keys') {
    const where = issue.path.length === 0 ? '' : `${pathText(issue.path)}.`
    const keys = issue.keys.map(key => `"${where}${key}"`).join(', ')
    return `unknown key ${keys}; allowed: ${allowedKeys(issue.path).join(', ')}`
  }
  const key = issue.path.length === 0 ? 'config' : `"${pathText(issue.path)}"`
  if (issue.code === 'invalid_key') return `${key} must be called by ${issue.issues[0]?.message ?? issue.message}`
  return `${key} must be ${issue.message}, got ${shown(valueAt(config, issue.path), issue.path)}`
}

/**
 * What the rules of single values cannot see: names that are taken, routes that repeat, sources that say two things.
 * The parts are looked at one by one, so that a mistake in one does not hide those in another.
 */
function crossCheck(given: unknown): string[] {
  const pools = Pools.safeParse(valueAt(given, ['pools']))
  const balances = Balances.safeParse(valueAt(given, ['balances']))
  return [
    ...checkNames(valueAt(given, ['pools'])),
    ...pools.success ? checkRoutes(pools.data) : [],
    ...balances.success ? checkBalances(balances.data, pools.data) : [],
  ]
}

function checkNames(pools: unknown): string[] {
  if (typeof pools !== 'object' || pools === null || Array.isArray(pools)) return []
  return Object.keys(pools).flatMap((name) => {
    if (RESERVED_POOL_NAMES.includes(name)) {
      return [`"pools.${name}" must not be called "${name}", which /quota-pool answers itself; reserved: ${RESERVED_POOL_NAMES.join(', ')}`]
    }
    return POOL_NAME.test(name)
      ? []
      : [`"pools" must name pools with lowercase letters, digits and hyphens, got ${shown(name, [])}`]
  })
}

function checkRoutes(pools: Config['pools']): string[] {
  const problems: string[] = []
  for (const [name, pool] of Object.entries(pools)) {
    const seen = new Map<string, number>()
    for (const [index, route] of pool.routes.entries()) {
      const key = JSON.stringify([route.provider, route.model])
      const first = seen.get(key)
      if (first !== undefined) {
        problems.push(`"pools.${name}.routes[${index}]" must be a route that the pool does not list yet, got ${route.provider}/${route.model} again (first at [${first}])`)
      }
      seen.set(key, first ?? index)
    }
  }
  return problems
}

function checkBalances(balances: Config['balances'], pools: Config['pools'] | undefined): string[] {
  const problems: string[] = []
  const pooled = new Set(Object.values(pools ?? {}).flatMap(pool => pool.routes.map(route => route.provider)))
  const seen = new Map<string, number>()
  for (const [index, { provider, script, preset, args }] of balances.entries()) {
    const key = `balances[${index}]`
    if (pools !== undefined && !pooled.has(provider)) {
      problems.push(`"${key}.provider" must be a provider of some pool (${[...pooled].join(', ') || 'no pool is configured'}), got ${shown(provider, [])}`)
    }
    const first = seen.get(provider)
    if (first !== undefined) {
      problems.push(`"${key}.provider" must have one source only, got ${shown(provider, [])} again (first at balances[${first}])`)
    }
    seen.set(provider, first ?? index)
    if ((script === undefined) === (preset === undefined)) {
      problems.push(`"${key}" must have either a "script" or a "preset", got ${script === undefined ? 'neither' : 'both'}`)
    }
    if (args !== undefined && preset === undefined) {
      problems.push(`"${key}.args" must stand beside a "preset"; a "script" lists its arguments itself`)
    }
  }
  return problems
}

/** A configuration that cannot be used. Its message names every key that is wrong, its value and what is allowed. */
export class ConfigError extends Error {
  /** One sentence for each thing that is wrong. */
  readonly problems: readonly string[]

  /**
   * @param problems - one sentence for each thing that is wrong.
   */
  constructor(problems: readonly string[]) {
    super(`llm-quota-retry: ${problems.join('; ')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Check a row's configuration and fill in the defaults. Keys and meanings are those of the README's table.
 *
 * @param input - what the row says; nothing at all is fine.
 * @returns the configuration, frozen.
 * @throws ConfigError with every problem at once: the key, its value and what is allowed.
 */
export function parseConfig(input: unknown): Config {
  const given = input ?? {}
  const parsed = ConfigSchema.safeParse(given)
  const problems = [...parsed.error?.issues.map(issue => explain(issue, given)) ?? [], ...crossCheck(given)]
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(parsed.data)
}
