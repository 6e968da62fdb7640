import { isRecord } from './json.ts'

/**
 * The grammar of the two setting commands.
 *
 * A setting is a command in the session's own log: whether it was typed, clicked or made by another plugin, the record
 * is the same but for a word, so the fold that reads the log and the command that answers the person share this grammar.
 */

/** Command that moves the per-session switch. */
export const RETRY_COMMAND = 'quota-retry'
/** Command that moves the per-session switch of retries and continuations. */
export const FAILURES_COMMAND = 'retry'
/** Command that moves the per-session pool setting. */
export const POOL_COMMAND = 'quota-pool'
/** Command that prints every pool and route. */
export const ROUTES_COMMAND = 'quota-routes'

/** What the switch can be set to; `default` clears it back to the deployment's default. */
export type RetryChoice = 'on' | 'off' | 'default'

/** What the pool can be set to: `off`, `default`, or the name of a pool. */
export type PoolChoice = string

/** One change of a setting of one session. */
export type SettingChange =
  | { readonly setting: 'retry'; readonly value: RetryChoice; readonly inherited: boolean }
  | { readonly setting: 'failures'; readonly value: RetryChoice; readonly inherited: boolean }
  | { readonly setting: 'pool'; readonly value: PoolChoice; readonly inherited: boolean }

const ON: ReadonlySet<string> = new Set(['on', 'enable', 'enabled'])
const OFF: ReadonlySet<string> = new Set(['off', 'none', 'disable', 'disabled'])
const DEFAULT: ReadonlySet<string> = new Set(['default', 'reset', 'auto'])

/** Words that `/quota-pool` answers itself, so that no pool can be called by one of them. */
export const RESERVED_POOL_NAMES: readonly string[] = [
  'status', 'off', 'none', 'disable', 'disabled', 'default', 'reset', 'auto', 'error',
]

/** What a pool may be called: lowercase letters, digits and hyphens, as the person types it. */
export const POOL_NAME = /^[a-z0-9-]+$/

/** First word of a record that a child took over from its nearest ancestor. Nobody types it. */
const INHERIT = 'inherit'
/** First word of a record that a plugin made. Nobody types it, and the commands do not take it. */
const BY_PLUGIN = 'by-plugin'

/** Who asked for a setting. */
export type SettingAuthor = 'person' | 'plugin'

/**
 * Read a word as a position of the switch.
 *
 * @param word - one word, in any case.
 * @returns the choice, or `undefined` for a word that is none.
 */
export function readRetryChoice(word: string): RetryChoice | undefined {
  const lower = word.toLowerCase()
  return ON.has(lower) ? 'on' : OFF.has(lower) ? 'off' : DEFAULT.has(lower) ? 'default' : undefined
}

/**
 * Read a word as a pool setting. Whether a pool of that name exists is not this grammar's business: a log may name a
 * pool that the configuration has lost.
 *
 * @param word - one word, in any case.
 * @returns `off`, `default`, a well-formed pool name, or `undefined`.
 */
export function readPoolChoice(word: string): PoolChoice | undefined {
  const lower = word.toLowerCase()
  if (OFF.has(lower)) return 'off'
  if (DEFAULT.has(lower)) return 'default'
  return POOL_NAME.test(lower) && !RESERVED_POOL_NAMES.includes(lower) ? lower : undefined
}

/**
 * Read a setting change out of a logged command.
 *
 * @param name - the command's name.
 * @param args - everything after the name, as logged.
 * @returns the change, or `undefined` for other commands and for arguments that change nothing (`status`, `now`).
 */
export function readSettingCommand(name: unknown, args: unknown): SettingChange | undefined {
  if ((name !== RETRY_COMMAND && name !== POOL_COMMAND && name !== FAILURES_COMMAND) || typeof args !== 'string' || args.length > 500) return undefined
  const words = args.trim().split(/\s+/)
  const inherited = words.length === 2 && words[0] === INHERIT
  const word = words.length === 2 && (inherited || words[0] === BY_PLUGIN) ? words[1] : words.length === 1 ? words[0] : undefined
  if (word === undefined || word === '') return undefined
  if (name !== POOL_COMMAND) {
    const value = readRetryChoice(word)
    return value === undefined ? undefined : { setting: name === RETRY_COMMAND ? 'retry' : 'failures', value, inherited }
  }
  const value = readPoolChoice(word)
  return value === undefined ? undefined : { setting: 'pool', value, inherited }
}

const COMMANDS: Readonly<Record<SettingChange['setting'], string>> = { retry: RETRY_COMMAND, failures: FAILURES_COMMAND, pool: POOL_COMMAND }

/**
 * Who asked for a setting. The arguments say it: newer hosts refuse a whole log in which the source of a command is
 * anybody but the person (`@deepseek-ai/dsh-session-format-v0-to-v1`), as our own records once said.
 *
 * @param args - everything after the command's name, as logged.
 * @param source - the source of the command, as logged.
 */
export function readSettingAuthor(args: unknown, source: unknown): SettingAuthor {
  const first = typeof args === 'string' ? args.trim().split(/\s+/, 1)[0] : undefined
  return first === INHERIT || first === BY_PLUGIN || (isRecord(source) && source['kind'] === 'plugin') ? 'plugin' : 'person'
}

/**
 * Write a setting change that nobody typed as a command; {@link readSettingCommand} reads it back.
 *
 * @param change - the change.
 * @returns the command's name and its arguments, with the separator that a typed line has.
 */
export function writeSettingCommand(change: SettingChange): { name: string; args: string } {
  return {
    name: COMMANDS[change.setting],
    args: ` ${change.inherited ? INHERIT : BY_PLUGIN} ${change.value}`,
  }
}
