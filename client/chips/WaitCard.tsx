import type { ReactNode } from 'react'
import type { Translate } from '../browser-host.ts'
import type { LiveWait } from '../facts.ts'
import { useTick } from '../tick.ts'
import { spokenText } from '../time.ts'
import type { Viewer } from '../viewer.ts'

/** One line of a card. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return <div className="lqr-fact"><span className="lqr-fact-name">{name}</span><span>{children}</span></div>
}

/** What a session waits for. */
export function WaitCard({ wait, running, viewer, t }: {
  readonly wait: LiveWait
  /** Whether the session's turn is open. */
  readonly running: boolean
  readonly viewer: Viewer
  readonly t: Translate
}): ReactNode {
  useTick(wait.nextAttemptAt)
  const next = wait.nextAttemptAt === null ? t(running ? 'wait.asking' : 'wait.idle') : viewer.next(wait.nextAttemptAt)
  const since = t('wait.sinceFor', { time: viewer.time(wait.since), duration: viewer.duration(Date.now() - wait.since) })
  return (
    <div className="lqr-facts">
      <div className="lqr-card-title">{t('wait.title')}</div>
      <Fact name={t('wait.route')}>{wait.model === null ? wait.provider : `${wait.provider}/${wait.model}`}</Fact>
      <Fact name={t('wait.since')}>{since}</Fact>
      {wait.attempts > 1 && <Fact name={t('wait.attempts')}>{wait.attempts}</Fact>}
      <Fact name={t('wait.nextLabel')}>{next}</Fact>
      {wait.resetsAt != null && <Fact name={t('wait.back')}>{viewer.time(wait.resetsAt)}</Fact>}
      <Fact name={t('wait.said')}><q className="lqr-said">{spokenText(wait.reason)}</q></Fact>
    </div>
  )
}
