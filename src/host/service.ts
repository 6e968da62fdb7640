import type { Session } from '@deepseek-ai/dsh-session'
import type { Config } from '../policy/config.ts'
import { quotaRetryFacts } from '../projections/facts.ts'
import { retrySnapshot } from '../projections/snapshot.ts'
import type { SessionBook } from './book.ts'
import type { SettingsWriter } from './settings.ts'
import type { QuotaRetryService } from './types.ts'
import type { Waits } from './waits.ts'

/** What the service works with. */
export interface ServiceParts {
  readonly config: Config
  readonly book: SessionBook
  readonly waits: Waits<Session>
  readonly settings: SettingsWriter
}

/**
 * The service `ctx.llmQuotaRetry`.
 *
 * @param parts - what it works with.
 */
export function createService({ config, book, waits, settings }: ServiceParts): QuotaRetryService {
  return Object.freeze<QuotaRetryService>({
    isRetrying: session => book.of(session).entries.open !== null,
    stateOf: session => retrySnapshot(book.of(session)),
    facts: session => quotaRetryFacts(book.of(session), config),
    setEnabled(session, enabled) {
      settings.set(session, { setting: 'retry', value: enabled === null ? 'default' : enabled ? 'on' : 'off', inherited: false })
    },
    retryNow: session => waits.end(session, 'asked'),
  })
}
