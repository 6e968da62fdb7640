/**
 * dsh-llm-quota-retry: keeps an unattended run alive when the model account is out of allowance.
 *
 * @module dsh-llm-quota-retry
 */
export { apply, inject, name } from './host/plugin.ts'
export type { Config, ConfigInput } from './policy/config.ts'
export { ConfigError, parseConfig } from './policy/config.ts'
export type { QuotaRetryFacts } from './projections/facts.ts'
export type { RetrySnapshot } from './projections/snapshot.ts'
export type { EnteredEvent, FailoverEvent, LeftEvent, QuotaRetryService } from './host/types.ts'
