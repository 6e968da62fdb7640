import type { Clock } from '../../src/host/clock.ts'
import { between, type Random } from './random.ts'

/** What a provider says when it refuses, as the harness hands it on. */
export interface RefusalFields {
  readonly code: string
  readonly message: string
  readonly status?: number
}

/** One account at one provider, out of allowance from one instant to another. */
export interface Account {
  /** Epoch ms at which the allowance is spent. */
  readonly goneAt: number
  /** Epoch ms at which it is there again. */
  readonly backAt: number
  /**
   * The refusal at some moment.
   *
   * @param now - epoch ms.
   */
  refusal(now: number): RefusalFields
}

/** One request that a provider got. */
export interface Asked {
  readonly session: number
  /** Epoch ms. */
  readonly at: number
  readonly accepted: boolean
  /** Whether the session was waiting: it had been refused before. */
  readonly waiting: boolean
}

/** Least and most time from a request to the first word of its answer, in ms. */
export const LATENCY_MS: readonly [number, number] = [500, 3_000]

/**
 * Whether an account has allowance.
 *
 * @param account - the account.
 * @param at - epoch ms.
 */
export const hasAllowance = ({ goneAt, backAt }: Account, at: number): boolean => at < goneAt || at >= backAt

/** A provider in a simulation: it decides when a request arrives, says so a moment later, and remembers who asked. */
export class SimProvider {
  readonly asked: Asked[] = []
  private readonly refused = new Set<number>()
  private readonly account: Account
  private readonly random: Random

  /**
   * @param account - the account behind it.
   * @param random - for the latency.
   */
  constructor(account: Account, random: Random) {
    this.account = account
    this.random = random
  }

  /**
   * A request arrives.
   *
   * @param session - who asks.
   * @param clock - the time.
   * @returns the time to the first word, in ms, and the refusal, if it is one.
   */
  ask(session: number, clock: Clock): { readonly latencyMs: number; readonly refusal?: RefusalFields } {
    const at = clock.now()
    const accepted = hasAllowance(this.account, at)
    this.asked.push({ session, at, accepted, waiting: this.refused.has(session) })
    const latencyMs = between(this.random, ...LATENCY_MS)
    if (accepted) return { latencyMs }
    this.refused.add(session)
    return { latencyMs, refusal: this.account.refusal(at) }
  }
}
