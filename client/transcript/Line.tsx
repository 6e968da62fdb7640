import { type ReactNode, useState } from 'react'
import type { SessionProps } from '../browser-host.ts'
import { PROJECTION, readFacts } from '../facts.ts'
import type { Viewer } from '../viewer.ts'
import { lineText } from './chain.ts'
import type { LineData } from './definition.ts'
import { Quote } from './Quote.tsx'

/** A wait or a move of ours, in one line, with what the provider said to open and to copy. */
export function Line({ node, useProjection, viewer, t }: SessionProps & { readonly node: { readonly data: LineData }; readonly viewer: Viewer }): ReactNode {
  const [open, setOpen] = useState(false)
  const { chain, turn } = node.data
  const wait = readFacts(useProjection(PROJECTION))?.wait
  const { key, values, next, until, why } = lineText(chain, turn, wait?.pending === true ? wait.nextAttemptAt : null)
  const said = t(key, { ...values, time: next && viewer.time(next), why: why && t(why) })
  const quoted = why === undefined && chain.said !== ''
  return (
    <div className="lqr-line" data-lqr="line" data-kind={chain.policy.kind}>
      <div className="lqr-line-head">
        <span>{said}{until && t('line.until', { time: viewer.time(until) })}</span>
        {quoted && (
          <button type="button" className="lqr-disclose" aria-expanded={open} onClick={() => { setOpen(!open) }}>{t('line.said')}</button>
        )}
      </div>
      {open && quoted && <Quote text={chain.said} label={t('line.said')} t={t} />}
    </div>
  )
}
