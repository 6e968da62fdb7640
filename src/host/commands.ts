import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import type { Session } from '@deepseek-ai/dsh-session'
import { readRetryChoice, RETRY_COMMAND } from '../events/settings.ts'
import type { Config } from '../policy/config.ts'
import { retryStatusText } from '../projections/status.ts'
import type { SessionBook } from './book.ts'
import type { Clock } from './clock.ts'
import type { SettingsWriter } from './settings.ts'
import type { Waits } from './waits.ts'

/** What the commands work with. */
export interface CommandParts {
  readonly config: Config
  readonly clock: Clock
  readonly book: SessionBook
  readonly waits: Waits<Session>
  readonly settings: SettingsWriter
}

interface Invocation {
  readonly agent: Agent
  readonly rawInput: string
}

const ok = (text: string): CommandResult => ({ kind: 'success', text })
const no = (text: string): CommandResult => ({ kind: 'error', text })

const RETRY_HINT = 'on|off|default|status|now'
const RETRY_USAGE = `Usage: /${RETRY_COMMAND} <${RETRY_HINT}>. on and off move this session's switch, default gives it back `
  + 'to the deployment, status shows it and what the session waits for, now asks the provider again at once.'

/** The setting itself is the logged command: it takes effect when the fold sees it succeed. */
function setRetry(parts: CommandParts, session: Session, word: string): CommandResult {
  const choice = readRetryChoice(word)
  if (choice === undefined) return no(RETRY_USAGE)
  if (choice === 'default') {
    parts.settings.beforeDefault(session)
    return ok(`Quota retry follows the deployment's default (${parts.config.defaultEnabled ? 'on' : 'off'}).`)
  }
  return ok(`Quota retry is ${choice} for this session.`)
}

function retryCommand(parts: CommandParts, { agent, rawInput }: Invocation): CommandResult {
  const word = rawInput.trim().toLowerCase()
  const { session } = agent
  if (word === 'status' || word === '') return ok(retryStatusText(parts.book.of(session), parts.config, parts.clock.now()))
  if (word === 'now') {
    return parts.waits.end(session, 'asked')
      ? ok('Asking the provider again now.')
      : no('This session is not waiting for its allowance, so there is nothing to try again.')
  }
  return setRetry(parts, session, word)
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
  })
}
