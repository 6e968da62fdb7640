import type { WaitCause } from '../events/policy-key.ts'
import type { Failure } from '../events/failure.ts'
import type { Wait } from './quota.ts'
import type { SessionState } from './session.ts'

/** The policies by which a session can be held. */
export type HoldPolicy = 'quota' | 'transient'

/**
 * What a session is held by: one of our policies has it stand still, and it goes on by itself. At most one at a time.
 * Chip, page, commands, archive and restart know a hold and no policy.
 */
export interface Hold {
  readonly policy: HoldPolicy
  /** The turn that is held, or the one that the end of its host cut off. */
  readonly turn: number
  /** Epoch ms of the next attempt; of one that is under way or was cut off, when it was planned. */
  readonly at: number
  /** Why then; `null` where no attempt is planned: one is under way, or the host ended. */
  readonly cause: WaitCause | null
  /** Epoch ms since which this turn is held. */
  readonly since: number
  /** The route that is waited for; its model is `null` where the log does not name it. */
  readonly provider: string
  readonly model: string | null
  readonly failure: Failure | null
  /** The armed wait, while there is one. */
  readonly wait: Wait | null
  /** Whether the end of its host cut the turn off, and nothing came after: the run is to go on. */
  readonly cut: boolean
}

function quotaHold({ entries: { open }, step }: SessionState): Hold | undefined {
  if (open === null || (open.cutOff === null && step.turn !== open.heldBy)) return undefined
  const { cutOff, enteredAt, failure, heldBy, model, provider, since, wait } = open
  return {
    policy: 'quota', turn: heldBy, at: cutOff ?? wait?.nextAttemptAt ?? enteredAt, cause: wait?.cause ?? null,
    since, provider, model, failure, wait, cut: cutOff !== null,
  }
}

function transientHold({ transient: { cut, ladder }, step }: SessionState): Hold | undefined {
  if (cut !== null) {
    const { at, model, provider, turn } = cut
    return { policy: 'transient', turn, at, cause: null, since: at, provider, model, failure: null, wait: null, cut: true }
  }
  if (ladder === null || step.turn !== ladder.turn || (ladder.wait === null && ladder.triedAt === null)) return undefined
  const { failure, model, provider, since, turn, wait } = ladder
  return {
    policy: 'transient', turn, at: wait?.nextAttemptAt ?? since, cause: wait?.cause ?? null,
    since, provider, model, failure, wait, cut: false,
  }
}

/** How each policy's hold is read from the log; the first that holds is the one. */
const HOLDS: readonly ((state: SessionState) => Hold | undefined)[] = [
  // A try of the ladder in the middle of an entry is the nearer of the two.
  state => state.entries.open?.wait != null ? quotaHold(state) : undefined,
  transientHold,
  quotaHold,
]

/**
 * What a session is held by now.
 *
 * @param state - the folded session.
 * @returns `undefined` while nothing of ours holds it.
 */
export function holdOf(state: SessionState): Hold | undefined {
  for (const read of HOLDS) {
    const hold = read(state)
    if (hold !== undefined) return hold
  }
  return undefined
}
