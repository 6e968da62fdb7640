import { type Case, plugin, RIVALS } from './policies.ts'
import { INTERVAL_MS, type Run } from './simulate.ts'
import type { World } from './worlds.ts'

/** What one policy came to in one world, over all its seeds. */
export interface Figures {
  /** Median time from the return to a session's first word, in s; `null` where sessions gave up. */
  readonly medianS: number | null
  /** Median time from the return to the first word of the first session that is answered, in s: what noticing takes. */
  readonly firstS: number | null
  /** 95th percentile of the time to a session's first word, in s. */
  readonly p95S: number | null
  /** Refused requests of sessions that waited, mean for each route. */
  readonly vainPerRoute: number
  /** The same for each session. */
  readonly vainPerSession: number
  /** Those of them beyond one for each whole interval of the wait, mean for each route. */
  readonly beyondPerRoute: number
  /** Most requests in any one second from the return on, in any seed. */
  readonly peak: number
  /** Balance readings, mean for each route. */
  readonly readings: number
}

/** Seeds for each number of sessions: one session is one figure a seed, five hundred are five hundred that hang together. */
export const SEEDS: ReadonlyMap<number, number> = new Map([[1, 64], [20, 48], [500, 12]])

const round = (value: number, digits = 1): number => Math.round(value * 10 ** digits) / 10 ** digits

/**
 * A quantile of some numbers.
 *
 * @param sorted - ascending.
 * @param share - from 0 to 1.
 */
const quantile = (sorted: readonly number[], share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0

/**
 * Most requests within any second from the return on.
 *
 * @param run - the run.
 */
export function peakOf({ after }: Run): number {
  const times = [...after].sort((a, b) => a - b)
  let peak = 0
  let first = 0
  for (const [index, time] of times.entries()) {
    while (times[first]! <= time - 1_000) first += 1
    peak = Math.max(peak, index - first + 1)
  }
  return peak
}

/** What several runs of one policy came to. */
class Tally {
  private readonly dead: number[] = []
  private readonly first: number[] = []
  private runs = 0
  private vain = 0
  private beyond = 0
  private peak = 0
  private reads = 0

  add(run: Run): void {
    this.runs += 1
    this.vain += run.vain
    this.beyond += Math.max(0, run.vain - Math.floor((run.account.backAt - run.firstAt) / INTERVAL_MS))
    this.peak = Math.max(this.peak, peakOf(run))
    this.reads += run.reads
    for (const dead of run.deadMs) this.dead.push(dead)
    this.first.push(Math.min(...run.deadMs))
  }

  figures(): Figures {
    const sorted = this.dead.sort((a, b) => a - b)
    const seconds = (ms: number): number | null => Number.isFinite(ms) ? round(ms / 1_000) : null
    return {
      medianS: seconds(quantile(sorted, 0.5)), p95S: seconds(quantile(sorted, 0.95)), firstS: seconds(quantile(this.first.sort((a, b) => a - b), 0.5)),
      vainPerRoute: round(this.vain / this.runs), vainPerSession: round(this.vain / sorted.length, 4),
      beyondPerRoute: round(this.beyond / this.runs), peak: this.peak, readings: round(this.reads / this.runs, 0),
    }
  }
}

const cases = (world: World, sessions: number, balance: boolean): Case[] => {
  const seeds = SEEDS.get(sessions) ?? 20
  return Array.from({ length: seeds }, (_none, seed) => ({ world, sessions, balance, seed, seeds }))
}

/**
 * This plugin in one world.
 *
 * @param world - the world.
 * @param sessions - how many wait.
 * @param balance - whether there is a balance endpoint.
 * @param refreshMs - how often it is read, in ms.
 */
export async function measurePlugin(world: World, sessions: number, balance: boolean, refreshMs?: number): Promise<Figures> {
  const tally = new Tally()
  for (const given of cases(world, sessions, balance)) tally.add(await plugin(given, refreshMs))
  return tally.figures()
}

/**
 * What people use instead, in the same world; a balance endpoint is nothing to them.
 *
 * @param world - the world.
 * @param sessions - how many wait.
 */
export function measureRivals(world: World, sessions: number): Record<string, Figures> {
  return Object.fromEntries(Object.entries(RIVALS).map(([name, run]) => {
    const tally = new Tally()
    for (const given of cases(world, sessions, false)) tally.add(run(given))
    return [name, tally.figures()]
  }))
}
