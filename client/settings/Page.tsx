import { type ReactNode, useId, useState } from 'react'
import type { QuotaPage } from '../../src/projections/page.ts'
import type { Translate } from '../browser-host.ts'
import type { Viewer } from '../viewer.ts'
import { ConfigList } from './ConfigList.tsx'
import { Moves } from './Moves.tsx'
import { Pools } from './Pools.tsx'
import { type Call, usePage } from './use-page.ts'
import { Waiting } from './Waiting.tsx'

/** Names of the sessions by id, as the page lists them. */
export type Names = (session: string) => string

/** What every part of the page is given. */
export interface PartProps {
  readonly page: QuotaPage
  readonly viewer: Viewer
  readonly t: Translate
}

/** The page's list of sessions, as far as names go. */
interface SessionList {
  readonly byId?: Readonly<Record<string, { readonly displayTitle?: string } | undefined>>
}

/** A part of the page under its own heading. */
export function Part({ title, action, children }: { readonly title: string; readonly action?: ReactNode; readonly children: ReactNode }): ReactNode {
  const id = useId()
  return (
    <section className="lqr-part" aria-labelledby={id}>
      <div className="lqr-part-head"><h3 id={id}>{title}</h3>{action}</div>
      {children}
    </section>
  )
}

function Refresh({ page, call, t }: { readonly page: QuotaPage; readonly call: Call; readonly t: Translate }): ReactNode {
  const [busy, setBusy] = useState(false)
  if (page.readable.length === 0) return null
  const refresh = (): void => {
    if (busy) return
    setBusy(true)
    // What comes of it arrives with the next state.
    call('refresh', {}).catch(() => undefined).finally(() => { setBusy(false) })
  }
  return <button type="button" className="lqr-button" aria-busy={busy} onClick={refresh}>{t(busy ? 'page.refreshing' : 'page.refresh')}</button>
}

/** The settings page "Quota and routes". */
export function Page({ call, viewer, t, useSessions }: {
  readonly call: Call
  readonly viewer: Viewer
  readonly t: Translate
  readonly useSessions: <T>(select: (list: SessionList) => T) => T
}): ReactNode {
  const { status, page, stale, again } = usePage(call)
  const byId = useSessions(list => list.byId)
  const nameOf: Names = session => byId?.[session]?.displayTitle ?? session
  if (page === undefined) {
    return (
      <div className="lqr-page" data-lqr="page" aria-busy={status === 'loading'}>
        <p className="lqr-quiet" role="status">{t(status === 'loading' ? 'page.loading' : 'page.gone')}</p>
        {status === 'gone' && <div><button type="button" className="lqr-button" onClick={again}>{t('page.again')}</button></div>}
      </div>
    )
  }
  const props = { page, viewer, t }
  return (
    <div className="lqr-page" data-lqr="page">
      {stale && (
        <p className="lqr-note" role="status">
          {t('page.stale', { time: viewer.time(page.at) })} <button type="button" className="lqr-button" onClick={again}>{t('page.again')}</button>
        </p>
      )}
      <Part title={t('pools.title')} action={<Refresh page={page} call={call} t={t} />}><Pools {...props} call={call} /></Part>
      <Part title={t('waiting.title')}><Waiting {...props} nameOf={nameOf} call={call} /></Part>
      <Part title={t('moves.title')}><Moves {...props} nameOf={nameOf} /></Part>
      <Part title={t('config.title')}><ConfigList {...props} /></Part>
    </div>
  )
}
