import type { Context } from '@deepseek-ai/cordis'
import type { LlmFailure } from '@deepseek-ai/dsh-llm'
import type { Session } from '@deepseek-ai/dsh-session'
import type { Failure } from '../events/failure.ts'
import type { ClosedEntry, Entry } from '../reducers/quota.ts'
import type { Failover, Move } from '../reducers/pool.ts'
import type { Transition } from '../reducers/transitions.ts'
import { agentOf } from './harness.ts'
import type { EnteredEvent, FailoverEvent, LeftEvent, MovedEvent } from './types.ts'
import type { Warn } from './voice.ts'

const asLlmFailure = (failure: Failure): LlmFailure => failure as LlmFailure

function enteredEvent(ctx: Context, session: Session, entry: Entry): EnteredEvent {
  const { provider, turn, step, enteredAt, attempts } = entry
  return {
    session, agent: agentOf(ctx, session), failure: asLlmFailure(entry.failure), provider, turn, step, enteredAt,
    nextAttemptAt: entry.wait?.nextAttemptAt ?? enteredAt, attempts, pending: true, retrying: true,
  }
}

function failoverEvent(ctx: Context, session: Session, move: Failover): FailoverEvent {
  return {
    session, agent: agentOf(ctx, session), failure: asLlmFailure(move.failure),
    from: move.from ?? { provider: '', model: '' }, to: move.to, pool: move.pool, at: move.at,
    ...move.afterWait === undefined ? {} : { afterWait: move.afterWait },
  }
}

function movedEvent(ctx: Context, session: Session, { at, from, pool, to, why }: Move): MovedEvent {
  return { session, agent: agentOf(ctx, session), from: from ?? to, to, pool, at, why: why ?? 'marked' }
}

function leftEvent(session: Session, entry: ClosedEntry): LeftEvent {
  const { reason, provider, turn, step, enteredAt, leftAt, attempts } = entry
  return { session, reason, provider, turn, step, enteredAt, leftAt, durationMs: Math.max(0, leftAt - enteredAt), attempts }
}

/**
 * Announces what the fold of a session found, as Cordis events.
 *
 * The fold runs while the harness publishes an event, when nobody may append another. Listeners are therefore called
 * right after, from the microtask queue, with the state already in place; a listener that throws harms nobody.
 */
export class Announcer {
  private readonly ctx: Context
  private readonly warn: Warn

  /**
   * @param ctx - the plugin's context; events go out through it.
   * @param warn - told once of a listener that throws.
   */
  constructor(ctx: Context, warn: Warn) {
    this.ctx = ctx
    this.warn = warn
  }

  /**
   * Announce what changed.
   *
   * @param session - the session.
   * @param found - what changed, in order.
   */
  announce(session: Session, found: readonly Transition[]): void {
    if (found.length === 0) return
    queueMicrotask(() => { for (const transition of found) this.emit(session, transition) })
  }

  private emit(session: Session, transition: Transition): void {
    try {
      switch (transition.type) {
        case 'entered':
          this.ctx.emit('llm-quota-retry/entered', enteredEvent(this.ctx, session, transition.entry))
          return
        case 'left':
          this.ctx.emit('llm-quota-retry/left', leftEvent(session, transition.entry))
          return
        case 'failover':
          this.ctx.emit('llm-quota-retry/failover', failoverEvent(this.ctx, session, transition.failover))
          return
        case 'moved':
          this.ctx.emit('llm-quota-retry/moved', movedEvent(this.ctx, session, transition.move))
      }
    } catch (error) {
      const event = transition.type
      this.warn(`listener-${event}`, `a listener of llm-quota-retry/${event} threw: ${String(error)}`)
    }
  }
}
