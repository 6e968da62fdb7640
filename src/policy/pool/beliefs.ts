import type { Mark } from '../../reducers/marks.ts'
import { clears } from './choose.ts'
import type { Reading } from './readings.ts'

/**
 * What is thought of a provider's readings while sessions wait for it. A reading is believed once: one that a refusal
 * proved wrong counts again only when it has grown. A balance that is there but of no use (another plan, another
 * product) would otherwise send somebody to ask every minute.
 */
export interface Belief {
  /** The reading that a session was sent to ask for. */
  readonly believed?: Pick<Reading, 'remaining' | 'at'>
  /** What the reading was when the provider refused all the same. */
  readonly refuted?: number
  /** Epoch ms at which the newest refused request was sent. */
  readonly refusedAt?: number
}

/** Nothing was read, asked or refused. */
export const noBelief: Belief = {}

/** Whether a request was sent before something; what lies ahead of the clock was before the clock was set back. */
const isBefore = (sentAt: number, at: number | undefined, now: number): boolean => at !== undefined && at <= now && sentAt < at

/**
 * Whether a reading is reason enough to ask a provider again.
 *
 * @param belief - what is thought of its readings.
 * @param reading - the reading.
 * @param mark - the mark that keeps requests from the provider, if it holds one.
 * @param source - how often it is read, in ms, and how much it has to have left.
 */
export function isWorthAsking(belief: Belief, reading: Reading, mark: Mark | undefined, source: { readonly refreshMs: number; readonly minimumRemaining: number }): boolean {
  if (!clears(reading, source.minimumRemaining)) return false
  // The very probe that the failure triggered, or a script with a cache of its own, must not send sessions straight back.
  if (mark !== undefined && reading.at < mark.at + source.refreshMs) return false
  return belief.refuted === undefined || reading.remaining > belief.refuted
}

/**
 * A refusal for a spent allowance refutes the reading that its request was sent for.
 *
 * @param belief - what was thought.
 * @param sentAt - epoch ms at which the request was sent; one sent before the reading says nothing about it.
 * @param now - epoch ms.
 */
export function afterRefusal({ believed, refusedAt, refuted }: Belief, sentAt: number, now: number): Belief {
  const kept = believed !== undefined && isBefore(sentAt, believed.at, now)
  const newest = refusedAt === undefined || refusedAt > now ? sentAt : Math.max(refusedAt, sentAt)
  const proved = believed !== undefined && !kept ? believed.remaining : refuted
  return { refusedAt: newest, ...kept ? { believed } : {}, ...proved === undefined ? {} : { refuted: proved } }
}

/**
 * An answer proves that readings tell the truth again.
 *
 * @param belief - what was thought.
 * @param sentAt - epoch ms at which the request was sent; one sent before a refused one says nothing about it.
 * @param now - epoch ms.
 */
export function afterAnswer(belief: Belief, sentAt: number, now: number): Belief {
  if (isBefore(sentAt, belief.refusedAt, now)) return belief
  return belief.refusedAt === undefined ? noBelief : { refusedAt: belief.refusedAt }
}
