/**
 * Our waits and moves in the transcript. They stand in the log as retries of the harness, which draws its own row for
 * each; what that row does not say is folded here. Pure.
 */
import { type OurPolicy, readPolicyKey } from '../../src/events/policy-key.ts'
import type { Route } from '../../src/events/route.ts'
import { instantIn } from '../time.ts'

/** An event of the log as the page hands it over. */
export interface LogEvent {
  readonly type: string
  readonly seq: number
  readonly time: number
  readonly data?: unknown
}

/** One chain of planned attempts: a wait with its repetitions, or a move. */
export interface Chain {
  readonly policy: OurPolicy
  readonly provider: string
  /** Model of the route that refused, where the log names it before. */
  readonly model: string | null
  readonly turn: number
  /** Where the chain stands in the log. */
  readonly seq: number
  /** Waits planned in it. */
  readonly count: number
  /** Epoch ms of the planned attempt. */
  readonly nextAttemptAt: number
  /** Whether the last planned attempt began. */
  readonly started: boolean
  /** What the provider said last, whole. */
  readonly said: string
  /** Epoch ms at which the provider said that its allowance comes back, where it left no doubt. */
  readonly until: number | null
}

/** A provider that names a later time than that, in ms, names none. */
const FARTHEST_MS = 400 * 24 * 3_600_000

/** When the provider said that its allowance comes back, where it left no doubt: epoch ms, or `null`. */
function untilOf(said: string, at: number, afterMs: unknown): number | null {
  if (typeof afterMs === 'number' && afterMs > 0 && afterMs < FARTHEST_MS) return at + afterMs
  const found = instantIn(said)
  return found > at ? found : null
}

interface Retry {
  readonly retryId?: unknown
  readonly retry?: unknown
  readonly policyKey?: unknown
  readonly provider?: unknown
  readonly turn?: unknown
  readonly delayMs?: unknown
  readonly failure?: { readonly message?: unknown; readonly providerRetryAfterMs?: unknown } | null
}

const retryOf = (event: LogEvent): Retry => typeof event.data === 'object' && event.data !== null ? event.data : {}

/**
 * Which chain an event belongs to.
 *
 * @param event - any event of the log.
 * @returns its place; `null` for an event that is none of ours. A start of an attempt does not say whose it is, and so
 * is claimed for whatever chain has its id.
 */
export function chainPlace(event: LogEvent): { id: string; role: 'start' | 'update' } | null {
  if (event.type !== 'llm/retry' && event.type !== 'llm/retry-started') return null
  const { policyKey, retry, retryId } = retryOf(event)
  if (typeof retryId !== 'string' || retryId === '') return null
  if (event.type === 'llm/retry-started') return { id: retryId, role: 'update' }
  return readPolicyKey(policyKey) === undefined ? null : { id: retryId, role: retry === 1 ? 'start' : 'update' }
}

/**
 * Fold a planned attempt into its chain.
 *
 * @param chain - the chain so far; none for its first.
 * @param event - the event.
 * @param model - model of the route that refused, where it is known.
 * @returns the chain now, or `undefined` for an event that makes no sense.
 */
export function evolveChain(chain: Chain | undefined, event: LogEvent, model: string | null = null): Chain | undefined {
  if (event.type === 'llm/retry-started') return chain === undefined ? undefined : { ...chain, started: true }
  const { delayMs, failure, policyKey, provider, turn } = retryOf(event)
  const policy = readPolicyKey(policyKey)
  if (policy === undefined || typeof provider !== 'string' || typeof turn !== 'number') return chain
  const said = typeof failure?.message === 'string' ? failure.message : ''
  const delay = typeof delayMs === 'number' && Number.isFinite(delayMs) ? delayMs : 0
  return {
    policy, provider, turn, model: chain?.model ?? model, said,
    seq: chain?.seq ?? event.seq,
    count: (chain?.count ?? 0) + 1,
    nextAttemptAt: event.time + delay,
    started: false,
    until: untilOf(said, event.time, failure?.providerRetryAfterMs),
  }
}

/** Causes that end a wait before its time; the wait itself has its own chain, with what the provider said. */
const EARLY: ReadonlySet<string> = new Set(['asked', 'message', 'reading', 'answer', 'ramp', 'relay'])

/** What a line says: a key of the texts and its values. */
export interface LineText {
  readonly key: string
  readonly values?: Readonly<Record<string, string | number>>
  /** Epoch ms of the next check. */
  readonly next?: number
  /** Epoch ms that the text ends with, where it is known. */
  readonly until?: number | null
  /** A key whose text is a value itself. */
  readonly why?: string
}

const nameOf = ({ model, provider }: { readonly provider: string; readonly model: string | null }): string =>
  model === null || model === '' ? provider : `${provider}/${model}`

const nameOfRoute = (route: Route): string => nameOf(route)

/** How far the turn of a chain has come: it goes on, it was cancelled, or it ended in another way. */
export type TurnOutcome = 'open' | 'cancelled' | 'done'

/**
 * What the line of a chain says.
 *
 * @param chain - the chain.
 * @param turn - how far its turn has come.
 * @param next - epoch ms of the attempt that the session waits for now, `null` when it waits for none.
 */
export function lineText(chain: Chain, turn: TurnOutcome, next: number | null): LineText {
  const { count, nextAttemptAt, policy, started, until } = chain
  if (policy.kind === 'move') {
    const values = { from: nameOf(chain), to: nameOfRoute({ provider: policy.provider, model: policy.model }), pool: policy.pool }
    return { key: 'line.moved', values, until }
  }
  if (EARLY.has(policy.cause)) return { key: 'line.asked', why: `why.${policy.cause}` }
  const route = policy.on === undefined ? nameOf(chain) : nameOfRoute(policy.on)
  // A wait that ends before its time is no attempt of its chain: what is waited for now tells whether it goes on.
  if (!started && turn === 'open' && next === nextAttemptAt) return { key: 'line.waiting', values: { route }, next }
  if (!started && turn === 'cancelled') return { key: 'line.stopped', values: { route } }
  return { key: count > 1 ? 'line.waited.many' : 'line.waited', values: { route, count } }
}
