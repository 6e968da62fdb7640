/** What the readers of times have in common. */

/** A stretch of the text. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A time as one reader has it. */
export interface ReadTime {
  readonly span: Span
  /** Epoch ms; absent when the zone or the day is missing. */
  readonly at?: number
  /** It is about a reset by the name of its field, whatever stands around it. */
  readonly sure?: boolean
}

/** Finds the times of one form. */
export type Reader = (text: string, now: number) => ReadTime[]

/**
 * A time as it was read.
 *
 * @param span - where it stands.
 * @param at - epoch ms, where there is an instant.
 * @param sure - whether it is about a reset by its name.
 */
export const withAt = (span: Span, at: number | undefined, sure = false): ReadTime => ({ span, sure, ...at === undefined ? {} : { at } })
