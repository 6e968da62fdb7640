import { type ReactNode, useState } from 'react'
import type { WaitingSession } from '../../src/projections/page.ts'
import { routeText } from '../routes.ts'
import { useTick } from '../tick.ts'
import { spokenText } from '../time.ts'
import type { Names, PartProps } from './Page.tsx'
import type { Call } from './use-page.ts'

interface WaitingProps extends PartProps {
  readonly nameOf: Names
  readonly call: Call
}

function Row({ wait, nameOf, call, viewer, t }: WaitingProps & { readonly wait: WaitingSession }): ReactNode {
  const [problem, setProblem] = useState(false)
  const name = nameOf(wait.session)
  const run = (endpoint: 'retry' | 'stop') => () => {
    setProblem(false)
    call(endpoint, { session: wait.session }).then(
      (result) => { setProblem(!result.ok || (result.value as { done?: unknown } | undefined)?.done !== true) },
      () => { setProblem(true) },
    )
  }
  useTick(wait.nextAttemptAt)
  const next = wait.nextAttemptAt === null ? t('wait.asking') : t('waiting.next', { time: viewer.next(wait.nextAttemptAt) })
  const more = [
    wait.model === null ? wait.provider : routeText({ provider: wait.provider, model: wait.model }),
    t('waiting.since', { time: viewer.time(wait.since) }),
    ...wait.attempts !== null && wait.attempts > 1 ? [t('waiting.checks', { count: wait.attempts })] : [],
    ...wait.open ? [] : [t('waiting.closed')],
  ]
  return (
    <li className="lqr-item">
      <div className="lqr-item-body">
        <div className="lqr-item-title"><span className="lqr-dot" data-state="waiting" aria-hidden="true" />{name}</div>
        <div className="lqr-detail">
          <span className="lqr-strong">{next}</span>
          <span>{more.join(' · ')}</span>
          {wait.resetsAt != null && <span className="lqr-own">{t('waiting.back', { time: viewer.time(wait.resetsAt) })}</span>}
          {wait.reason !== '' && <q className="lqr-said">{spokenText(wait.reason)}</q>}
          {problem && <span role="alert" className="lqr-problem">{t('waiting.failed')}</span>}
        </div>
      </div>
      <div className="lqr-buttons">
        <button type="button" className="lqr-button" aria-label={t('waiting.nowOf', { session: name })} onClick={run('retry')}>{t('retry.now')}</button>
        <button type="button" className="lqr-button" aria-label={t('waiting.stopOf', { session: name })} onClick={run('stop')}>{t('retry.stop')}</button>
      </div>
    </li>
  )
}

/** The sessions that wait for their allowance. */
export function Waiting(props: WaitingProps): ReactNode {
  const { page, t } = props
  if (page.waiting.length === 0) return <p className="lqr-quiet">{t('waiting.none')}</p>
  return <ul className="lqr-box">{page.waiting.map(wait => <Row key={wait.session} {...props} wait={wait} />)}</ul>
}
