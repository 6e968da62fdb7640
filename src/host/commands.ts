import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import type { Session } from '@deepseek-ai/dsh-session'
import { heldWait } from '../policy/resume.ts'
import { holdOf } from '../reducers/hold.ts'
import { FAILURES_COMMAND, POOL_COMMAND, readPoolChoice, readRetryChoice, RETRY_COMMAND, ROUTES_COMMAND } from '../events/settings.ts'
import type { Config } from '../policy/config.ts'
import { routesReport, routesText } from '../projections/routes.ts'
import { oneLine } from '../projections/text.ts'
import { poolStatusText, retryStatusText } from '../projections/status.ts'
import { ladderStatusText } from '../projections/transient.ts'
import type { AbsentRoutes } from './pool/absent.ts'
import type { Balances } from './pool/balances.ts'
import { clearMarks, markedNames, readTarget } from './pool/clear.ts'
import type { SessionBook } from './book.ts'
import type { Clock } from './clock.ts'
import type { Journal } from './journal-store.ts'
import type { Keep } from './keep.ts'
import type { Router } from './pool/router.ts'
import type { SettingsWriter } from './settings.ts'
import type { Waits } from './waits.ts'

/** What the commands work with. */
export interface CommandParts {
  readonly config: Config
  readonly clock: Clock
  readonly book: SessionBook
  readonly waits: Pick<Waits, 'end'>
  readonly settings: SettingsWriter
  /** Stops what a session waits for. */
  readonly stop: (session: string) => boolean
  readonly journal: Journal
  readonly balances: Balances
  readonly router: Router
  readonly absent: AbsentRoutes
  readonly keep: Keep
}

interface Invocation {
  readonly agent: Agent
  readonly rawInput: string
}

const ok = (text: string): CommandResult => ({ kind: 'success', text })
const no = (text: string): CommandResult => ({ kind: 'error', text })

const RETRY_HINT = 'on|off|default|status|now|stop'
const RETRY_USAGE = `Usage: /${RETRY_COMMAND} <${RETRY_HINT}>. on and off move this session's switch, default gives it back `
  + 'to the deployment, status shows it and what the session waits for, now asks the provider again at once.'

/**
 * A setting that was taken, once the command that states it is on the disk: a host that is killed right after the answer
 * must know of it.
 */
async function taken({ keep }: CommandParts, session: Session, text: string): Promise<CommandResult> {
  return ok(await keep(session) ? text : `${text} It is not on the disk yet: the storage is slow or fails.`)
}

/** The setting itself is the logged command: it takes effect when the fold sees it succeed. */
function setRetry(parts: CommandParts, session: Session, word: string): Promise<CommandResult> | CommandResult {
  const { book, clock, config, journal, settings } = parts
  const choice = readRetryChoice(word)
  if (choice === undefined) return no(RETRY_USAGE)
  if (choice === 'default') {
    settings.beforeDefault(session)
    return taken(parts, session, `Quota retry follows the deployment's default (${config.defaultEnabled ? 'on' : 'off'}).`)
  }
  if (choice === 'off' && heldWait(book.of(session)) !== undefined) journal.release(session.id, clock.now())
  return taken(parts, session, `Quota retry is ${choice} for this session.`)
}

function retryCommand(parts: CommandParts, { agent, rawInput }: Invocation): Promise<CommandResult> | CommandResult {
  const word = rawInput.trim().toLowerCase()
  const { session } = agent
  if (word === 'status' || word === '') return ok(retryStatusText(parts.book.of(session), parts.config, parts.clock.now()))
  if (word === 'now') {
    return parts.waits.end(session.id, { kind: 'go', cause: 'asked' })
      ? ok('Asking the provider again now.')
      : no('Nothing holds this session, so there is nothing to try again.')
  }
  if (word === 'stop') return stopCommand(parts, session)
  return setRetry(parts, session, word)
}

const LADDER_USAGE = `Usage: /${FAILURES_COMMAND} <${RETRY_HINT}>. on and off say whether this session asks again after failures that pass, `
  + 'default gives that back to the deployment, status shows it and what holds the session, now asks at once, stop ends what holds it.'

/** Whether failures that pass are asked again. `now` and `stop` act on whatever holds the session. */
function ladderCommand(parts: CommandParts, { agent: { session }, rawInput }: Invocation): Promise<CommandResult> | CommandResult {
  const word = rawInput.trim().toLowerCase()
  const { book, clock, config, journal } = parts
  if (word === 'status' || word === '') return ok(ladderStatusText(book.of(session), config, clock.now()))
  if (word === 'now' || word === 'stop') return retryCommand(parts, { agent: { session } as Agent, rawInput: word })
  const choice = readRetryChoice(word)
  if (choice === undefined) return no(LADDER_USAGE)
  if (choice === 'off' && holdOf(book.of(session))?.policy === 'transient') journal.release(session.id, clock.now())
  return taken(parts, session, choice === 'default'
    ? `Retry follows the deployment's default (${config.transient.enabled ? 'on' : 'off'}).`
    : `Retry is ${choice} for this session.`)
}

