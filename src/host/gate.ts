import type { WaitCause } from '../events/policy-key.ts'
import type { Route } from '../events/route.ts'
import type { PlanMemory } from '../reducers/plans.ts'
import type { Waiter, WaitingPolicy } from './waits.ts'

/** One route that failed, and who waits for it under one policy. */
export interface Gate {
  readonly id: string
  readonly policy: WaitingPolicy
  readonly route: Route
  /** Who waits, the longest waiting first. */
  readonly waiters: Set<Waiter>
  /** Epoch ms of the next attempt. */
  nextAt: number
  cause: WaitCause | 'due'
  memory: PlanMemory | undefined
  /** The session whose request stands for all who wait. */
  probe: string | undefined
  /** Why it asks. */
  probeCause: WaitCause | 'due'
  /** Probes in a row that ended without an answer of either kind. */
  relays: number
  /** When the newest of the refused requests was sent, on the clock that nobody sets. */
  refusedAt: number
  /** Whether an answer on another model of the provider proved to say nothing about this one. */
  modelApart: boolean
  cancelAlarm: () => void
}

/**
 * A gate that nobody waits at yet.
 *
 * @param id - its key.
 * @param policy - the policy whose waits it holds.
 * @param route - the route that failed.
 */
export function newGate(id: string, policy: WaitingPolicy, { provider, model }: Route): Gate {
  return {
    id, policy, route: { provider, model }, waiters: new Set(),
    nextAt: Number.POSITIVE_INFINITY, cause: 'due', memory: undefined, cancelAlarm: () => {},
    probe: undefined, probeCause: 'due', relays: 0, refusedAt: Number.NEGATIVE_INFINITY, modelApart: false,
  }
}
