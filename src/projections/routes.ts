import { POOL_COMMAND } from '../events/settings.ts'
import { type Route, routeName, sameRoute } from '../events/route.ts'
import { chooseStart, GRADES, type Standing, standingOf, type World } from '../policy/pool/choose.ts'
import type { Config } from '../policy/config.ts'
import type { MissingReading, Reading, Readings } from '../policy/pool/readings.ts'
import { outlookOf } from './outlook.ts'
import { clockText, durationText, oneLine } from './text.ts'

/** A route that the host would not send to, or that would not take a conversation. */
export interface UnfitRoute {
  readonly route: Route
  /** Why, in the host's or the provider's words, cut. */
  readonly why: string
  /** Epoch ms. */
  readonly at: number
}

/** How a route stands: `absent` where the host would not send to it, else as the policy grades it. */
export const ROUTE_GRADES = [...GRADES, 'absent'] as const
/** How a route stands, for people. */
export type RouteGrade = typeof ROUTE_GRADES[number]

/** One route of a pool, as it stands. */
export interface RouteReport {
  readonly provider: string
  readonly model: string
  readonly reasoningEffort?: string
  readonly grade: RouteGrade
  readonly minimumRemaining: number
  readonly reading?: Reading
  /** Why there is no reading, where a script ran and gave none. */
  readonly missing?: MissingReading
  /** The provider's own refusal, while it holds: of this model (`route`), or of all that it has. */
  readonly mark?: { readonly scope: 'route' | 'provider'; readonly at: number; readonly until: number; readonly rule: string; readonly message: string; readonly resetHint?: string }
  readonly unfit?: UnfitRoute
  /** Why the host would not send to it, in the host's words, cut: it has no such provider or model. */
  readonly absent?: string
}

/** One pool. */
export interface PoolReport {
  readonly pool: string
  /**
   * Index of the route that would be chosen now, by `/quota-pool` or `pickRoute`: where none has allowance, the one that
   * is asked all the same. -1 where the host has none of them.
   */
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

/** What is known of single routes, besides what is known of their providers. */
export interface RoutesKnown {
  /** Routes that were found unfit, oldest first. */
  readonly unfit?: readonly UnfitRoute[]
  /** Routes that the host does not have. */
  readonly absent?: readonly UnfitRoute[]
}

function routeReport(standing: Standing, world: World, { absent = [], unfit = [] }: RoutesKnown): RouteReport {
  const { route, minimumRemaining, reading, mark } = standing
  const missing = missingOf(world.readings, route.provider)
  const why = absent.find(found => sameRoute(found.route, route))?.why
  // What the host does not have fits no session; the two would say one thing twice.
  const misfit = why === undefined ? unfit.findLast(found => sameRoute(found.route, route)) : undefined
  const grade = why === undefined ? standing.grade : 'absent'
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
    ...why === undefined ? {} : { absent: why },
  }
}

/**
 * The deployment without the routes that the host does not have: what is chosen from.
 *
 * @param config - the deployment.
 * @param absent - the routes.
 */
export function withoutAbsent(config: Config, absent: readonly UnfitRoute[]): Config {
  if (absent.length === 0) return config
  const has = (route: Route): boolean => !absent.some(found => sameRoute(found.route, route))
  const pools = Object.entries(config.pools).map(([name, pool]) => [name, { ...pool, routes: pool.routes.filter(has) }] as const)
  return { ...config, pools: Object.fromEntries(pools) }
}

/**
 * Every pool as it stands.
 *
 * @param world - what is known of the providers.
 * @param config - the deployment.
 * @param known - what is known of single routes.
 */
export function routesReport(world: World, config: Config, known: RoutesKnown = {}): RoutesReport {
  const present = withoutAbsent(config, known.absent ?? [])
  const pools = Object.entries(config.pools).map(([pool, { routes }]): PoolReport => {
    const choice = chooseStart(pool, world, present)
    return {
      pool,
      chosen: routes.findIndex(route => route === choice?.route),
      routes: routes.map(route => routeReport(standingOf(route, world, config), world, known)),
    }
  })
  return { at: world.now, failOpen: config.failOpen, pools }
}

const GRADE_TEXT: Readonly<Record<RouteGrade, string>> = {
  usable: 'usable', low: 'below its minimum', unread: 'not read, and failOpen is off', empty: 'nothing left', marked: 'out of allowance',
  absent: 'not on this host',
}

/** What a pool comes to now, behind its name. */
function outlookText(report: PoolReport): string {
  const { chosen, pool, routes } = report
  const target = routes[chosen]
  if (target === undefined) return '; this host has none of its routes'
  return outlookOf(report) === 'usable'
    ? `; /${POOL_COMMAND} ${pool} would choose ${routeName(target)} (${GRADE_TEXT[target.grade]})`
    : `; none of its routes has allowance, and ${routeName(target)} would be asked first`
}

const amountText = (amount: number, unit: string | undefined): string =>
  unit === undefined ? String(amount) : unit === 'percent' ? `${amount}%` : `${amount} ${oneLine(unit, 40)}`

/** What is left, and of how much: of a hundred percent that says itself. */
function leftText({ maximum, remaining, unit }: Reading): string {
  return maximum === undefined || (unit === 'percent' && maximum === 100)
    ? amountText(remaining, unit)
    : `${remaining} of ${amountText(maximum, unit)}`
}

/** A time of the provider's: on the clock of all other times where it can be read in one way only, as written otherwise. */
const whenText = (text: string): string => INSTANT.test(text) ? clockText(Date.parse(text)) : oneLine(text, 60)
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/

function readingText(route: RouteReport, now: number): string {
  if (route.reading === undefined) return route.missing === undefined ? 'no reading' : `no reading (${route.missing.missing})`
  const { at, resetsAt, error } = route.reading
  const parts = [
    `${leftText(route.reading)} left, read ${durationText(now - at)} ago`,
    ...route.minimumRemaining > 0 ? [`not chosen below ${amountText(route.minimumRemaining, route.reading.unit)}`] : [],
    ...resetsAt === undefined ? [] : [`resets ${whenText(resetsAt)}`],
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
  const absent = route.absent === undefined ? '' : `\n       this host would not send to it: ${oneLine(route.absent, 160)}`
  return `  ${chosen ? '>' : ' '} ${index + 1}. ${routeName(route)}${effort}: ${GRADE_TEXT[route.grade]}; ${readingText(route, now)}${markText(route, now)}${unfit}${absent}`
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
  return pools.map((found) => {
    const { pool, chosen, routes } = found
    const pointed = outlookOf(found) === 'usable' ? chosen : -1
    return [`Pool ${pool}${outlookText(found)}:`, ...routes.map((route, index) => routeText(route, index, index === pointed, report.at))].join('\n')
  }).join('\n')
}
