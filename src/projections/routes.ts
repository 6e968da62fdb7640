import { POOL_COMMAND } from '../events/settings.ts'
import { type Route, routeName, sameRoute } from '../events/route.ts'
import { chooseStart, type Grade, type Standing, type World } from '../policy/pool/choose.ts'
import type { Config } from '../policy/config.ts'
import type { MissingReading, Reading, Readings } from '../policy/pool/readings.ts'
import { clockText, durationText, oneLine } from './text.ts'

/** A route that the host would not send to, or that would not take a conversation. */
export interface UnfitRoute {
  readonly route: Route
  /** Why, in the host's or the provider's words, cut. */
  readonly why: string
  /** Epoch ms. */
  readonly at: number
}

/** One route of a pool, as it stands. */
export interface RouteReport {
  readonly provider: string
  readonly model: string
  readonly reasoningEffort?: string
  readonly grade: Grade
  readonly minimumRemaining: number
  readonly reading?: Reading
  /** Why there is no reading, where a script ran and gave none. */
  readonly missing?: MissingReading
  /** The provider's own refusal, while it holds: of this model (`route`), or of all that it has. */
  readonly mark?: { readonly scope: 'route' | 'provider'; readonly at: number; readonly until: number; readonly rule: string; readonly message: string; readonly resetHint?: string }
  readonly unfit?: UnfitRoute
}

/** One pool. */
export interface PoolReport {
  readonly pool: string
  /** Index of the route that would be chosen now, by `/quota-pool` or `pickRoute`. */
  readonly chosen: number
  readonly routes: readonly RouteReport[]
}

/** Every pool, route, reading and mark. */
export interface RoutesReport {
  /** Epoch ms. */
  readonly at: number
  readonly failOpen: boolean
  readonly pools: readonly PoolReport[]
}

function missingOf(readings: Readings, provider: string): MissingReading | undefined {
  const last = Object.hasOwn(readings, provider) ? readings[provider] : undefined
  return last !== undefined && 'missing' in last ? last : undefined
}

function routeReport(standing: Standing, world: World, unfit: readonly UnfitRoute[]): RouteReport {
  const { route, grade, minimumRemaining, reading, mark } = standing
  const missing = missingOf(world.readings, route.provider)
  const misfit = unfit.findLast(found => sameRoute(found.route, route))
  return {
    provider: route.provider,
    model: route.model,
    ...route.reasoningEffort === undefined ? {} : { reasoningEffort: route.reasoningEffort },
    grade,
    minimumRemaining,
    ...reading === undefined ? {} : { reading },
    ...missing === undefined ? {} : { missing },
    ...mark === undefined ? {} : {
      mark: {
        scope: mark.model === undefined ? 'provider' : 'route', at: mark.at, until: mark.until, rule: mark.rule, message: mark.message,
        ...mark.resetHint === undefined ? {} : { resetHint: mark.resetHint },
      },
    },
    ...misfit === undefined ? {} : { unfit: misfit },
  }
}

/**
 * Every pool as it stands.
 *
 * @param world - what is known of the providers.
 * @param config - the deployment.
 * @param unfit - routes that were found unfit, oldest first.
 */
export function routesReport(world: World, config: Config, unfit: readonly UnfitRoute[] = []): RoutesReport {
  const pools = Object.keys(config.pools).map((pool): PoolReport => {
    const choice = chooseStart(pool, world, config)
    const standings = choice?.standings ?? []
    return {
      pool,
      chosen: standings.findIndex(({ route }) => route === choice?.route),
      routes: standings.map(standing => routeReport(standing, world, unfit)),
    }
  })
  return { at: world.now, failOpen: config.failOpen, pools }
}

const GRADE_TEXT: Readonly<Record<Grade, string>> = {
  usable: 'usable', low: 'below its threshold', unread: 'not read, and failOpen is off', empty: 'nothing left', marked: 'out of allowance',
}

function readingText(route: RouteReport, now: number): string {
  if (route.reading === undefined) return route.missing === undefined ? 'no reading' : `no reading (${route.missing.missing})`
  const { remaining, unit, maximum, at, resetsAt, error } = route.reading
  const parts = [
    `${remaining}${maximum === undefined ? '' : ` of ${maximum}`}${unit === undefined ? '' : ` ${oneLine(unit, 40)}`} left, read ${durationText(now - at)} ago`,
    ...route.minimumRemaining > 0 ? [`chosen from ${route.minimumRemaining}`] : [],
    ...resetsAt === undefined ? [] : [`resets ${oneLine(resetsAt, 60)}`],
    ...error === undefined ? [] : [`the provider says: ${oneLine(error, 120)}`],
  ]
  return parts.join(', ')
}

function markText(route: RouteReport, now: number): string {
  if (route.mark === undefined) return ''
  const { scope, at, until, rule, message, resetHint } = route.mark
  const hint = resetHint === undefined ? '' : `; it says: ${oneLine(resetHint, 120)}`
  return `\n       refused ${durationText(now - at)} ago (${rule}: ${oneLine(message, 120)}); ${scope === 'route' ? 'this model is ' : ''}marked until ${clockText(until)}${hint}`
}

function routeText(route: RouteReport, index: number, chosen: boolean, now: number): string {
  const effort = route.reasoningEffort === undefined ? '' : ` (${route.reasoningEffort})`
  const unfit = route.unfit === undefined ? '' : `\n       not fit for a session ${durationText(now - route.unfit.at)} ago: ${oneLine(route.unfit.why, 160)}`
  return `  ${chosen ? '>' : ' '} ${index + 1}. ${routeName(route)}${effort}: ${GRADE_TEXT[route.grade]}; ${readingText(route, now)}${markText(route, now)}${unfit}`
}

/**
 * What `/quota-routes` prints.
 *
 * @param report - the pools.
 * @param only - one pool, or all of them.
 * @returns the text, or `undefined` when no pool of that name is configured.
 */
export function routesText(report: RoutesReport, only?: string): string | undefined {
  const pools = report.pools.filter(({ pool }) => only === undefined || pool === only)
  if (pools.length === 0) return only === undefined ? 'No pools are configured.' : undefined
  return pools.map(({ pool, chosen, routes }) => {
    const target = routes[chosen]
    const would = target === undefined ? '' : `; /${POOL_COMMAND} ${pool} would choose ${routeName(target)} (${GRADE_TEXT[target.grade]})`
    return [`Pool ${pool}${would}:`, ...routes.map((route, index) => routeText(route, index, index === chosen, report.at))].join('\n')
  }).join('\n')
}
