import type { Fact, FactOf } from '../../events/facts.ts'
import type { JournalRecordOf } from '../../events/journal.ts'
import { sameRoute } from '../../events/route.ts'
import type { ClosedEntry, Entry } from '../../reducers/quota.ts'
import { transitions } from '../../reducers/transitions.ts'
import { movedReason } from '../notes.ts'
import { oneLine } from '../text.ts'
import { type Advance, beginsOwnHistory, continuationOf, isInherited, sameAttempt } from './advance.ts'
import { describe, moveReason, shownRoute, verdictOf } from './describe.ts'
import { Holding, type Listener } from './listener.ts'
import { WaitedOn } from './waited-on.ts'
import { endOf, kindOf, providersAt, seqOf } from './told.ts'
import type { AnswersRecord, MoveRecord, SessionHead, SessionTotals, SettingRecord, WaitEnd, WaitRecord } from './records.ts'

/** Longest provider message in a record, in UTF-16 units. */
const MESSAGE = 500

type Moved = JournalRecordOf<'requestMoved'>
type Open<T> = { -readonly [K in keyof T]: T[K] }

const noTotals = (): Open<SessionTotals> => (
  { endedAt: null, answered: 0, refused: 0, spent: 0, moves: 0, waits: 0, attempts: 0, waitedMs: 0, entries: 0 }
)

/**
 * The audit of one session, step by step. It keeps what is open and a few counts, never the history, so its size does
 * not grow with the log.
 */
export class SessionAudit {
  readonly head: Open<SessionHead>
  private totals = noTotals()
  private readonly listener: Holding
  private readonly movesOf: (session: string) => readonly Moved[]
  /** Moves before sending that are still to come, oldest first: the journal's part of the history. */
  private moved: Moved[] = []
  private run: Open<AnswersRecord> | undefined
  private wait: WaitRecord | undefined
  private move: MoveRecord | undefined
  private entry: Entry | null = null
  private entrySeq = -1
  private readonly waitedOn = new WaitedOn()
  private readonly asked = new Map<string, SettingRecord>()

  /**
   * @param file - where the log stands, as a person named it.
   * @param listener - told of rows and records.
   * @param movesOf - the moves of a session before sending, as the journal has them.
   */
  constructor(file: string, listener: Listener, movesOf: (session: string) => readonly Moved[] = () => []) {
    this.head = { session: null, parent: null, inherited: 0, file, startedAt: null }
    this.listener = new Holding(listener)
    this.movesOf = movesOf
  }

  /**
   * Take one step of the log.
   *
   * @param step - the step.
   */
  push(step: Advance): void {
    const { fact, after } = step
    if (fact.type === 'sessionOpened') {
      const { id, parent, seedLength } = after.lineage
      Object.assign(this.head, { session: id, parent, inherited: parent === null ? 0 : seedLength, startedAt: fact.at })
      // Newer logs say where a fork's own history begins only when it does.
      if (parent !== null && seedLength === 0) this.listener.hold()
      this.moved = this.movesOf(fact.id).toSorted((a, b) => a.at - b.at)
    }
    if (beginsOwnHistory(step)) return this.begin(fact)
    if (isInherited(step)) return
    this.head.startedAt ??= fact.at
    this.totals.endedAt = Math.max(fact.at, this.totals.endedAt ?? 0)
    this.takeMoves(fact.at)
    this.endWait(step)
    this.confirm(step)
    this.tell(step)
    this.collect(step)
  }

  /**
   * The log is over: what is open is told of as open.
   *
   * @returns what the session comes to.
   */
  end(): SessionTotals {
    this.takeMoves(Number.POSITIVE_INFINITY)
    this.flushRun()
    const at = this.totals.endedAt ?? this.head.startedAt ?? 0
    if (this.wait !== undefined) this.closeWait(at, 'log-ended', null, null)
    this.flushMove()
    for (const setting of this.asked.values()) this.listener.record(setting)
    if (this.entry !== null) this.closeEntry(this.entry, null, at)
    this.listener.release()
    return this.totals
  }

  /** What came so far happened in the parent of a fork. */
  private begin(fact: Fact): void {
    this.listener.drop()
    this.totals = noTotals()
    this.run = this.wait = this.move = undefined
    this.entry = null
    this.waitedOn.clear()
    this.asked.clear()
    if (this.head.inherited === 0) this.head.inherited = Math.max(0, seqOf(fact))
  }

