import type { Fact, FactOf } from '../../events/facts.ts'
import { type Route, sameRoute } from '../../events/route.ts'
import type { WaitCause } from '../../events/policy-key.ts'
import type { Config } from '../../policy/config.ts'
import { respond, type Response } from '../../policy/respond.ts'
import { nothingKnown } from '../../policy/quota/plan.ts'
import { evolveMarks, initialMarks, type MarksState } from '../../reducers/marks.ts'
import { oneLine } from '../text.ts'
import { type Advance, isInherited } from './advance.ts'
import { bounds, type Episode, type WaitBounds } from './wait-bounds.ts'

/** What was done about a refusal, or would be. */
export type Decision =
  | { readonly kind: 'wait'; readonly delayMs: number; readonly cause: WaitCause }
  | { readonly kind: 'move'; readonly to: Route; readonly pool: string }
  /** One more try after a failure that passes. */
  | { readonly kind: 'retry'; readonly delayMs: number; readonly cause: WaitCause }
  /** The failure stood, and the turn ended with it. */
  | { readonly kind: 'left'; readonly why: string }

/** A refusal at which another configuration would have decided otherwise. What comes after it is not in the log. */
export interface Divergence {
  readonly session: string | null
  readonly file: string
  readonly at: number
  readonly seq: number
  readonly route: Route | null
  readonly message: string
  readonly logged: Decision
  readonly instead: Decision
  /** From here to the next answer in the log; `null` when the turn ended without one. */
  readonly answeredAfterMs: number | null
}

/** What another configuration would have done with the same refusals. */
export interface WhatIfReport {
  /** Refusals that this plugin answered, or would. */
  readonly decisions: number
  /** Of these, those answered alike (a wait counts as alike whatever its length: see `waits`). */
  readonly alike: number
  /** Later refusals of a turn that would have gone otherwise before: the log says nothing about them. */
  readonly unknowable: number
  /** Where the answer would be another one, oldest first in each log; at most {@link MAX_SHOWN}. */
  readonly divergences: readonly Divergence[]
  readonly moves: number
  readonly waits: {
    /** Outages of which the log shows the end, waited out alike. */
    readonly outages: number
    readonly loggedMs: number
    readonly earliestMs: number
    readonly latestMs: number
    readonly loggedAttempts: number
    readonly fewestAttempts: number
    readonly mostAttempts: number
    /** Outages in which the longest wait would have been used up, so that the failure would have stood. */
    readonly givenUp: number
  }
  /** The outages themselves; at most {@link MAX_SHOWN}. */
  readonly outages: readonly (WaitBounds & { readonly session: string | null; readonly file: string; readonly at: number; readonly route: Route | null })[]
  /** What no log can say. */
  readonly unknown: readonly string[]
}

/** Longest list in a report. */
export const MAX_SHOWN = 1_000

const UNKNOWN: readonly string[] = [
  'whether a route that was not asked would have answered, and so everything after a move that did not happen',
  'when, between the last refusal and the answer, the allowance came back: hence an earliest and a latest time',
  'what balance readings would have said: routes are taken as unread, under the configuration\'s own failOpen',
  'refusals of sessions whose logs are not here, and marks set by other sessions: each session is replayed alone',
  'what the person would have done, and moves before a request is sent',
]

function decided(response: Response, now: number): Decision {
  switch (response.kind) {
    case 'move': return { kind: 'move', to: { provider: response.choice.route.provider, model: response.choice.route.model }, pool: response.choice.pool }
    case 'delegate': return { kind: 'left', why: response.why }
    case 'wait': return { kind: 'wait', delayMs: response.plan.first.at - now, cause: response.plan.first.cause }
    case 'retry': return { kind: 'retry', ...response.ladder.asked }
  }
}

const alike = (a: Decision, b: Decision): boolean =>
  a.kind === b.kind && (a.kind !== 'move' || (b.kind === 'move' && sameRoute(a.to, b.to)))

/** What the log shows was done about the refusal before this fact; `quick-retry` is the harness's own answer. */
function loggedAt(fact: Fact): Decision | 'quick-retry' | undefined {
  switch (fact.type) {
    case 'waitPlanned': return { kind: 'wait', delayMs: fact.delayMs, cause: fact.cause }
    case 'movePlanned': return { kind: 'move', to: fact.to, pool: fact.pool }
    case 'backoffPlanned': return { kind: 'retry', delayMs: fact.delayMs, cause: fact.cause }
    case 'otherRetryPlanned': return 'quick-retry'
    case 'stepEnded':
    case 'turnEnded':
    case 'turnStarted': return { kind: 'left', why: 'the log shows no answer to it' }
    default: return undefined
  }
}

interface Pending {
  readonly fact: FactOf<'requestFailed'>
  readonly route: Route | null
  readonly response: Response
}

