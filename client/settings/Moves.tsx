import type { ReactNode } from 'react'
import type { Names, PartProps } from './Page.tsx'

const routeText = ({ provider, model }: { readonly provider: string; readonly model: string }): string => `${provider}/${model}`

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
              <span>{viewer.time(at)}</span>
              <span>{t('pool.pool')}: {pool}</span>
              <span>{t(`moves.${kind}`)}</span>
              <span>{nameOf(session)}</span>
            </div>
          </div>
        </li>
      ))}
    </ol>
  )
}
