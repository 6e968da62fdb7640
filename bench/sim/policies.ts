import type { SessionPlan } from './host.ts'
import { type Account, hasAllowance, LATENCY_MS } from './provider.ts'
import { between, type Random, seeded } from './random.ts'
import { INTERVAL_MS, type Run, simulate } from './simulate.ts'
import type { World } from './worlds.ts'

/** Sessions run out within this time of the allowance being spent, in ms. */
const SPREAD_MS = 600_000

/** One case: a world, how many sessions, and a seed. */
export interface Case {
  readonly world: World
  readonly sessions: number
  readonly seed: number
  /** Number of seeds over which the world's range is spread. */
  readonly seeds: number
  readonly balance: boolean
}

/** The same account and the same sessions for every policy. */
function setting({ world, sessions, seed, seeds }: Case): { account: Account; plans: SessionPlan[]; random: Random } {
  const random = seeded(seed * 7_919 + sessions * 104_729 + 1)
  const account = world.account((seed + 0.5) / seeds, random)
  const plans = Array.from({ length: sessions }, () => ({
    sentAt: account.goneAt - between(random, 1_000, 60_000),
    outAt: account.goneAt + between(random, 0, SPREAD_MS),
  }))
  return { account, plans, random }
}

/**
 * This plugin, whole, on the same account and with the same sessions as its rivals.
 *
 * @param given - the case.
 * @param refreshMs - how often balances are read, in ms.
 */
export function plugin(given: Case, refreshMs?: number): Promise<Run> {
  const { account, plans, random } = setting(given)
  return simulate({ account, plans, random, balance: given.balance, ...refreshMs === undefined ? {} : { refreshMs } })
}

/** Time to the next attempt after so many refusals, in ms; `undefined` gives up. */
type Delay = (refusals: number, random: Random) => number | undefined

/** A policy in which every session asks for itself, and looks at nothing but a timer. */
const timed = (delay: Delay) => (given: Case): Run => {
  const { account, plans, random } = setting(given)
  const after: number[] = []
  let vain = 0
  const deadMs = plans.map(({ outAt }) => {
    let at = outAt
    for (let refusals = 0; ; refusals += 1) {
      const accepted = hasAllowance(account, at)
      if (at >= account.backAt) after.push(at)
      else if (refusals > 0) vain += 1
      const answeredAt = at + between(random, ...LATENCY_MS)
      if (accepted) return answeredAt - account.backAt
      const next = delay(refusals + 1, random)
      if (next === undefined) return Number.POSITIVE_INFINITY
      at = answeredAt + next
    }
  })
  return { account, firstAt: Math.min(...plans.map(({ outAt }) => outAt)), deadMs, vain, after, reads: 0 }
}

/** Every session asks once, at the very instant of the return. Nobody can know it. */
function oracle(given: Case): Run {
  const { account, plans, random } = setting(given)
  return {
    account, firstAt: Math.min(...plans.map(({ outAt }) => outAt)), reads: 0,
    deadMs: plans.map(() => between(random, ...LATENCY_MS)),
    vain: 0, after: plans.map(() => account.backAt),
  }
}

/** What people use instead, and the best that could be. */
export const RIVALS: Readonly<Record<string, (given: Case) => Run>> = {
  'hourly': timed(() => INTERVAL_MS),
  // As the harness's own retries are: 1 s doubling to 60 s, jitter 0.2.
  'backoff': timed((refusals, random) => Math.min(60_000, 1_000 * 2 ** Math.min(refusals - 1, 10)) * (0.8 + 0.4 * random())),
  'n^4': timed(refusals => refusals < 25 ? refusals ** 4 * 1_000 : undefined),
  oracle,
}
