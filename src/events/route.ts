/** One provider/model pair a request can be sent to. */
export interface Route {
  readonly provider: string
  readonly model: string
}

/**
 * Whether two routes are the same provider and model.
 *
 * @param a - one route, or none.
 * @param b - the other.
 * @returns true only when both exist and agree.
 */
export function sameRoute(a: Route | null | undefined, b: Route | null | undefined): boolean {
  return a !== null && a !== undefined && b !== null && b !== undefined
    && a.provider === b.provider && a.model === b.model
}

/**
 * A route as people write it.
 *
 * @param route - the route.
 * @returns `provider/model`.
 */
export const routeName = (route: Route): string => `${route.provider}/${route.model}`
