import { cutText } from '../events/failure.ts'
import type { Route } from '../events/route.ts'
import { markKey, type MarkRecord, type MarksState } from '../reducers/marks.ts'
import type { Config } from './config.ts'
import type { Classification } from './judge/classify.ts'
import { HINT_MARGIN_MS } from './quota/wait.ts'

/** Longest refusal text in a mark: fifty providers that write long, in any script, are to fit into a small journal. */
const MARK_TEXT = 800
/** Refusals of one provider within this time, in ms, are one piece of news, where the interval is not shorter. */
const SAME_REFUSAL_MS = 5_000

/** A refused request, as far as its mark depends on it. */
export interface Refused {
  readonly provider: string
  /** The route, where the log names its model. */
  readonly route: Route | null
  readonly message: string
}

/**
 * The mark that a refusal puts on its provider, or on the one route whose allowance it says is spent: until its own
 * reset where that comes first, else for the cooldown.
 *
 * @param refused - the refused request.
 * @param verdict - what the refusal means.
 * @param now - epoch ms.
 * @param config - the deployment.
 */
export function markFor({ message, provider, route }: Refused, verdict: Classification, now: number, config: Pick<Config, 'exhaustedCooldownMs'>): MarkRecord {
  const lapse = now + config.exhaustedCooldownMs
  const reset = verdict.resetsAt !== undefined && verdict.resetsAt > now ? verdict.resetsAt + HINT_MARGIN_MS : lapse
  // A log that does not name the model leaves the provider.
  const of = verdict.scope === 'route' && route !== null
    ? { type: 'routeMarked' as const, provider, model: route.model }
    : { type: 'providerMarked' as const, provider }
  return {
    ...of, at: now, until: Math.min(lapse, reset), rule: verdict.rule, message: cutText(message, MARK_TEXT),
    ...verdict.resetHint === undefined ? {} : { resetHint: cutText(verdict.resetHint, 200) },
    ...verdict.resetsAt === undefined || verdict.resetsAt < 0 ? {} : { resetsAt: verdict.resetsAt },
  }
}

/**
 * Whether a mark says what is not known yet: a hundred sessions may be refused in one breath, and one mark says it for
 * all.
 *
 * @param mark - the new mark.
 * @param marks - what is known.
 * @param config - the deployment.
 */
export function isNews(mark: MarkRecord, marks: MarksState, { longTermDelayMs }: Pick<Config, 'longTermDelayMs'>): boolean {
  const held = Object.hasOwn(marks, markKey(mark)) ? marks[markKey(mark)] : undefined
  const same = Math.min(SAME_REFUSAL_MS, longTermDelayMs / 2)
  const known = held !== undefined && held.rule === mark.rule && mark.at >= held.at && mark.at < held.until
  return !known || mark.at - held.at >= same || Math.abs(mark.until - held.until) >= same
}
