import type { ReactNode } from 'react'
import type { RouteReport } from '../../src/projections/routes.ts'
import { instantIn } from '../time.ts'
import type { PartProps } from './Page.tsx'

interface RouteProps extends PartProps {
  readonly route: RouteReport
}

const withUnit = (value: string, unit: string | undefined): string => unit === undefined ? value : unit === 'percent' ? `${value}%` : `${value} ${unit}`

/** How much is left of what can be, where both are known. */
function Bar({ remaining, maximum, minimum, label }: {
  readonly remaining: number
  readonly maximum: number
  readonly minimum: number
  readonly label: string
}): ReactNode {
  const share = Math.min(1, Math.max(0, remaining / maximum))
  return (
    <span className="lqr-bar" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={maximum} aria-valuenow={Math.min(maximum, Math.max(0, remaining))} data-low={remaining <= 0 || remaining < minimum || undefined}>
      <span style={{ width: `${share * 100}%` }} />
    </span>
  )
}

function ReadingText({ route, page, viewer, t }: RouteProps): ReactNode {
  const { reading, missing } = route
  if (reading === undefined) {
    const none = !page.readable.includes(route.provider) ? t('reading.source') : t('reading.none')
    return <span>{none}{missing !== undefined && ` (${t(`missing.${missing.missing}`)})`}</span>
  }
  // A percentage has a maximum even where the script names none.
  const maximum = reading.maximum ?? (reading.unit === 'percent' ? 100 : undefined)
  const value = withUnit(viewer.amount(reading.remaining), reading.unit)
  const left = reading.maximum === undefined
    ? t('reading.left', { value })
    : t('reading.leftOf', { value: viewer.amount(reading.remaining), maximum: withUnit(viewer.amount(reading.maximum), reading.unit) })
  const more = [
    t('reading.age', { duration: viewer.duration(Date.now() - reading.at) }),
    ...route.minimumRemaining > 0 ? [t('pools.threshold', { value: withUnit(viewer.amount(route.minimumRemaining), reading.unit) })] : [],
    ...reading.resetsAt === undefined ? [] : [t('reading.resets', { when: whenText(reading.resetsAt, viewer.fullTime) })],
  ]
  return (
    <>
      {maximum !== undefined && <Bar remaining={reading.remaining} maximum={maximum} minimum={route.minimumRemaining} label={left} />}
      <span className="lqr-strong">{left}</span>
      <span>{more.join(' · ')}</span>
      {reading.error !== undefined && <span>{t('reading.error', { text: reading.error })}</span>}
    </>
  )
}

/** A time of the provider's: in the viewer's own way where it is one without doubt, as written otherwise. */
const whenText = (text: string, write: (at: number) => string): string => write(instantIn(text)) || text

/** Why a route stands as it does, where its grade alone does not say. */
function why({ route, page, viewer, t }: RouteProps): string | undefined {
  const unit = route.reading?.unit
  switch (route.grade) {
    case 'low': return t('grade.low.why', { value: withUnit(viewer.amount(route.minimumRemaining), unit) })
    case 'unread': return t('grade.unread.why')
    case 'usable': return route.reading === undefined && page.report.failOpen ? t('grade.open.why') : undefined
    default: return undefined
  }
}

function Route(props: RouteProps & { readonly index: number; readonly chosen: boolean }): ReactNode {
  const { route, index, chosen, viewer, t } = props
  const reason = why(props)
  const { mark, unfit } = route
  return (
    <li className="lqr-route" data-grade={route.grade}>
      <span className="lqr-index" aria-hidden="true">{index + 1}</span>
      <div className="lqr-route-body">
        <div className="lqr-route-head">
          <span className="lqr-route-name">{route.provider}<span className="lqr-faint">/{route.model}</span></span>
          {route.reasoningEffort !== undefined && <span className="lqr-faint">{route.reasoningEffort}</span>}
          <span className="lqr-grade" data-grade={route.grade}>{t(`grade.${route.grade}`)}</span>
        </div>
        <div className="lqr-detail">
          <ReadingText {...props} />
          {reason !== undefined && <span>{reason}</span>}
        </div>
        {chosen && <div className="lqr-detail lqr-start">{t('pools.start')}</div>}
        {mark !== undefined && (
          <div className="lqr-detail">
            <span className="lqr-strong">{t(mark.scope === 'route' ? 'mark.model' : 'mark.until', { time: viewer.fullTime(mark.until) })}</span>
            <span>{t('mark.since', { duration: viewer.duration(Date.now() - mark.at) })}</span>
            <q className="lqr-said">{mark.message}</q>
          </div>
        )}
        {unfit !== undefined && <div className="lqr-detail">{t('unfit', { why: unfit.why })}</div>}
      </div>
    </li>
  )
}

/** Every pool with its routes in the order of preference. */
export function Pools(props: PartProps): ReactNode {
  const { page, t } = props
  if (page.report.pools.length === 0) return <p className="lqr-quiet">{t('pools.none')}</p>
  return page.report.pools.map(({ pool, routes, chosen }) => (
    <div key={pool} className="lqr-box">
      <h4>{pool}</h4>
      <ol>{routes.map((route, index) => <Route key={`${route.provider}/${route.model}`} {...props} route={route} index={index} chosen={index === chosen} />)}</ol>
    </div>
  ))
}
