import type { TransientConfig } from './config.ts'

/** What the delay of a try depends on. */
export interface Rung {
  /** Tries of this step so far. */
  readonly tries: number
  /** Longest delay of the harness's own retries in this step, in ms; zero where there were none. */
  readonly nativeDelayMs: number
  /** The delay that the provider named, in ms. */
  readonly named?: number | undefined
  /** A number from 0 to 1. */
  readonly random: number
}

/** Tries of a step in which a delay that the provider names is taken as it is; one of a second must not be asked for hours. */
const TRUSTED_TRIES = 10

/**
 * The delay of a try, in whole ms. It goes on where the harness's own delays of the step ended: a provider that just
 * asked for more time is not to be asked again after a second. The ceiling wins any conflict, and a provider's own delay
 * is honoured below it.
 *
 * @param rung - which try it is.
 * @param config - the curve.
 */
export function backoffMs({ named, nativeDelayMs, random, tries }: Rung, config: Pick<TransientConfig, 'curve' | 'initialDelayMs' | 'maxDelayMs' | 'jitterRatio'>): number {
  const { initialDelayMs, jitterRatio, maxDelayMs } = config
  const first = config.curve === 'continue' && nativeDelayMs > 0 ? Math.max(initialDelayMs, 2 * nativeDelayMs) : initialDelayMs
  const grown = Math.min(maxDelayMs, first * 2 ** Math.min(tries, 1_000))
  const jittered = grown * (1 - jitterRatio + 2 * jitterRatio * random)
  const honoured = named !== undefined && named > 0 && Number.isFinite(named)
  const delay = !honoured ? jittered : tries < TRUSTED_TRIES ? named : Math.max(named, jittered)
  return Math.max(1, Math.round(Math.min(maxDelayMs, delay)))
}
