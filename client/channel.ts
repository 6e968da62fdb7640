import type { QuotaPage } from '../src/projections/page.ts'

/** Name of the channel to the host half. */
export const CHANNEL = '/llm-quota-retry'

/**
 * Read an answer of the channel's `watch`.
 *
 * @param value - what came.
 * @returns the answer; `undefined` where the host half speaks another version.
 */
export function pageOf(value: unknown): { readonly revision: string; readonly page?: QuotaPage } | undefined {
  const answer = value as { revision?: unknown; page?: { version?: unknown } } | undefined
  if (typeof answer?.revision !== 'string') return undefined
  if (answer.page !== undefined && answer.page.version !== 1) return undefined
  return answer as { revision: string; page?: QuotaPage }
}
