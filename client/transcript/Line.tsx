import { type ReactNode, useState } from 'react'
import type { SessionProps } from '../browser-host.ts'
import { PROJECTION, readFacts } from '../facts.ts'
import { useTick } from '../tick.ts'
import type { Viewer } from '../viewer.ts'
import type { LineText } from './chain.ts'
import type { LineData } from './definition.ts'
import { moveText } from './move.ts'
import { Quote } from './Quote.tsx'
import { waitText } from './wait.ts'

/** A wait or a move of ours, in one line, with what the provider said to open and to copy. */
export function Line({ node, useProjection, viewer, t }: SessionProps & { readonly node: { readonly data: LineData }; readonly viewer: Viewer }): ReactNode {
  const [open, setOpen] = useState(false)
  const { line, turn } = node.data
  const wait = readFacts(useProjection(PROJECTION))?.wait
  const { key, next, took, until, values, why }: LineText = line.kind === 'move'
    ? moveText(line)
    : waitText(line, turn, wait?.pending === true ? wait.nextAttemptAt : null)
  useTick(next)
  const said = t(key, { ...values, time: next && viewer.next(next), duration: took === undefined ? undefined : viewer.duration(took) })
  // The reset is the provider's word on its allowance, and the next check is ours: never one for the other.
  const end = until == null ? '' : t(line.kind === 'move' ? 'line.until' : 'line.resets', { time: viewer.time(until) })
  return (
    <div className="lqr-line" data-lqr="line" data-kind={line.kind}>
      <div className="lqr-line-head">
        <span>{said}{why && t('line.why', { why: t(why) })}{end}</span>
        {line.said !== '' && (
          <button type="button" className="lqr-disclose" aria-expanded={open} onClick={() => { setOpen(!open) }}>{t('line.said')}</button>
        )}
      </div>
      {open && <Quote text={line.said} label={t('line.said')} t={t} />}
    </div>
  )
}
