/**
 * `dsh-llm-quota-retry/classify`: what a failed model request was about and when the provider answers again.
 * Pure and dependency-free; usable in scripts, tests and other plugins without a host.
 */
export { classifyFailure } from './policy/judge/classify.ts'
export type { Classification, Confidence, FailureInput, FailureKind, Passing, Scope } from './policy/judge/classify.ts'
export { parseReset } from './policy/judge/resets.ts'
export type { ParsedReset, ResetContext } from './policy/judge/resets.ts'