/** Replays the refusals of logs against another configuration. One session at a time, in constant memory. */
export class WhatIf {
  private readonly config: Config
  private marks: MarksState = initialMarks
  private pending: Pending | undefined
  private episode: (Episode & { readonly route: Route | null }) | undefined
  private place: { session: string | null; file: string } = { session: null, file: '' }
  /** The turn that would have gone otherwise, until the log has its answer. */
  private left: { readonly turn: number; divergence: Divergence } | undefined
  private decisions = 0
  private alike = 0
  private unknowable = 0
  private moves = 0
  private readonly divergences: Divergence[] = []
  private readonly outages: WhatIfReport['outages'][number][] = []
  private readonly waits = { outages: 0, loggedMs: 0, earliestMs: 0, latestMs: 0, loggedAttempts: 0, fewestAttempts: 0, mostAttempts: 0, givenUp: 0 }

  /**
   * @param config - the configuration to replay against.
   */
  constructor(config: Config) {
    this.config = config
  }

  /**
   * Take one step of a log.
   *
   * @param step - the step.
   * @param file - where it stands.
   */
  push(step: Advance, file: string): void {
    const { fact, after } = step
    if (isInherited(step)) return
    this.place = { session: after.lineage.id, file }
    const logged = loggedAt(fact)
    if (this.pending !== undefined && logged !== undefined) this.resolve(this.pending, logged)
    if (fact.type === 'requestFailed') this.refused(step, fact)
    if (fact.type === 'answered') this.close(fact.at)
    if (fact.type === 'answered' || fact.type === 'turnEnded' || fact.type === 'turnStarted' || fact.type === 'seedEnded') {
      this.rejoin(fact.type === 'answered' ? fact.at : null)
    }
  }

  /** The log is over. */
  end(): void {
    this.pending = undefined
    this.rejoin(null)
    this.marks = initialMarks
  }

  /** What was found so far. */
  get report(): WhatIfReport {
    const { decisions, moves, divergences, outages } = this
    return { decisions, alike: this.alike, unknowable: this.unknowable, divergences, moves, waits: { ...this.waits }, outages, unknown: UNKNOWN }
  }

  private refused({ before }: Advance, fact: FactOf<'requestFailed'>): void {
    const { route } = before.step
    const world = { marks: this.marks, readings: {}, now: fact.at }
    const response = respond({
      state: before, failure: fact.failure, provider: route?.provider ?? '', turn: fact.turn, step: fact.step, world, unfit: [],
      // The log names neither; jitter apart they change no decision of a provider that retries as most do.
      known: nothingKnown, retryPolicy: { mode: 'normal' }, random: 0.5,
    }, this.config)
    if (response.mark !== undefined) this.marks = evolveMarks(this.marks, response.mark)
    this.pending = { fact, route, response }
    // While the log goes on as it did, each refusal tells what the provider said until then.
    if (this.episode !== undefined && response.verdict.kind === 'spent-allowance') this.episode.refusals.push({ at: fact.at, timing: response.verdict })
  }

  private resolve({ fact, route, response }: Pending, logged: Decision | 'quick-retry'): void {
    this.pending = undefined
    const instead = decided(response, fact.at)
    // The harness's own retries come first under any configuration, and what is no allowance is not ours.
    if (logged === 'quick-retry' || (logged.kind === 'left' && instead.kind === 'left')) return
    this.decisions += 1
    if (this.left?.turn === fact.turn) {
      this.unknowable += 1
      return
    }
    if (instead.kind === 'wait' && logged.kind === 'wait') this.waiting({ fact, route, response })
    if (alike(instead, logged)) {
      this.alike += 1
      return
    }
    // From here on the log tells of another history.
    const spent = this.episode !== undefined && instead.kind === 'left' && instead.why === 'longest-wait-reached'
    if (spent) {
      if (this.episode !== undefined && logged.kind === 'wait') this.episode.attempts += 1
      return
    }
    this.episode = undefined
    if (instead.kind === 'move') this.moves += 1
    const divergence: Divergence = { ...this.place, at: fact.at, seq: fact.seq, route, message: oneLine(fact.failure.message, 160), logged, instead, answeredAfterMs: null }
    this.left = { turn: fact.turn, divergence }
  }

  /** An answer or the end of the turn: from here on the log and the other configuration may agree again. */
  private rejoin(answeredAt: number | null): void {
    const { left } = this
    this.left = undefined
    this.episode = undefined
    if (left === undefined || this.divergences.length >= MAX_SHOWN) return
    this.divergences.push({ ...left.divergence, answeredAfterMs: answeredAt === null ? null : answeredAt - left.divergence.at })
  }

  private waiting({ fact, route, response }: Pending): void {
    this.episode ??= { route, startedAt: fact.at, refusals: [{ at: fact.at, timing: response.verdict }], attempts: 0 }
    this.episode.attempts += 1
  }

  private close(at: number): void {
    const { episode } = this
    this.episode = undefined
    if (episode === undefined) return
    const found = bounds(episode, at, this.config)
    this.waits.outages += 1
    for (const key of ['loggedMs', 'earliestMs', 'latestMs', 'loggedAttempts', 'fewestAttempts', 'mostAttempts'] as const) this.waits[key] += found[key]
    if (found.givenUpAfterMs !== null) this.waits.givenUp += 1
    if (this.outages.length < MAX_SHOWN) this.outages.push({ ...this.place, at: episode.startedAt, route: episode.route, ...found })
  }
}
