import { type Route, routeName } from '../../events/route.ts'
import type { FailureKind } from '../../policy/judge/rules/types.ts'
import type { AuditRecord, EntryRecord, FailureRecord, MoveRecord } from './records.ts'

/** Failovers between two routes. */
export interface RoutePair {
  readonly from: Route | null
  readonly to: Route
  readonly count: number
  /** Of these, those that a request header confirms. */
  readonly confirmed: number
}

/** The refusals of one provider. */
export interface ProviderFailures {
  /** `null` where the log does not name the route. */
  readonly provider: string | null
  readonly failures: number
  readonly byKind: Readonly<Partial<Record<FailureKind, number>>>
  readonly byRule: Readonly<Record<string, number>>
}

/** The longest time that one session was out of allowance. */
export interface LongestOutage {
  readonly session: string | null
  readonly file: string
  readonly provider: string
  readonly model: string | null
  readonly enteredAt: number
  readonly durationMs: number
  /** Whether it had ended by the end of the log. */
  readonly open: boolean
}

/** What all audited sessions come to. */
export interface Summary {
  readonly sessions: number
  /** Sessions that were out of allowance at some time. */
  readonly affected: number
  readonly answered: number
  readonly refused: number
  /** Attempts that followed our waits: what waiting cost in requests. */
  readonly attempts: number
  readonly quickRetries: number
  readonly failovers: { readonly total: number; readonly confirmed: number; readonly pairs: readonly RoutePair[] }
  readonly waits: { readonly total: number; readonly plannedMs: number; readonly keptMs: number; readonly cutShort: number }
  readonly entries: { readonly total: number; readonly recovered: number; readonly disabled: number; readonly open: number; readonly totalMs: number; readonly longest: LongestOutage | null }
  readonly providers: readonly ProviderFailures[]
}

interface Pair { from: Route | null; to: Route; count: number; confirmed: number }
interface Tally { provider: string | null; failures: number; byKind: Map<FailureKind, number>; byRule: Map<string, number> }

const bump = <K>(counts: Map<K, number>, key: K): void => { counts.set(key, (counts.get(key) ?? 0) + 1) }
const byCount = <K>(counts: ReadonlyMap<K, number>): [K, number][] => [...counts].sort((a, b) => b[1] - a[1])

/** Adds up records of any number of sessions, one at a time. */
export class Totals {
  private sessions = 0
  private affected = 0
  private answered = 0
  private attempts = 0
  private quickRetries = 0
  private readonly pairs = new Map<string, Pair>()
  private readonly providers = new Map<string | null, Tally>()
  private readonly waits = { total: 0, plannedMs: 0, keptMs: 0, cutShort: 0 }
  private readonly entries = { total: 0, recovered: 0, disabled: 0, open: 0, totalMs: 0 }
  private longest: LongestOutage | null = null

  /**
   * Count a session.
   *
   * @param affected - whether it has an entry that counts.
   */
  session(affected: boolean): void {
    this.sessions += 1
    if (affected) this.affected += 1
  }

  /**
   * Count a record.
   *
   * @param record - the record.
   * @param place - the session and file that it comes from.
   */
  add(record: AuditRecord, place: { readonly session: string | null; readonly file: string }): void {
    switch (record.record) {
      case 'answers':
        this.answered += record.count
        break
      case 'failure': return this.failure(record)
      case 'move': return this.move(record)
      case 'wait':
        if (!record.sameAttempt) {
          this.waits.total += 1
          this.waits.plannedMs += record.plannedMs
        }
        this.waits.keptMs += record.keptMs
        if (record.endedBy === 'attempt') this.attempts += 1
        else if (record.endedBy !== 'replaced') this.waits.cutShort += 1
        break
      case 'entry': return this.entry(record, place)
      case 'quick-retry':
        this.quickRetries += 1
        break
    }
  }

  private failure(record: FailureRecord): void {
    const provider = record.route?.provider ?? null
    const tally = this.providers.get(provider) ?? { provider, failures: 0, byKind: new Map(), byRule: new Map() }
    tally.failures += 1
    bump(tally.byKind, record.kind)
    bump(tally.byRule, record.rule)
    this.providers.set(provider, tally)
  }

  private move(record: MoveRecord): void {
    if (record.asking === true) return
    const key = JSON.stringify([record.from === null ? null : routeName(record.from), routeName(record.to)])
    const pair = this.pairs.get(key) ?? { from: record.from, to: record.to, count: 0, confirmed: 0 }
    pair.count += 1
    if (record.confirmedAt !== null) pair.confirmed += 1
    this.pairs.set(key, pair)
  }

  private entry(record: EntryRecord, { session, file }: { readonly session: string | null; readonly file: string }): void {
    this.entries.total += 1
    this.entries[record.reason] += 1
    this.entries.totalMs += record.durationMs
    if (this.longest !== null && this.longest.durationMs >= record.durationMs) return
    const { provider, model, at: enteredAt, durationMs } = record
    this.longest = { session, file, provider, model, enteredAt, durationMs, open: record.reason === 'open' }
  }

  /** The sum so far. */
  get summary(): Summary {
    const pairs = [...this.pairs.values()].sort((a, b) => b.count - a.count)
    const providers = [...this.providers.values()].sort((a, b) => b.failures - a.failures)
    const sum = (of: (pair: Pair) => number): number => pairs.reduce((total, pair) => total + of(pair), 0)
    return {
      sessions: this.sessions,
      affected: this.affected,
      answered: this.answered,
      refused: providers.reduce((total, tally) => total + tally.failures, 0),
      attempts: this.attempts,
      quickRetries: this.quickRetries,
      failovers: { total: sum(pair => pair.count), confirmed: sum(pair => pair.confirmed), pairs },
      waits: { ...this.waits },
      entries: { ...this.entries, longest: this.longest },
      providers: providers.map(tally => ({
        provider: tally.provider,
        failures: tally.failures,
        byKind: Object.fromEntries(byCount(tally.byKind)),
        byRule: Object.fromEntries(byCount(tally.byRule)),
      })),
    }
  }
}