  /** Lines for people; answers in a row become one. */
  private tell(step: Advance): void {
    const { fact } = step
    if (fact.type === 'sessionOpened') return
    const plain = fact.type === 'answered' && step.before.entries.closed === step.after.entries.closed
    if (plain && this.run !== undefined && (fact.route === undefined || sameRoute(this.run.route, fact.route))) {
      this.run.until = fact.at
      this.run.count += 1
      return
    }
    const text = describe(step)
    if (text === undefined) return
    this.flushRun()
    if (fact.type === 'answered') {
      this.run = { record: 'answers', at: fact.at, seq: fact.seq, until: fact.at, count: 1, route: fact.route ?? step.before.step.route }
      if (plain) return
      // The answer that ended an outage has a line of its own, which says so.
      this.listener.record(this.run)
      this.run = undefined
    }
    this.listener.row({ at: fact.at, seq: fact.seq, kind: kindOf(fact), text, providers: providersAt(step) })
  }

  private flushRun(): void {
    const { run } = this
    if (run === undefined) return
    this.run = undefined
    const by = run.route === null ? '' : ` by ${shownRoute(run.route)}`
    this.listener.row({
      at: run.at, ...run.count > 1 ? { until: run.until } : {}, seq: run.seq, kind: 'answer',
      text: run.count === 1 ? `answered${by}` : `${run.count} answers${by}`, providers: run.route === null ? [] : [run.route.provider],
    })
    this.listener.record(run)
  }

  private collect(step: Advance): void {
    const { fact, before, after } = step
    for (const change of transitions(before, after)) {
      if (change.type === 'entered') this.enter(seqOf(fact))
      if (change.type === 'left') this.closeEntry(change.entry, change.entry.leftAt, change.entry.leftAt)
    }
    this.entry = after.entries.open
    switch (fact.type) {
      case 'requestFailed': return this.failed(step, fact)
      case 'waitPlanned': return this.waiting(step, fact)
      case 'movePlanned': return this.moving(step, fact)
      case 'requestMoved':
        return this.hold({ record: 'move', at: fact.at, seq: fact.seq, from: fact.from, to: fact.to, pool: fact.pool, reason: movedReason(fact.why, fact), message: '', beforeSending: true, confirmedAt: null })
      case 'answered': return void (this.totals.answered += 1)
      case 'routed':
        return this.listener.record({ record: 'route', at: fact.at, seq: fact.seq, route: fact.route, reasoningEffort: fact.reasoningEffort ?? null })
      case 'otherRetryPlanned':
        return this.listener.record({ record: 'quick-retry', at: fact.at, seq: fact.seq, provider: fact.provider, retry: fact.retry, delayMs: fact.delayMs })
      case 'turnEnded':
        if (fact.outcome !== 'completed') this.listener.record({ record: 'turn', at: fact.at, seq: fact.seq, turn: fact.turn, outcome: fact.outcome })
        return
      case 'settingRequested':
        this.asked.set(fact.commandId, { record: 'setting', at: fact.at, seq: fact.seq, setting: fact.change.setting, value: fact.change.value, by: fact.by, inherited: fact.change.inherited, outcome: 'unsettled' })
        return
      case 'commandSettled': return this.settled(fact)
      case 'turnStarted': {
        const carried = continuationOf(step)
        if (carried !== undefined) this.listener.record({ record: 'continuation', at: fact.at, seq: fact.seq, ...carried })
      }
    }
  }

  private failed({ before }: Advance, fact: FactOf<'requestFailed'>): void {
    const { route } = before.step
    const verdict = verdictOf(fact, route?.provider)
    this.totals.refused += 1
    if (verdict.kind === 'spent-allowance') this.totals.spent += 1
    this.listener.record({
      record: 'failure', at: fact.at, seq: fact.seq, turn: fact.turn, step: fact.step, route,
      code: fact.failure.code, status: fact.failure.status ?? null, message: oneLine(fact.failure.message, MESSAGE),
      kind: verdict.kind, rule: verdict.rule, confidence: verdict.confidence, reason: verdict.reason,
      resetsAt: verdict.resetsAt ?? null, resetHint: verdict.resetHint ?? null,
    })
  }

