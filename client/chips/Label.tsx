import type { ReactNode } from 'react'
import { Chevron } from '../glyphs.tsx'

/** A value longer than this is cut in its middle where there is no room for it: names differ at their ends. */
const WHOLE = 14
/** Letters at the end that stay. */
const END = 7

/**
 * What stands in a chip. Where the composer has no room, first the words go, then the middle of the value, then the arrow, then
 * all but the sign of the chip.
 */
export function Label({ glyph, words, value }: {
  readonly glyph: ReactNode
  /** Words before the value, and after it in no language. */
  readonly words: string
  readonly value: string
}): ReactNode {
  const cut = value.length > WHOLE ? value.length - END : value.length
  return (
    <span className="lqr-fit" aria-hidden="true">
      {glyph}
      {/* The last of a line that is read from its right end is the first to go. */}
      <span className="lqr-label">
        <span className="lqr-value"><span className="lqr-head">{value.slice(0, cut)}</span>{value.slice(cut)}</span>
        {words !== '' && <span className="lqr-words">{words}</span>}
      </span>
      <Chevron />
    </span>
  )
}
