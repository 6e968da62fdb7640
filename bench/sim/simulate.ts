import type { ConfigInput } from '../../src/policy/config.ts'
import { SimClock } from './clock.ts'
import { type SessionPlan, SimHost, type SimSession } from './host.ts'
import { type Account, type Asked, hasAllowance, SimProvider } from './provider.ts'
import { between, type Random } from './random.ts'

/** The interval of the plugin and of the hourly retry, in ms. */
export const INTERVAL_MS = 3_600_000
/** After the return nothing runs for longer than this, in ms: whoever is not answered by then never is. */
const PATIENCE_MS = 48 * INTERVAL_MS

/** One run of one policy: who was out of allowance, and what the provider was asked. */
export interface Run {
  readonly account: Account
  /** Epoch ms of the first refusal on the route. */
  readonly firstAt: number
  /** Time from the return to the first word of each session's answer, in ms; `Infinity` for one that gave up. */
  readonly deadMs: readonly number[]
  /** Refused requests of sessions that waited. */
  readonly vain: number
  /** Epoch ms of the requests from the return on. */
  readonly after: readonly number[]
  /** Balance readings taken. */
  readonly reads: number
}

/** A run of the plugin. */
export interface PluginRun extends Run {
  /** Every request that the provider got, in order. */
  readonly asked: readonly Asked[]
  /** Every session by its number. */
  readonly sessions: ReadonlyMap<number, SimSession>
}

/** What is simulated. */
export interface Setting {
  readonly account: Account
  readonly plans: readonly SessionPlan[]
  /** For latencies and jitter. */
  readonly random: Random
  /** Whether the balance can be read. */
  readonly balance: boolean
  /** How often it is, in ms; the default of the plugin where absent. */
  readonly refreshMs?: number
  /** Further settings of the plugin. */
  readonly config?: ConfigInput
}

/**
 * Run the plugin on one account.
 *
 * @param setting - the account and the sessions that use it.
 */
export async function simulate({ account, plans, random, balance, refreshMs, config }: Setting): Promise<PluginRun> {
  const clock = new SimClock(account.goneAt - 60_000)
  const provider = new SimProvider(account, random)
  const left = (): number => hasAllowance(account, clock.now()) ? 40 : 0
  const source = { provider: 'a', script: ['node'] as [string], ...refreshMs === undefined ? {} : { refreshMs } }
  const host = new SimHost({
    clock, provider, random,
    config: { longTermDelayMs: INTERVAL_MS, ...balance ? { pools: { all: { routes: [{ provider: 'a', model: 'm' }] } }, balances: [source] } : {}, ...config },
    ...balance ? { balance: () => ({ text: JSON.stringify({ remaining: left() }), tookMs: between(random, 200, 1_500) }) } : {},
  })
  let ended = 0
  for (const [index, plan] of plans.entries()) void host.session(index, plan).then(() => { ended += 1 })
  await clock.run(() => ended === plans.length, account.backAt + PATIENCE_MS)
  await host.dispose()
  const { asked } = provider
  return {
    account, firstAt: Math.min(...plans.map(({ outAt }) => outAt)), reads: host.reads,
    deadMs: plans.map((_plan, index) => (host.backAt.get(index) ?? Number.POSITIVE_INFINITY) - account.backAt),
    vain: asked.filter(({ waiting, accepted }) => waiting && !accepted).length,
    after: asked.filter(({ at }) => at >= account.backAt).map(({ at }) => at),
    asked, sessions: host.sessions,
  }
}
