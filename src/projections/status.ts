import { routeName } from '../events/route.ts'
import type { Config } from '../policy/config.ts'
import { resolvePool, resolveSwitch } from '../policy/settings.ts'
import type { SessionState } from '../reducers/session.ts'
import { clockText, durationText, oneLine } from './text.ts'

const SOURCES: Readonly<Record<string, string>> = {
  default: 'the deployment\'s default',
  session: 'set in this session',
  inherited: 'inherited from the session it was started from',
  off: 'set in this session',
}

function waitLines(state: SessionState, now: number): string[] {
  const entry = state.entries.open
  if (entry === null) return ['This session is not out of allowance.']
  const name = oneLine(entry.model === null ? entry.provider : routeName({ provider: entry.provider, model: entry.model }), 120)
  const idle = state.step.turn === null
    ? 'No check is planned: the turn ended. The next message tries again.'
    : 'No check is planned: a request is on its way.'
  const next = entry.wait === null
    ? idle
    : `Next check ${clockText(entry.wait.nextAttemptAt)}, in ${durationText(entry.wait.nextAttemptAt - now)}. /quota-retry now asks at once; cancel stops waiting.`
  return [
    `Out of allowance on ${name} since ${clockText(entry.enteredAt)}, ${entry.attempts} ${entry.attempts === 1 ? 'wait' : 'waits'} so far.`,
    `The provider said: ${oneLine(entry.failure.message, 300)}`,
    next,
  ]
}

/**
 * What `/quota-retry status` answers.
 *
 * @param state - the folded session.
 * @param config - the deployment.
 * @param now - epoch ms.
 */
export function retryStatusText(state: SessionState, config: Config, now: number): string {
  const { enabled, source } = resolveSwitch(state.settings, config)
  return [`Quota retry is ${enabled ? 'on' : 'off'} (${SOURCES[source] ?? source}).`, ...waitLines(state, now)].join('\n')
}

/**
 * What `/quota-pool status` answers.
 *
 * @param state - the folded session.
 * @param config - the deployment.
 */
export function poolStatusText(state: SessionState, config: Config): string {
  const { pool, source, missing } = resolvePool(state.settings, state.step.route, config)
  const on = state.step.route === null ? 'no request yet' : `on ${oneLine(routeName(state.step.route), 120)}`
  if (source === 'off') return `This session never changes provider (${SOURCES[source] ?? source}); ${on}.`
  if (missing !== undefined) return `This session states pool "${missing}", which the configuration does not have; ${on}.`
  if (pool === null) return `No pool governs this session; ${on}.`
  return `Pool ${pool} (${source === 'default' ? 'the only pool that holds its route' : SOURCES[source] ?? source}); ${on}.`
}
