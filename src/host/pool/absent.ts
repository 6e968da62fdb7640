import { cutText } from '../../events/failure.ts'
import type { Config, RouteConfig } from '../../policy/config.ts'
import type { UnfitRoute } from '../../projections/routes.ts'
import type { Clock } from '../clock.ts'

/** What looking for absent routes needs. */
export interface AbsentParts {
  readonly config: Pick<Config, 'pools'>
  readonly clock: Clock
  /** What the host has against a route, or `undefined`. */
  readonly objection: (route: RouteConfig, signal: AbortSignal) => Promise<string | undefined>
}

/** Age at which the host is asked again, in ms: a provider may be added to it while it runs. */
const FRESH_MS = 5_000

/** The routes of the pools that the host would not send to: it has no such provider or model. */
export class AbsentRoutes {
  private readonly parts: AbsentParts
  private found: readonly UnfitRoute[] = []
  private looking: Promise<void> | undefined
  private lookedAt: number | undefined

  /**
   * @param parts - what the look needs.
   */
  constructor(parts: AbsentParts) {
    this.parts = parts
  }

  /** Routes that the host did not have at the last look. */
  get list(): readonly UnfitRoute[] {
    return this.found
  }

  /** Ask the host for every route again, unless that was done a moment ago. Never rejects. */
  look(): Promise<void> {
    const { clock } = this.parts
    const age = this.lookedAt === undefined ? undefined : clock.now() - this.lookedAt
    if (age !== undefined && age >= 0 && age < FRESH_MS) return Promise.resolve()
    this.looking ??= this.ask().catch(() => {}).finally(() => { this.looking = undefined })
    return this.looking
  }

  private async ask(): Promise<void> {
    const { clock, config, objection } = this.parts
    const { signal } = new AbortController()
    const routes = new Map(Object.values(config.pools).flatMap(pool => pool.routes).map(route => [JSON.stringify(route), route]))
    const asked = await Promise.all([...routes.values()].map(async (route): Promise<UnfitRoute[]> => {
      const why = await objection(route, signal)
      return why === undefined ? [] : [{ route: { provider: route.provider, model: route.model }, why: cutText(why, 300), at: clock.now() }]
    }))
    this.lookedAt = clock.now()
    this.found = asked.flat()
  }
}
