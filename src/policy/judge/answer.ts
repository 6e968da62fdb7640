import { classifyFailure } from './classify.ts'

/**
 * Whether an answer proves that its route has allowance. Some gateways send a refusal as the text of an answer.
 *
 * @param said - the text, where the provider counted no tokens for the answer and nothing else is in it.
 * @param provider - the provider, when it is known.
 * @param now - epoch ms.
 */
export function provesAllowance(said: string | undefined, provider: string | undefined, now: number): boolean {
  if (said === undefined) return true
  const { kind } = classifyFailure({ code: 'UNKNOWN', message: said, provider }, { now })
  return kind !== 'spent-allowance' && kind !== 'rate-limit'
}
