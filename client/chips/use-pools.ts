import { useCallback, useEffect, useState } from 'react'
import type { RoutesReport } from '../../src/projections/routes.ts'
import type { SessionModels } from '../browser-host.ts'
import type { ChipActions } from './actions.ts'

/** A route that a session is on. */
export interface CurrentRoute { readonly provider: string; readonly model: string }

/**
 * The model that the page's picker shows for the session, live.
 *
 * @param models - the models of the session.
 */
export function useCurrent(models: SessionModels | undefined): CurrentRoute | undefined {
  const read = (): CurrentRoute | undefined => models?.store.getSnapshot().current ?? undefined
  const [current, setCurrent] = useState(read)
  useEffect(() => {
    setCurrent(read)
    return models?.store.subscribe(() => { setCurrent(read) })
  }, [models])
  return current
}

/**
 * The pools as they stand, asked for at once where that is wanted, and whenever it is asked again.
 *
 * @param pools - asks the host.
 * @param atOnce - whether to ask before anybody opens anything.
 * @returns the pools as far as they are known, and how to ask again.
 */
export function usePools(pools: ChipActions['pools'], atOnce: boolean): { readonly report: RoutesReport | undefined; readonly ask: () => void } {
  const [report, setReport] = useState<RoutesReport | undefined>(undefined)
  const ask = useCallback(() => {
    pools().then((found) => { if (found !== undefined) setReport(found) }, () => {})
  }, [pools])
  useEffect(() => { if (atOnce) ask() }, [atOnce])
  return { report, ask }
}

/**
 * The pool that a session without a request will follow: the only one that holds its route.
 *
 * @param report - the pools.
 * @param route - the route of its first request.
 */
export function poolAhead(report: RoutesReport | undefined, route: CurrentRoute | undefined): string | undefined {
  const found = report?.pools.filter(({ routes }) => routes.some(({ model, provider }) => provider === route?.provider && model === route.model)) ?? []
  return found.length === 1 ? found[0]?.pool : undefined
}
