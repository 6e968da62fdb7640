import type { Config } from '../policy/config.ts'
import { clears } from '../policy/choose.ts'
import type { Reading } from '../policy/readings.ts'
import { markOf } from '../reducers/marks.ts'
import type { Clock } from './clock.ts'
import type { Journal } from './journal-store.ts'
import type { Scheduler } from './scheduler.ts'

/** What the watch looks after. */
interface Waited {
  /** Sessions that wait. */
  readonly size: number
  /** Providers that some session waits for. */
  readonly providers: ReadonlySet<string>
  providerBack(provider: string): void
}

/** What the watch works with. */
export interface WatchParts {
  readonly config: Pick<Config, 'balances'>
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly journal: Pick<Journal, 'marks' | 'append'>
  readonly gates: Waited
  /** Read again what is stale. */
  readonly refresh: (providers: Iterable<string>) => unknown
}

/**
 * While any session waits, the balances of the providers it waits for are read again and again; one that shows
 * allowance lifts the provider's mark and has one session ask.
 *
 * A reading is believed once. One that a refusal proved wrong counts again only when it has grown: a balance that is
 * there but of no use (another plan, another product) would otherwise send somebody to ask every minute.
 */
export class Watch {
  private readonly parts: WatchParts
  /** What the reading was that a session was sent to ask for. */
  private readonly believed = new Map<string, number>()
  /** What the reading was when the provider refused all the same. */
  private readonly refuted = new Map<string, number>()
  private cancelAlarm: (() => void) | undefined

  /**
   * @param parts - what the watch works with.
   */
  constructor(parts: WatchParts) {
    this.parts = parts
  }

  /** Begin to watch; does nothing while it does already. */
  readonly start = (): void => {
    if (this.cancelAlarm !== undefined || this.parts.config.balances.length === 0) return
    this.look()
  }

  /**
   * A script gave a reading.
   *
   * @param provider - the provider.
   * @param reading - the reading.
   */
  readonly read = (provider: string, reading: Reading): void => {
    const { config, gates, journal } = this.parts
    const source = config.balances.find(balance => balance.provider === provider)
    if (source === undefined || !clears(reading, source.minimumRemaining)) return
    const mark = markOf(journal.marks, provider, reading.at)
    // The very probe that the failure triggered, or a script with a cache of its own, must not send sessions straight back.
    if (mark !== undefined && reading.at < mark.at + source.refreshMs) return
    if (reading.remaining <= (this.refuted.get(provider) ?? Number.NEGATIVE_INFINITY)) return
    this.believed.set(provider, reading.remaining)
    if (mark !== undefined) journal.append({ type: 'providerLifted', provider, at: reading.at, by: 'reading' })
    if (gates.providers.has(provider)) gates.providerBack(provider)
  }

  /**
   * A provider refused for a spent allowance.
   *
   * @param provider - the provider.
   */
  refused(provider: string): void {
    const believed = this.believed.get(provider)
    if (believed === undefined) return
    this.believed.delete(provider)
    this.refuted.set(provider, believed)
  }

  /**
   * A provider answered.
   *
   * @param provider - the provider.
   */
  answered(provider: string): void {
    this.believed.delete(provider)
    this.refuted.delete(provider)
  }

  private look(): void {
    const { clock, config, gates, refresh, scheduler } = this.parts
    this.cancelAlarm = undefined
    if (gates.size === 0) return
    const { providers } = gates
    const watched = config.balances.filter(({ provider }) => providers.has(provider))
    void refresh(watched.map(({ provider }) => provider))
    const every = Math.min(...config.balances.map(({ refreshMs }) => refreshMs))
    this.cancelAlarm = scheduler.at(clock.now() + every, () => { this.look() })
  }
}
