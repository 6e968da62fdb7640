import type { Config } from '../policy/config.ts'
import { chooseStart } from '../policy/pool/choose.ts'
import { resolvePool } from '../policy/settings.ts'
import { quotaRetryFacts } from '../projections/facts.ts'
import { routesReport, withoutAbsent } from '../projections/routes.ts'
import { retrySnapshot } from '../projections/snapshot.ts'
import type { AbsentRoutes } from './pool/absent.ts'
import type { Balances } from './pool/balances.ts'
import type { SessionBook } from './book.ts'
import type { Router } from './pool/router.ts'
import type { SettingsWriter } from './settings.ts'
import type { QuotaRetryService } from './types.ts'
import type { Waits } from './waits.ts'

/** What the service works with. */
export interface ServiceParts {
  readonly config: Config
  readonly book: SessionBook
  readonly waits: Pick<Waits, 'end'>
  readonly settings: SettingsWriter
  readonly balances: Balances
  readonly router: Router
  readonly absent: AbsentRoutes
}

/**
 * The service `ctx.llmQuotaRetry`.
 *
 * @param parts - what it works with.
 */
export function createService({ config, book, waits, settings, balances, router, absent }: ServiceParts): QuotaRetryService {
  return Object.freeze<QuotaRetryService>({
    isRetrying: session => book.of(session).entries.open !== null,
    stateOf: session => retrySnapshot(book.of(session), config),
    facts: session => quotaRetryFacts(book.of(session), config),
    setEnabled(session, enabled) {
      settings.set(session, { setting: 'retry', value: enabled === null ? 'default' : enabled ? 'on' : 'off', inherited: false })
    },
    retryNow: session => waits.end(session.id, { kind: 'go', cause: 'asked' }),
    async pickRoute(pool) {
      const routes = Object.hasOwn(config.pools, pool) ? config.pools[pool]?.routes : undefined
      if (routes === undefined) return undefined
      await Promise.all([absent.look(), balances.refresh(routes.map(route => route.provider))])
      // A pool always answers, also where the host has none of its routes.
      const choice = chooseStart(pool, router.world, withoutAbsent(config, absent.list)) ?? chooseStart(pool, router.world, config)
      const { provider, model, reasoningEffort } = choice?.route ?? {}
      if (provider === undefined || model === undefined) return undefined
      return Object.freeze({ provider, model, ...reasoningEffort === undefined ? {} : { reasoningEffort } })
    },
    setPool(session, pool) {
      if (pool !== null && !Object.hasOwn(config.pools, pool)) return false
      settings.set(session, { setting: 'pool', value: pool ?? 'off', inherited: false })
      return true
    },
    clearPool(session) {
      settings.set(session, { setting: 'pool', value: 'default', inherited: false })
    },
    poolOf(session) {
      const { settings: stated, step } = book.of(session)
      return resolvePool(stated, step.route, config).pool ?? undefined
    },
    report: () => routesReport(router.world, config, { unfit: router.unfit, absent: absent.list }),
  })
}
