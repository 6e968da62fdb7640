/** A refusal at the gates, planned as the policy plans it. */
import type { Route } from '../../src/events/route.ts'
import type { Gates } from '../../src/host/gates.ts'
import { planRefused } from '../../src/policy/quota/plan.ts'
import type { PlannedWait, RefusalTiming } from '../../src/policy/quota/wait.ts'
import { initialState } from '../../src/reducers/session.ts'
import { HOUR } from './build.ts'

/** Plan a refusal by what the gates know. */
export const planAt = (gates: Gates, now: number, session: string, route: Route, timing: RefusalTiming, intervalMs = HOUR): PlannedWait =>
  planRefused(route, timing, {
    state: initialState, unfit: [], world: { marks: {}, readings: {}, now }, known: (other, policy) => gates.known(session, other, policy),
  }, { longTermDelayMs: intervalMs })

/** Plan a refusal, and tell the gates. */
export function refuseAt(gates: Gates, now: number, session: string, route: Route, timing: RefusalTiming, intervalMs = HOUR): PlannedWait {
  const plan = planAt(gates, now, session, route, timing, intervalMs)
  gates.refused(session, route, plan)
  return plan
}
