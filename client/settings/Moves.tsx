import type { ReactNode } from 'react'
import { routeText } from '../routes.ts'
import type { Names, PartProps } from './Page.tsx'

/** Where sessions went lately, the newest first. */
export function Moves({ page, nameOf, viewer, t }: PartProps & { readonly nameOf: Names }): ReactNode {
  if (page.moves.length === 0) return <p className="lqr-quiet">{t('moves.none')}</p>
  return (
    <ol className="lqr-box">
      {page.moves.map(({ at, from, kind, pool, session, to }) => (
        <li key={`${at} ${session} ${kind}`} className="lqr-item">
          <div className="lqr-item-body">
            <div className="lqr-item-title">{routeText(from)} <span className="lqr-faint" aria-hidden="true">→</span> {routeText(to)}</div>
            <div className="lqr-detail">
              <span>{[viewer.time(at), t('pool.chip', { value: pool }), t(`moves.${kind}`), nameOf(session)].join(' · ')}</span>
            </div>
          </div>
        </li>
      ))}
    </ol>
  )
}
