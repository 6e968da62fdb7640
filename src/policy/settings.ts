import { type Route, sameRoute } from '../events/route.ts'
import type { SettingSource, SettingsState } from '../reducers/settings.ts'
import type { Config } from './config.ts'

/** The switch as it holds for a session now. */
export interface EffectiveSwitch {
  readonly enabled: boolean
  readonly source: 'default' | SettingSource
}

/** The pool as it holds for a session now. */
export interface EffectivePool {
  /** Name of the governing pool, or `null` when none governs. */
  readonly pool: string | null
  readonly source: 'default' | SettingSource | 'off'
  /** A pool that the session states and the configuration does not have. */
  readonly missing?: string
}

/**
 * The switch of a session: what it states itself, else the deployment's default.
 *
 * @param settings - what the session states.
 * @param config - the deployment.
 */
export function resolveSwitch(settings: SettingsState, config: Pick<Config, 'defaultEnabled'>): EffectiveSwitch {
  return settings.retry === null
    ? { enabled: config.defaultEnabled, source: 'default' }
    : { enabled: settings.retry.value === 'on', source: settings.retry.source }
}

/** The deployment's switch of retries. */
export interface LadderSwitch {
  readonly transient: Pick<Config['transient'], 'enabled'>
}

/**
 * The switch of retries of a session: what it states itself, else the deployment's default.
 *
 * @param settings - what the session states.
 * @param config - the deployment.
 */
export function resolveLadder(settings: SettingsState, config: LadderSwitch): EffectiveSwitch {
  return settings.failures === null
    ? { enabled: config.transient.enabled, source: 'default' }
    : { enabled: settings.failures.value === 'on', source: settings.failures.source }
}

/** Names of the pools that hold a route. */
function poolsWith(route: Route, config: Pick<Config, 'pools'>): string[] {
  return Object.entries(config.pools)
    .filter(([, pool]) => pool.routes.some(held => sameRoute(held, route)))
    .map(([name]) => name)
}

/**
 * The pool that governs a session: the one it states; else, when it states none, the single pool that holds its route.
 * A route that two pools share names neither, so a session is never moved on a guess.
 *
 * @param settings - what the session states.
 * @param route - the route the session is on, when it has used one.
 * @param config - the deployment.
 */
export function resolvePool(settings: SettingsState, route: Route | null, config: Pick<Config, 'pools'>): EffectivePool {
  const stated = settings.pool
  if (stated?.value === 'off') return { pool: null, source: 'off' }
  if (stated !== null) {
    return Object.hasOwn(config.pools, stated.value)
      ? { pool: stated.value, source: stated.source }
      : { pool: null, source: stated.source, missing: stated.value }
  }
  const holding = route === null ? [] : poolsWith(route, config)
  return { pool: holding.length === 1 ? holding[0] ?? null : null, source: 'default' }
}
