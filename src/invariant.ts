/**
 * Companion for the harness's invariant service: checks, on loaded and live sessions, what the records of this plugin
 * promise to whoever reads a log. For tests and diagnosis; nothing else needs it.
 *
 * @module dsh-llm-quota-retry/invariant
 */
export { apply, inject, name } from './host/invariant.ts'
