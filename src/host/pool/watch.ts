import type { Config } from '../../policy/config.ts'
import { clears } from '../../policy/pool/choose.ts'
import type { Reading } from '../../policy/pool/readings.ts'
import { providerMarkOf } from '../../reducers/marks.ts'
import type { Clock } from '../clock.ts'
import type { Journal } from '../journal-store.ts'
import type { Scheduler } from '../scheduler.ts'

/** What the watch looks after. */
interface Waited {
  readonly waits: {
    /** How many sessions wait. */
    readonly size: number
  }
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
  readonly refresh: (providers: Iterable<string>) => Promise<void>
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
  /** The reading that a session was sent to ask for. */
  private readonly believed = new Map<string, Pick<Reading, 'remaining' | 'at'>>()
  /** What the reading was when the provider refused all the same. */
  private readonly refuted = new Map<string, number>()
  /** Epoch ms at which each provider's newest refused request was sent. */
  private readonly refusedAt = new Map<string, number>()
  private watching = false

  /**
   * @param parts - what the watch works with.
   */
  constructor(parts: WatchParts) {
    this.parts = parts
  }

  /** Begin to watch; does nothing while it does already. */
  readonly start = (): void => {
    if (this.watching || this.parts.config.balances.length === 0) return
    this.watching = true
    void this.look()
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
    // What an account has left says nothing of a limit that one of its models has.
    const mark = providerMarkOf(journal.marks, provider, reading.at)
    // The very probe that the failure triggered, or a script with a cache of its own, must not send sessions straight back.
    if (mark !== undefined && reading.at < mark.at + source.refreshMs) return
    if (reading.remaining <= (this.refuted.get(provider) ?? Number.NEGATIVE_INFINITY)) return
    this.believed.set(provider, reading)
    if (mark !== undefined) journal.append({ type: 'providerLifted', provider, at: reading.at, by: 'reading' })
    if (gates.providers.has(provider)) gates.providerBack(provider)
  }

  /**
   * A provider refused for a spent allowance.
   *
   * @param provider - the provider.
   * @param sentAt - epoch ms at which the request was sent; one sent before a reading was taken says nothing about it.
   */
  refused(provider: string, sentAt: number): void {
    this.refusedAt.set(provider, Math.max(sentAt, this.refusedAt.get(provider) ?? sentAt))
    const believed = this.believed.get(provider)
    if (believed === undefined || sentAt < believed.at) return
    this.believed.delete(provider)
    this.refuted.set(provider, believed.remaining)
  }

  /**
   * A provider answered.
   *
   * @param provider - the provider.
   * @param sentAt - epoch ms at which the request was sent; one sent before a refused one says nothing about it.
   */
  answered(provider: string, sentAt: number): void {
    if (sentAt < (this.refusedAt.get(provider) ?? Number.NEGATIVE_INFINITY)) return
    this.believed.delete(provider)
    this.refuted.delete(provider)
  }

  /** Look, and again a while after what was read is in: a reading is fresh for that long from its end. */
  private async look(): Promise<void> {
    const { clock, config, gates, refresh, scheduler } = this.parts
    const { providers } = gates
    const watched = config.balances.filter(({ provider }) => providers.has(provider))
    // Whatever goes wrong in one look, the next one comes.
    if (gates.waits.size > 0) await refresh(watched.map(({ provider }) => provider)).catch(() => {})
    if (gates.waits.size === 0) {
      this.watching = false
      return
    }
    const every = Math.min(...config.balances.map(({ refreshMs }) => refreshMs))
    scheduler.at(clock.now() + every, () => { void this.look() })
  }
}
