import type { RouteReport } from '../src/projections/routes.ts'
import type { Translate } from './browser-host.ts'
import { instantIn } from './time.ts'
import type { Viewer } from './viewer.ts'

/** A route by its full name. */
export const routeText = ({ provider, model }: { readonly provider: string; readonly model: string }): string => `${provider}/${model}`

/** An amount with what it counts. */
export const withUnit = (value: string, unit: string | undefined): string => unit === undefined ? value : unit === 'percent' ? `${value}%` : `${value} ${unit}`

/** What is left of how much: of a hundred percent that says itself. */
export function leftText({ maximum, remaining, unit }: NonNullable<RouteReport['reading']>, viewer: Viewer, t: Translate): string {
  const value = viewer.amount(remaining)
  return maximum === undefined || (unit === 'percent' && maximum === 100)
    ? t('reading.left', { value: withUnit(value, unit) })
    : t('reading.leftOf', { value, maximum: withUnit(viewer.amount(maximum), unit) })
}

/** A time of the provider's: on the reader's clock where it is one without doubt, as written otherwise. */
export const whenText = (text: string, viewer: Viewer): string => viewer.time(instantIn(`reset ${text}`)) || text

/**
 * How a route stands, in one line: what is left, whether it can be used, until when it is marked, when it resets.
 *
 * @param route - the route.
 * @param viewer - writes times and amounts.
 * @param t - the texts.
 */
export function standText(route: RouteReport, viewer: Viewer, t: Translate): string {
  const { grade, mark, reading } = route
  return [
    ...reading === undefined ? [] : [leftText(reading, viewer, t)],
    mark === undefined || grade !== 'marked' ? t(`grade.${grade}`) : t('mark.spent', { time: viewer.time(mark.until) }),
    ...reading?.resetsAt === undefined ? [] : [t('reading.resets', { when: whenText(reading.resetsAt, viewer) })],
  ].join(' · ')
}
