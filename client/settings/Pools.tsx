import type { ReactNode } from 'react'
import { outlookOf } from '../../src/projections/outlook.ts'
import type { PoolReport, RouteReport } from '../../src/projections/routes.ts'
import { leftText, routeText, whenText, withUnit } from '../routes.ts'
import { spokenText } from '../time.ts'
import { ClearMark } from './ClearMark.tsx'
import type { PartProps } from './Page.tsx'
import type { Call } from './use-page.ts'

interface RouteProps extends PartProps {
  readonly call: Call
  readonly route: RouteReport
}

/** Grades of a route that can be used, whatever its reading says. */
const OPEN: ReadonlySet<RouteReport['grade']> = new Set(['usable', 'unread'])

/** How much is left of what can be, where both are known. */
function Bar({ remaining, maximum, low, label }: {
  readonly remaining: number
  readonly maximum: number
  /** Whether the route is not to be used, for whatever reason. */
  readonly low: boolean
  readonly label: string
}): ReactNode {
  const share = Math.min(1, Math.max(0, remaining / maximum))
  return (
    <span className="lqr-bar" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={maximum} aria-valuenow={Math.min(maximum, Math.max(0, remaining))} data-low={low || undefined}>
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
  const left = leftText(reading, viewer, t)
  const more = [
    t('reading.age', { duration: viewer.duration(Date.now() - reading.at) }),
    ...route.minimumRemaining > 0 ? [t('pools.threshold', { value: withUnit(viewer.amount(route.minimumRemaining), reading.unit) })] : [],
  ]
  return (
    <>
      {maximum !== undefined && <Bar remaining={reading.remaining} maximum={maximum} low={!OPEN.has(route.grade)} label={left} />}
      <span className="lqr-strong">{left}</span>
      <span>{more.join(' · ')}</span>
      {reading.resetsAt !== undefined && <span className="lqr-own">{t('reading.resets', { when: whenText(reading.resetsAt, viewer) })}</span>}
      {reading.error !== undefined && <span>{t('reading.error', { text: reading.error })}</span>}
    </>
  )
}

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
  const { route, index, chosen, call, viewer, t } = props
  const reason = why(props)
  const { absent, mark, unfit } = route
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
            <span className="lqr-strong">{t(mark.scope === 'route' ? 'mark.model' : 'mark.until', { time: viewer.time(mark.until) })}</span>
            <span>{t('mark.since', { duration: viewer.duration(Date.now() - mark.at) })}</span>
            <ClearMark route={route} call={call} t={t} />
            <q className="lqr-said">{spokenText(mark.message)}</q>
          </div>
        )}
        {absent !== undefined && <div className="lqr-detail">{t('absent', { why: absent })}</div>}
        {unfit !== undefined && <div className="lqr-detail">{t('unfit', { why: unfit.why })}</div>}
      </div>
    </li>
  )
}

/** What a pool comes to where no route of it can be used. */
function Outlook({ pool, t }: PartProps & { readonly pool: PoolReport }): ReactNode {
  const outlook = outlookOf(pool)
  const first = pool.routes[pool.chosen]
  if (outlook === 'usable') return null
  return <p className="lqr-note lqr-outlook">{first === undefined ? t('pools.absent') : t('pools.spent', { route: routeText(first) })}</p>
}

/** Every pool with its routes in the order of preference. */
export function Pools(props: PartProps & { readonly call: Call }): ReactNode {
  const { page, t } = props
  if (page.report.pools.length === 0) return <p className="lqr-quiet">{t('pools.none')}</p>
  return page.report.pools.map((pool) => {
    const chosen = outlookOf(pool) === 'usable' ? pool.chosen : -1
    return (
      <div key={pool.pool} className="lqr-box">
        <h4>{pool.pool}</h4>
        <Outlook {...props} pool={pool} />
        <ol>{pool.routes.map((route, index) => <Route key={routeText(route)} {...props} route={route} index={index} chosen={index === chosen} />)}</ol>
      </div>
    )
  })
}
