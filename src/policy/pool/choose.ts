import { type Route, sameRoute } from '../../events/route.ts'
import { type Mark, markOf, type MarksState } from '../../reducers/marks.ts'
import type { Config, RouteConfig } from '../config.ts'
import { type Reading, readingOf, type Readings } from './readings.ts'

/** What is known about providers at one moment; everything here is cached, nothing is asked. */
export interface World {
  readonly marks: MarksState
  readonly readings: Readings
  /** Epoch ms. */
  readonly now: number
}

/**
 * How a route stands, best first. `usable` clears the threshold, or nothing is known and `failOpen` is on;
 * `low` has allowance below the threshold; `unread` is unknown with `failOpen` off; `empty` has a reading of nothing
 * left; `marked` was refused by the provider itself, for all its models or for this one.
 */
export const GRADES = ['usable', 'low', 'unread', 'empty', 'marked'] as const
/** How a route stands. */
export type Grade = typeof GRADES[number]

/** A route, how it stands, and what that rests on. */
export interface Standing {
  readonly route: RouteConfig
  readonly grade: Grade
  /** The smallest reading at which the route is chosen, in the unit of the reading. */
  readonly minimumRemaining: number
  readonly reading?: Reading
  readonly mark?: Mark
}

/** Which route, and why: data that commands, report and audit print. */
export interface Choice {
  readonly pool: string
  readonly route: RouteConfig
  readonly grade: Grade
  /** Every route of the pool in declared order, as it stood. */
  readonly standings: readonly Standing[]
}

/**
 * The smallest reading at which a provider's routes are chosen.
 *
 * @param config - the deployment.
 * @param provider - the provider.
 * @returns its own `minimumRemaining`, zero where it declares none.
 */
export function minimumOf(config: Pick<Config, 'balances'>, provider: string): number {
  return config.balances.find(source => source.provider === provider)?.minimumRemaining ?? 0
}

/**
 * Whether a reading shows allowance that a session may be sent to.
 *
 * @param reading - the reading.
 * @param minimum - the provider's threshold. At a threshold of zero, nothing left is still nothing left.
 */
export const clears = (reading: Reading, minimum: number): boolean => reading.remaining > 0 && reading.remaining >= minimum

function gradeOf(mark: Mark | undefined, reading: Reading | undefined, minimum: number, failOpen: boolean): Grade {
  if (mark !== undefined) return 'marked'
  if (reading === undefined) return failOpen ? 'usable' : 'unread'
  if (clears(reading, minimum)) return 'usable'
  return reading.remaining > 0 ? 'low' : 'empty'
}

/**
 * How a route stands: the provider's own refusal decides first, then its reading, then `failOpen`.
 *
 * @param route - the route.
 * @param world - what is known.
 * @param config - the deployment.
 */
export function standingOf(route: RouteConfig, world: World, config: Pick<Config, 'balances' | 'failOpen'>): Standing {
  const mark = markOf(world.marks, route, world.now)
  const reading = readingOf(world.readings, route.provider)
  const minimumRemaining = minimumOf(config, route.provider)
  return {
    route,
    grade: gradeOf(mark, reading, minimumRemaining, config.failOpen),
    minimumRemaining,
    ...reading === undefined ? {} : { reading },
    ...mark === undefined ? {} : { mark },
  }
}

/** The first of the best grade in declared order. */
function best(standings: readonly Standing[]): Standing | undefined {
  for (const grade of GRADES) {
    const found = standings.find(standing => standing.grade === grade)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * The route a session starts on: the first usable one in declared order, else the first of the best that is left. A
 * request has to run somewhere, so a pool always answers.
 *
 * @param pool - name of a configured pool.
 * @param world - what is known.
 * @param config - the deployment.
 * @returns the choice, or `undefined` when no pool of that name exists.
 */
export function chooseStart(pool: string, world: World, config: Config): Choice | undefined {
  const routes = Object.hasOwn(config.pools, pool) ? config.pools[pool]?.routes : undefined
  const standings = routes?.map(route => standingOf(route, world, config)) ?? []
  const found = best(standings)
  return found === undefined ? undefined : { pool, route: found.route, grade: found.grade, standings }
}

/**
 * The route a session moves to when its own is out of allowance: the first that clears its threshold, else any that is
 * not out of allowance, for a route with little left can still be the one that answers.
 *
 * @param pool - name of a configured pool.
 * @param except - routes that are no targets: those that refused already, and those that the host refuses.
 * @param world - what is known; the provider that just refused is marked in it.
 * @param config - the deployment.
 * @returns the choice, or `undefined` when every other route is out of allowance too.
 */
export function chooseMove(pool: string, except: readonly Route[], world: World, config: Config): Choice | undefined {
  const start = chooseStart(pool, world, config)
  if (start === undefined) return undefined
  const targets = start.standings.filter(({ grade, route }) =>
    grade !== 'marked' && grade !== 'empty' && !except.some(other => sameRoute(other, route)))
  const found = best(targets)
  return found === undefined ? undefined : { ...start, route: found.route, grade: found.grade }
}

/**
 * The route that is asked next where a person wants every route of the pool asked: in declared order, whatever is known.
 *
 * @param pool - name of a configured pool.
 * @param except - routes that were asked already, and those that cannot serve.
 * @param world - what is known; it tells how the routes stand and decides nothing.
 * @param config - the deployment.
 * @returns the choice, or `undefined` when every route was asked.
 */
export function chooseInTurn(pool: string, except: readonly Route[], world: World, config: Config): Choice | undefined {
  const start = chooseStart(pool, world, config)
  const found = start?.standings.find(({ route }) => !except.some(other => sameRoute(other, route)))
  return start === undefined || found === undefined ? undefined : { ...start, route: found.route, grade: found.grade }
}
