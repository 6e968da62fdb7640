import { parseReset } from './resets.ts'
import { readFacts, readFields, type FailureInput, type Facts } from './rules/facts.ts'
import { NO_RULE, RULES } from './rules/table.ts'
import type { Confidence, FailureKind, Passing, Rule } from './rules/types.ts'
import { type Scope, scopeOf } from './scope.ts'

export type { Confidence, FailureKind, FailureInput, Passing, Scope }

/** The answer of {@link classifyFailure}. */
export interface Classification {
  readonly kind: FailureKind
  readonly confidence: Confidence
  /** Whose it is: of the model that was asked (`route`), or of the provider's account and so of all its models. */
  readonly scope: Scope
  /** Short, for a person. */
  readonly reason: string
  /** Id of the rule that decided. */
  readonly rule: string
  /** When the provider says it answers again, epoch ms; unclamped, may lie in the past. */
  readonly resetsAt?: number
  /** The provider's own words about that time, as written. */
  readonly resetHint?: string
  /** What passes by itself when the same request is sent again; absent where nothing does. */
  readonly passes?: Passing
  /** Only with `spent-allowance`: the text names a short throttle, so wait shortly and mark nothing. */
  readonly throttle?: true
}

const holds = (rule: Rule, facts: Facts, waitMs: number): boolean =>
  (rule.host === undefined || rule.host.test(facts.hostCode))
  && (rule.provider === undefined || rule.provider.test(facts.provider))
  && (rule.notProvider === undefined || !rule.notProvider.test(facts.provider))
  && (rule.status === undefined || (facts.status !== undefined && rule.status.includes(facts.status)))
  && (rule.window === undefined || rule.window === facts.window)
  && (rule.waitAtLeastMs === undefined || waitMs >= rule.waitAtLeastMs)
  && (rule.waitAtMostMs === undefined || (waitMs > 0 && waitMs <= rule.waitAtMostMs))
  && (rule.code === undefined || facts.codes.some(code => rule.code!.test(code)))
  && (rule.anyCode === undefined || facts.codes.some(code => rule.anyCode!.test(code)) || rule.orRaw?.test(facts.raw) === true)
  && (rule.notCode === undefined || !facts.codes.some(code => rule.notCode!.test(code)))
  && (rule.text === undefined || rule.text.test(facts.text))
  && (rule.with === undefined || rule.with.test(facts.text))
  && (rule.raw === undefined || rule.raw.test(facts.raw))
  && (rule.without === undefined || !rule.without.test(facts.text))
  && (rule.gone === undefined || rule.gone.some(gone => facts.gone.includes(gone)))
  && (rule.notGone === undefined || !rule.notGone.some(gone => facts.gone.includes(gone)))

const reasonOf = (rule: Rule, facts: Facts): string =>
  rule.why.includes('{1}') ? rule.why.replace('{1}', rule.text?.exec(facts.text)?.[1] ?? 'some') : rule.why

/** A number that is only likely to mean something is certain to, where the words beside it say the same. */
const confidenceOf = (rule: Rule, facts: Facts, waitMs: number): Confidence =>
  rule.confidence === 'certain' || RULES.some(other => other.kind === rule.kind && other.confidence === 'certain' && holds(other, facts, waitMs)) ? 'certain' : rule.confidence

const passesOf = ({ kind, passes, throttle }: Rule): Passing | undefined =>
  passes ?? (kind === 'server' ? 'server' : kind === 'rate-limit' || throttle === true ? 'rate-limit' : undefined)

/** The farthest time that tells a spent allowance from a throttle, in ms. */
const FARTHEST_MS = 400 * 24 * 3_600_000

/** Kinds that pass with time; for the others a time in the text means something else. */
export const PASSING: readonly FailureKind[] = ['spent-allowance', 'rate-limit', 'server']

/**
 * Says what a failed model request was about, by the first rule of the table that holds.
 * Total: any input gives an answer, none throws; the same input gives the same answer.
 * @param failure as the host has it; fields may be missing, null or absurd
 * @param options `now` in epoch ms: relative times count from it, and are left out without it
 */
export const classifyFailure = (failure: FailureInput | null | undefined, { now = Number.NaN }: { readonly now?: number } = {}): Classification => {
  const fields = readFields(failure)
  const facts = readFacts(fields)
  const reset = parseReset(fields.message, { now, providerRetryAfterMs: fields.providerRetryAfterMs })
  const named = reset.resetsAt === undefined ? 0 : reset.resetsAt - now
  // No plan is longer than a year: such a time says nothing about an allowance.
  const waitMs = named > FARTHEST_MS ? 0 : named
  const rule = RULES.find(candidate => holds(candidate, facts, waitMs)) ?? NO_RULE
  const passing = PASSING.includes(rule.kind)
  const passes = passesOf(rule)
  return {
    kind: rule.kind, confidence: confidenceOf(rule, facts, waitMs), scope: scopeOf(facts), reason: reasonOf(rule, facts), rule: rule.id,
    ...(passing && reset.resetsAt !== undefined ? { resetsAt: reset.resetsAt } : {}),
    ...(passing && reset.hint !== undefined ? { resetHint: reset.hint } : {}),
    ...(passes === undefined ? {} : { passes }),
    ...(rule.throttle === true ? { throttle: true as const } : {}),
  }
}
