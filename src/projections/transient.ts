import type { DelegateReason } from '../policy/respond.ts'

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
