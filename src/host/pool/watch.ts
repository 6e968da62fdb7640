import type { Config } from '../../policy/config.ts'
import { afterAnswer, afterRefusal, type Belief, isWorthAsking, noBelief } from '../../policy/pool/beliefs.ts'
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
 * allowance lifts the provider's mark and has one session ask. Which reading is believed says `policy/pool/beliefs.ts`.
 */
export class Watch {
  private readonly parts: WatchParts
  /** What is thought of each provider's readings: live only, and after a restart one question too many at worst. */
  private readonly beliefs = new Map<string, Belief>()
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
    // What an account has left says nothing of a limit that one of its models has.
    const mark = providerMarkOf(journal.marks, provider, reading.at)
    const belief = this.beliefs.get(provider) ?? noBelief
    if (source === undefined || !isWorthAsking(belief, reading, mark, source)) return
    this.beliefs.set(provider, { ...belief, believed: reading })
    if (mark !== undefined) journal.append({ type: 'providerLifted', provider, at: reading.at, by: 'reading' })
    if (gates.providers.has(provider)) gates.providerBack(provider)
  }

  /**
   * A provider refused for a spent allowance.
   *
   * @param provider - the provider.
   * @param sentAt - epoch ms at which the request was sent.
   */
  refused(provider: string, sentAt: number): void {
    this.beliefs.set(provider, afterRefusal(this.beliefs.get(provider) ?? noBelief, sentAt, this.parts.clock.now()))
  }

  /**
   * A provider answered.
   *
   * @param provider - the provider.
   * @param sentAt - epoch ms at which the request was sent.
   */
  answered(provider: string, sentAt: number): void {
    const belief = this.beliefs.get(provider)
    if (belief !== undefined) this.beliefs.set(provider, afterAnswer(belief, sentAt, this.parts.clock.now()))
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
