import type { WaitCause } from '../../events/policy-key.ts'
import type { Route } from '../../events/route.ts'
import type { Confidence, FailureKind } from '../../policy/judge/rules/types.ts'

/**
 * What the audit says to machines. Every time is epoch ms, every duration ms; `null` is "the log does not say".
 * Adding a field keeps the version; a field that goes or changes its meaning raises it.
 */
export const SCHEMA_VERSION = 1

/** Where a record stands in its session. `seq` is -1 for what comes from the journal, which has no place in the log. */
interface Placed {
  readonly at: number
  readonly seq: number
}

/** A request that was refused, and the rule that says what the refusal was about. */
export interface FailureRecord extends Placed {
  readonly record: 'failure'
  readonly turn: number
  readonly step: number
  readonly route: Route | null
  readonly code: string
  readonly status: number | null
  /** What the provider said, on one line, cut. */
  readonly message: string
  readonly kind: FailureKind
  readonly rule: string
  readonly confidence: Confidence
  /** The rule in words. */
  readonly reason: string
  readonly resetsAt: number | null
  readonly resetHint: string | null
}

/** A move from a route to another of its pool. */
export interface MoveRecord extends Placed {
  readonly record: 'move'
  readonly from: Route | null
  readonly to: Route
  readonly pool: string
  /** Why: the rule that classified the refusal, or the journal's words for a move before sending. */
  readonly reason: string
  readonly message: string
  /** Whether the request was moved before it was sent (known from the log, or from the journal of an earlier version), not after a refusal. */
  readonly beforeSending: boolean
  /** When a request header named the target; `null` when none did, or when that is not in the log. */
  readonly confirmedAt: number | null
  /** There, and true, where the routes of a pool were only asked in turn after a wait: no failover. */
  readonly asking?: true
}

/**
 * What ended a wait. `host-ended`: its host was stopped or killed, the end of the turn being written at the next start
 * in the latter case; `given-up`: the plugin was unloaded, and the session went on without it; `replaced`: another
 * record moved the attempt; `log-ended`: the log does not say.
 */
export type WaitEnd = 'attempt' | 'turn-ended' | 'switched-off' | 'host-ended' | 'given-up' | 'answer' | 'replaced' | 'log-ended'

/** A planned wait, and how long it was really kept. */
export interface WaitRecord extends Placed {
  readonly record: 'wait'
  readonly turn: number
  readonly step: number
  readonly provider: string
  readonly model: string | null
  /** 1, 2, 3, ... within the entry. */
  readonly attempt: number
  /** Whether the record only moves the attempt of the wait before it, or states it again: no wait of its own. */
  readonly sameAttempt: boolean
  readonly intervalMs: number
  readonly plannedMs: number
  readonly cause: WaitCause
  readonly endedAt: number | null
  /** From the record to its end; for a wait that the log leaves open, to the log's last event. */
  readonly keptMs: number
  readonly endedBy: WaitEnd
  /** How the turn ended, when that ended the wait. */
  readonly outcome: string | null
}

/** The time in which a session was out of allowance. */
export interface EntryRecord extends Placed {
  readonly record: 'entry'
  readonly leftAt: number | null
  /** To the end of the entry; for an open one, to the log's last event. */
  readonly durationMs: number
  readonly attempts: number
  readonly provider: string
  readonly model: string | null
  readonly reason: 'recovered' | 'disabled' | 'open'
  readonly code: string
  readonly message: string
}

/** A change of a setting. */
export interface SettingRecord extends Placed {
  readonly record: 'setting'
  readonly setting: 'retry' | 'pool' | 'failures'
  readonly value: string
  readonly by: 'person' | 'plugin'
  readonly inherited: boolean
  readonly outcome: 'applied' | 'refused' | 'unsettled'
}

/** The route of the requests from here on. */
export interface RouteRecord extends Placed {
  readonly record: 'route'
  readonly route: Route
  readonly reasoningEffort: string | null
}

/** Answers in a row from one route, with nothing else in between. */
export interface AnswersRecord extends Placed {
  readonly record: 'answers'
  readonly until: number
  readonly count: number
  readonly route: Route | null
}

/** A retry that another policy planned, most often the harness's own quick ones. */
export interface QuickRetryRecord extends Placed {
  readonly record: 'quick-retry'
  readonly provider: string
  readonly retry: number
  readonly delayMs: number
}

/** A run that the end of its host cut off, and that goes on in a turn of its own. */
export interface ContinuationRecord extends Placed {
  readonly record: 'continuation'
  readonly turn: number
  /** The turn that was cut off. */
  readonly ofTurn: number
  /** When the attempt that it waited for was planned. */
  readonly dueAt: number
}

/** A turn that ended otherwise than completed. */
export interface TurnRecord extends Placed {
  readonly record: 'turn'
  readonly turn: number
  readonly outcome: string
}

/** Anything that happened in a session. */
export type AuditRecord =
  | FailureRecord | MoveRecord | WaitRecord | EntryRecord | SettingRecord
  | RouteRecord | AnswersRecord | QuickRetryRecord | TurnRecord | ContinuationRecord

/** Who the session is. */
export interface SessionHead {
  /** The id in the log's head; `null` for a log without one. */
  readonly session: string | null
  readonly parent: string | null
  /** Leading events that a fork took over from its parent: not audited here, but in the parent's own log. */
  readonly inherited: number
  readonly file: string
  readonly startedAt: number | null
}

/** What one session comes to. */
export interface SessionTotals {
  readonly endedAt: number | null
  readonly answered: number
  readonly refused: number
  /** Of the refused ones: spent allowances. */
  readonly spent: number
  readonly moves: number
  readonly waits: number
  /** Attempts that followed a wait of ours: what waiting cost in requests. */
  readonly attempts: number
  readonly waitedMs: number
  readonly entries: number
}

/** One line of a timeline for people. */
export interface Row extends Placed {
  /** End of a row that stands for a run of events. */
  readonly until?: number
  readonly kind: 'session' | 'setting' | 'route' | 'failure' | 'move' | 'wait' | 'attempt' | 'answer' | 'turn' | 'quick-retry'
  readonly text: string
  /** Providers that the row speaks of. */
  readonly providers: readonly string[]
}

/**
 * The providers that a record speaks of.
 *
 * @param record - any record.
 */
export function providersOf(record: AuditRecord): readonly string[] {
  switch (record.record) {
    case 'failure':
    case 'route':
    case 'answers':
      return record.route === null ? [] : [record.route.provider]
    case 'move':
      return record.from === null ? [record.to.provider] : [record.from.provider, record.to.provider]
    case 'wait':
    case 'entry':
    case 'quick-retry':
      return [record.provider]
    case 'setting':
    case 'turn':
    case 'continuation':
      return []
  }
}