  private waiting(step: Advance, fact: FactOf<'waitPlanned'>): void {
    const { after } = step
    const same = sameAttempt(step)
    if (!same) this.totals.waits += 1
    this.wait = {
      record: 'wait', at: fact.at, seq: fact.seq, turn: fact.turn, step: fact.step,
      provider: fact.on?.provider ?? fact.provider, model: fact.on?.model ?? after.entries.open?.model ?? null, attempt: after.entries.open?.attempts ?? fact.retry,
      sameAttempt: same, intervalMs: fact.intervalMs, plannedMs: fact.delayMs, cause: fact.cause, endedAt: null, keptMs: 0, endedBy: 'log-ended', outcome: null,
    }
  }

  private endWait(step: Advance): void {
    const { fact, before, after } = step
    const armed = before.entries.open?.wait ?? null
    if (this.wait === undefined || armed === null || after.entries.open?.wait === armed) return
    if (fact.type === 'attemptStarted') this.totals.attempts += 1
    this.closeWait(fact.at, endOf(step), fact.at, fact.type === 'turnEnded' ? fact.outcome : null)
  }

  private closeWait(at: number, endedBy: WaitEnd, endedAt: number | null, outcome: string | null): void {
    if (this.wait === undefined) return
    const keptMs = Math.max(0, at - this.wait.at)
    this.totals.waitedMs += keptMs
    this.waitedOn.add(this.wait, keptMs)
    this.listener.record({ ...this.wait, endedAt, keptMs, endedBy, outcome })
    this.wait = undefined
  }

  private moving({ after, before }: Advance, fact: FactOf<'movePlanned'>): void {
    const verdict = verdictOf(fact, fact.provider)
    this.hold({
      record: 'move', at: fact.at, seq: fact.seq, from: after.failovers.last?.from ?? null, to: fact.to, pool: fact.pool,
      reason: fact.afterWait === undefined ? `${verdict.kind} by rule ${verdict.rule}` : moveReason(fact), message: oneLine(fact.failure.message, MESSAGE), beforeSending: false, confirmedAt: null,
      ...before.failovers.count === after.failovers.count ? { asking: true as const } : {},
    })
  }

  private takeMoves(until: number): void {
    for (let next = this.moved[0]; next !== undefined && next.at <= until; next = this.moved[0]) {
      this.moved.shift()
      this.flushRun()
      this.listener.row({
        at: next.at, seq: -1, kind: 'move', providers: [next.from.provider, next.to.provider],
        text: `moved before sending from ${shownRoute(next.from)} to ${shownRoute(next.to)} (pool ${oneLine(next.pool, 120)}): ${oneLine(next.why, 160)}`,
      })
      this.hold({ record: 'move', at: next.at, seq: -1, from: next.from, to: next.to, pool: next.pool, reason: next.why, message: '', beforeSending: true, confirmedAt: null })
    }
  }

  private hold(move: MoveRecord): void {
    this.flushMove()
    this.totals.moves += 1
    this.move = move
  }

  /** A header confirms a move. One that asks a route in turn is a failover only when that route answers. */
  private confirm({ after, before, fact }: Advance): void {
    const { move } = this
    if (move === undefined) return
    if (fact.type === 'routed' && move.confirmedAt === null && sameRoute(move.to, fact.route)) {
      this.move = { ...move, confirmedAt: fact.at }
      if (move.asking !== true) this.flushMove()
    } else if (fact.type === 'answered' && move.asking === true) {
      const { asking: _asking, ...failover } = move
      if (after.failovers.count > before.failovers.count) this.move = failover
      this.flushMove()
    }
  }

  private flushMove(): void {
    if (this.move !== undefined) this.listener.record(this.move)
    this.move = undefined
  }

  private enter(seq: number): void {
    this.totals.entries += 1
    this.entrySeq = seq
  }

  private closeEntry(entry: Entry | ClosedEntry, leftAt: number | null, at: number): void {
    const { provider, model } = this.waitedOn.take(entry)
    this.listener.record({
      record: 'entry', at: entry.enteredAt, seq: this.entrySeq, leftAt, durationMs: Math.max(0, at - entry.enteredAt),
      attempts: entry.attempts, provider, model,
      reason: 'reason' in entry ? entry.reason : 'open', code: entry.failure.code, message: oneLine(entry.failure.message, MESSAGE),
    })
  }

  private settled(fact: FactOf<'commandSettled'>): void {
    const setting = this.asked.get(fact.commandId)
    if (setting === undefined) return
    this.asked.delete(fact.commandId)
    this.listener.record({ ...setting, outcome: fact.ok ? 'applied' : 'refused' })
  }
}
