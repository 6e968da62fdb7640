import type { LiveWait, QuotaRetryFacts } from '../src/projections/facts.ts'

export type { LiveWait, QuotaRetryFacts }

/** Key of the projection. */
export const PROJECTION = 'quotaRetry'

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const isText = (value: unknown): value is string => typeof value === 'string'

const isWait = (value: unknown): boolean => value === null || (isRecord(value)
  && typeof value['since'] === 'number' && typeof value['attempts'] === 'number'
  && (value['nextAttemptAt'] === null || typeof value['nextAttemptAt'] === 'number')
  && (value['resetsAt'] == null || typeof value['resetsAt'] === 'number')
  && isText(value['provider']) && isText(value['reason']))

const isRoute = (value: unknown): boolean => isRecord(value) && isText(value['provider']) && isText(value['model'])

const isMove = (value: unknown): boolean => value === null
  || (isRecord(value) && isRoute(value['to']) && isText(value['pool']) && typeof value['turn'] === 'number')

/**
 * Read the value of the `quotaRetry` projection.
 *
 * @param value - what the page has under that key.
 * @returns the facts; `undefined` where the host half is absent, speaks another version, or says what makes no sense.
 */
export function readFacts(value: unknown): QuotaRetryFacts | undefined {
  if (!isRecord(value) || value['version'] !== 1 || typeof value['enabled'] !== 'boolean') return undefined
  if (!Array.isArray(value['pools']) || !value['pools'].every(isText)) return undefined
  return isWait(value['wait']) && isMove(value['lastMove']) ? value as unknown as QuotaRetryFacts : undefined
}
