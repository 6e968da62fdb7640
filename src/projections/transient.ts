import { routeName } from '../events/route.ts'
import { FAILURES_COMMAND } from '../events/settings.ts'
import type { Config } from '../policy/config.ts'
import type { DelegateReason } from '../policy/respond.ts'
import { resolveLadder } from '../policy/settings.ts'
import { type Hold, holdOf } from '../reducers/hold.ts'
import type { SessionState } from '../reducers/session.ts'
import { SOURCES } from './sources.ts'
import { clockText, durationText, oneLine } from './text.ts'

/** What a person is told of a step that is not tried again. */
export interface EndedLadder {
  readonly provider: string
  readonly code: string
  /** Tries of ours in the step. */
  readonly tries: number
}

const tried = ({ tries }: EndedLadder): string => `${tries} ${tries === 1 ? 'try' : 'tries'} after the harness gave up`

/**
 * Why a step that failed on something that passes is not tried again.
 *
 * @param why - the reason.
 * @param ended - the step.
 * @returns a sentence without its full stop; `undefined` for what is no news.
 */
export function endText(why: DelegateReason, ended: EndedLadder): string | undefined {
  const { code, provider } = ended
  switch (why) {
    case 'tries-used-up':
      return `${provider} still fails with ${code} after ${tried(ended)} (transient.maxRetries); the turn ends`
    case 'time-used-up':
      return `${provider} still fails with ${code} after ${tried(ended)} (transient.maxDurationMs); the turn ends`
    case 'same-failure':
      return `${provider} fails with ${code} after the same time again and again, ${tried(ended)}: that is a setting and no outage. `
        + 'Look at the timeout of the provider (timeoutMs), or ask for less at once; the turn ends'
    case 'provider-retries-always':
      return `the retry policy of provider ${provider} is "always": the harness repeats every failure without an end, and transient leaves it to that`
    default:
      return undefined
  }
}

const HOUR_MS = 3_600_000

/** How many tries a step has, in words; no limit is said with what it costs. */
function limitText({ maxDelayMs, maxRetries }: Config['transient']): string {
  if (maxRetries !== null) return `${maxRetries} ${maxRetries === 1 ? 'try' : 'tries'} a step after the harness gave up`
  return `tries without a limit: a provider that is down is asked about ${Math.ceil(HOUR_MS / maxDelayMs)} times an hour`
}

function holdLine({ at, failure, model, policy, provider, wait }: Hold, now: number): string {
  const name = oneLine(model === null ? provider : routeName({ provider, model }), 120)
  const why = policy === 'quota' ? 'is out of allowance' : `failed${failure === null ? '' : ` with ${oneLine(failure.code, 60)}`}`
  const when = wait === null ? 'a request is on its way, or the host ended' : `asked again ${clockText(at)}, in ${durationText(at - now)}`
  return `Held by ${policy}: ${name} ${why}; ${when}. /${FAILURES_COMMAND} now asks at once, /${FAILURES_COMMAND} stop ends it.`
}

/**
 * What `/retry status` answers.
 *
 * @param state - the folded session.
 * @param config - the deployment.
 * @param now - epoch ms.
 */
export function ladderStatusText(state: SessionState, config: Config, now: number): string {
  const { enabled, source } = resolveLadder(state.settings, config)
  const hold = holdOf(state)
  const { ladder } = state.transient
  return [
    `Retry of failures that pass is ${enabled ? 'on' : 'off'} (${SOURCES[source] ?? source}): ${limitText(config.transient)}.`,
    ...ladder === null ? [] : [`This step: ${ladder.nativeRetries} of the harness, ${ladder.tries} of ours. Last failure: ${oneLine(ladder.failure.message, 300)}`],
    hold === undefined ? 'Nothing holds this session.' : holdLine(hold, now),
  ].join('\n')
}
