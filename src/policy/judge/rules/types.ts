import type { Gone } from '../allowance/read.ts'

/** What a failed request was about. */
export type FailureKind = 'spent-allowance' | 'rate-limit' | 'auth' | 'context' | 'server' | 'refused-content' | 'other'

/** What passes by itself when the same request is sent again after a while. */
export type Passing = 'rate-limit' | 'server' | 'timeout' | 'transport' | 'empty-answer'

/** `certain`: the provider said so by a code or a plain sentence. `likely`: its words. `weak`: the status alone. */
export type Confidence = 'certain' | 'likely' | 'weak'

/** One line of the rule table. Every condition that is present must hold; the first rule that holds decides. */
export interface Rule {
  /** Stable, kebab-case: audits and bug reports name it. */
  readonly id: string
  readonly kind: FailureKind
  readonly confidence: Confidence
  /** Short, for a person. `{1}` is the first group of `text`. */
  readonly why: string
  /** Some code of the failure. */
  readonly code?: RegExp
  /** Some code of the failure, or `orRaw` in its raw text. */
  readonly anyCode?: RegExp
  readonly orRaw?: RegExp
  /** No code of the failure. */
  readonly notCode?: RegExp
  /** The harness's own code. */
  readonly host?: RegExp
  readonly text?: RegExp
  /** Must hold as well as `text`. */
  readonly with?: RegExp
  readonly without?: RegExp
  /** What the text says is gone: any of these. */
  readonly gone?: readonly Gone[]
  /** None of these may be gone. */
  readonly notGone?: readonly Gone[]
  /** What passes, where it is not what the kind says. */
  readonly passes?: Passing
  /** Text with its addresses. */
  readonly raw?: RegExp
  readonly status?: readonly number[]
  readonly provider?: RegExp
  readonly notProvider?: RegExp
  /** The window the refusal names first. */
  readonly window?: 'minute' | 'long'
  /** The provider's own retry time is at least this far away, ms. */
  readonly waitAtLeastMs?: number
  /** The provider names a retry time, and it is no farther away than this, ms. */
  readonly waitAtMostMs?: number
  /** The allowance is spent only for a moment: wait shortly, mark nothing. */
  readonly throttle?: true
}
