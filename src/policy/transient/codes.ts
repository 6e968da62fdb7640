import type { Classification } from '../judge/classify.ts'

/**
 * Failures that no list makes worth another try, by the code of the harness. A request that fails for who asks, for what
 * it names or for how long it is fails identically again; one that was cancelled is no failure. Policy, not preference:
 * a slip in a list must never retry a wrong key for hours.
 */
export const HARD_DENY: readonly string[] = [
  'ABORTED',
  'AUTH', 'UNAUTHORIZED', 'FORBIDDEN', 'MISSING_CREDENTIAL', 'INVALID_CREDENTIAL',
  'NO_ADAPTER', 'MODEL_NOT_FOUND', 'INVALID_MODEL', 'INVALID_CONFIG',
  'CONTEXT_WINDOW_EXCEEDED', 'CONTEXT_OVERFLOW', 'CONTEXT_LENGTH', 'IMAGE_OFFLOAD_REQUIRED',
]

/** Codes of the harness that say that a failure passes, where its text says nothing. */
const PASSING_CODES: ReadonlySet<string> = new Set(['EMPTY_RESPONSE', 'RATE_LIMIT', 'SERVER', 'TIMEOUT', 'TRANSPORT'])
/** Kinds that no list makes worth another try. */
const NEVER: ReadonlySet<string> = new Set(['auth', 'context', 'refused-content', 'spent-allowance'])

/** A code as lists are compared: without case and blanks. */
export const plainCode = (code: string): string => code.trim().toUpperCase()

const DENIED: ReadonlySet<string> = new Set(HARD_DENY)

/** What is thought of a failure before any budget is asked. */
export type Admission = 'passes' | 'hard-denied' | 'excluded' | 'does-not-pass'

/**
 * Whether a failure is worth another try: by its meaning, and by the lists of the configuration.
 *
 * @param code - the harness's code of the failure.
 * @param verdict - what the failure means.
 * @param lists - codes that are taken besides, and codes that never are.
 */
export function admission(code: string, { kind, passes }: Pick<Classification, 'kind' | 'passes'>, lists: { readonly codes: readonly string[]; readonly excludeCodes: readonly string[] }): Admission {
  const plain = plainCode(code)
  const listed = (list: readonly string[]): boolean => list.some(one => plainCode(one) === plain)
  if (DENIED.has(plain) || NEVER.has(kind)) return 'hard-denied'
  if (listed(lists.excludeCodes)) return 'excluded'
  const known = passes !== undefined || (kind === 'other' && PASSING_CODES.has(plain))
  return known || listed(lists.codes) ? 'passes' : 'does-not-pass'
}
