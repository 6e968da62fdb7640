import { routeName } from '../events/route.ts'
import { RETRY_COMMAND } from '../events/settings.ts'
import { classifyFailure } from '../policy/judge/classify.ts'
import type { Config } from '../policy/config.ts'
import { firstWayOut } from '../policy/pool/after-wait.ts'
import { goesOnAt } from '../policy/resume.ts'
import { resolvePool, resolveSwitch } from '../policy/settings.ts'
import type { Entry } from '../reducers/quota.ts'
import type { SessionState } from '../reducers/session.ts'
import { SOURCES } from './sources.ts'
import { clockText, durationText, oneLine } from './text.ts'

/** What comes next, and what the person can do about it. */
function nextLine(state: SessionState, { wait }: Entry, config: Config, now: number): string {
  const check = (at: number): string => `Next check ${clockText(at)}, in ${durationText(at - now)}`
  if (wait !== null) return `${check(wait.nextAttemptAt)}. /${RETRY_COMMAND} now asks at once; cancel stops waiting.`
  const goesOn = goesOnAt(state, config)
  if (goesOn !== undefined) return `${check(goesOn)}: the host ended while this session waited, and it goes on by itself. /${RETRY_COMMAND} now has it go on at once, /${RETRY_COMMAND} off has it stay.`
  return state.step.turn === null
    ? 'No check is planned: the turn ended. The next message tries again.'
    : 'No check is planned: a request is on its way.'
}

/** Where every route of a pool is out of allowance, which of them comes first. */
function poolLine(state: SessionState, config: Config): string[] {
  const first = firstWayOut(state, config)
  if (first === undefined || first.pool === null) return []
  return [`Every route of pool ${first.pool} is out of allowance${first.route === null ? '' : `; ${oneLine(routeName(first.route), 120)} is asked first`}.`]
}

function waitLines(state: SessionState, config: Config, now: number): string[] {
  const entry = state.entries.open
  if (entry === null) return ['This session is not out of allowance.']
  const name = oneLine(entry.model === null ? entry.provider : routeName({ provider: entry.provider, model: entry.model }), 120)
  return [
    `Out of allowance on ${name} since ${clockText(entry.enteredAt)}, ${entry.attempts} ${entry.attempts === 1 ? 'wait' : 'waits'} so far.`,
    `The provider said: ${oneLine(entry.failure.message, 300)}`,
    `Read as: ${classifyFailure({ ...entry.failure, provider: entry.provider }, { now }).reason}.`,
    ...poolLine(state, config),
    nextLine(state, entry, config, now),
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
  return [`Quota retry is ${enabled ? 'on' : 'off'} (${SOURCES[source] ?? source}).`, ...waitLines(state, config, now)].join('\n')
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
  if (pool === null && state.step.route === null) return `This session follows the pool of its first request; ${on}.`
  if (pool === null) return `No pool governs this session; ${on}.`
  return `Pool ${pool} (${source === 'default' ? 'the only pool that holds its route' : SOURCES[source] ?? source}); ${on}.`
}