/** A turn that waits is cancelled; a run that would go on by itself is told to stay. */
function stopCommand(parts: CommandParts, session: Session): Promise<CommandResult> | CommandResult {
  const { clock, journal, settings, stop } = parts
  const stays = settings.stay(session)
  if (!stays && !stop(session.id)) return no('Nothing holds this session, so there is nothing to stop.')
  journal.release(session.id, clock.now())
  return taken(parts, session, stays ? 'This session does not go on by itself any more. Your next message asks again.' : 'The wait is stopped. Your next message asks again.')
}

const poolNames = (config: Config): string => Object.keys(config.pools).join(', ') || 'none is configured'

/** What stands for a pool that does not exist; a list of the others is of more use than the grammar. */
const noPool = (name: string, config: Config): string => Object.keys(config.pools).length === 0
  ? 'No pools are configured.'
  : `There is no pool "${oneLine(name, 60)}". Pools: ${poolNames(config)}.`

const poolUsage = (config: Config): string => `Usage: /${POOL_COMMAND} <pool|off|default|status>. Pools: ${poolNames(config)}. A pool lets this `
  + 'session move to another of its routes when its own is out of allowance; off never changes provider; default follows the route the session is on.'

function poolCommand(parts: CommandParts, { agent, rawInput }: Invocation): Promise<CommandResult> | CommandResult {
  const word = rawInput.trim().toLowerCase()
  const { config } = parts
  if (word === 'status' || word === '') return ok(poolStatusText(parts.book.of(agent.session), config))
  const choice = readPoolChoice(word)
  if (choice === 'off') return taken(parts, agent.session, 'This session never changes provider.')
  if (choice === 'default') return taken(parts, agent.session, 'The pool of this session follows the route it is on.')
  if (choice === undefined) return no(poolUsage(config))
  if (!Object.hasOwn(config.pools, choice)) return no(noPool(choice, config))
  // Nobody waits for the readings: they are there for the request that follows, or they are not.
  void parts.balances.refresh(config.pools[choice]?.routes.map(route => route.provider) ?? [])
  return taken(parts, agent.session, `This session is in pool ${choice}: its next request goes to the first usable route of the pool.`)
}

/** A cleared mark may be wrong: whoever clears it is told what that costs. */
async function clearCommand({ clock, journal }: CommandParts, name: string): Promise<CommandResult> {
  if (name !== '') {
    const cleared = await clearMarks(journal, clock, readTarget(name))
    if (cleared.length > 0) return ok(`Not marked any more: ${cleared.map(found => oneLine(found, 120)).join(', ')}. The next request there may be refused once.`)
  }
  const marked = markedNames(journal, clock.now()).map(found => oneLine(found, 120)).join(', ') || 'nothing'
  return no(name === '' ? `Usage: /${ROUTES_COMMAND} clear <provider>[/<model>]. Marked: ${marked}.` : `${oneLine(name, 120)} is not marked. Marked: ${marked}.`)
}

async function routesCommand(parts: CommandParts, { rawInput }: Invocation): Promise<CommandResult> {
  const { absent, balances, config, router } = parts
  const [first = '', name = ''] = rawInput.trim().split(/\s+/)
  // A pool may be called so; its name alone shows it.
  if (first.toLowerCase() === 'clear' && (name !== '' || !Object.hasOwn(config.pools, 'clear'))) return clearCommand(parts, name)
  const word = rawInput.trim().toLowerCase()
  const only = word === '' ? undefined : word
  if (only !== undefined && !Object.hasOwn(config.pools, only)) return no(noPool(only, config))
  const pools = Object.entries(config.pools).filter(([name]) => only === undefined || name === only)
  await Promise.all([absent.look(), balances.refresh(pools.flatMap(([, pool]) => pool.routes.map(route => route.provider)))])
  return ok(routesText(routesReport(router.world, config, { unfit: router.unfit, absent: absent.list }), only) ?? 'No pools are configured.')
}

/**
 * Register the commands once the host has commands.
 *
 * @param ctx - the plugin's context.
 * @param parts - what the commands work with.
 */
export function registerCommands(ctx: Context, parts: CommandParts): void {
  ctx.inject(['commands'], (inner: Context) => {
    inner.commands.register({
      name: RETRY_COMMAND,
      description: 'Wait and retry when the account is out of allowance: show, switch, or ask again now',
      input: { hint: RETRY_HINT },
      handler: invocation => retryCommand(parts, invocation),
    })
    inner.commands.register({
      name: FAILURES_COMMAND,
      description: 'Ask again after failures that pass: show, switch, ask now, or stop',
      input: { hint: RETRY_HINT },
      handler: invocation => ladderCommand(parts, invocation),
    })
    inner.commands.register({
      name: POOL_COMMAND,
      description: 'The pool of routes that this session may move to when its own is out of allowance',
      input: { hint: 'pool|off|default|status' },
      handler: invocation => poolCommand(parts, invocation),
    })
    inner.commands.register({
      name: ROUTES_COMMAND,
      description: 'Every pool and route: what is left, what is marked, and which would be chosen',
      input: { hint: '[pool] | clear <provider>[/<model>]' },
      handler: invocation => routesCommand(parts, invocation),
    })
  })
}
