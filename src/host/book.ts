import type { Session } from '@deepseek-ai/dsh-session'
import { decodeEvent, decodeHeader } from '../events/decode.ts'
import type { Fact } from '../events/facts.ts'
import { evolve, foldSession, initialState, type SessionState } from '../reducers/session.ts'
import { readLog } from './harness.ts'

/** Told of every fact of every live session, with the state before and after it. */
export type FactListener = (session: Session, fact: Fact, before: SessionState, after: SessionState) => void

/** The folded state of every live session: nothing here that the log does not say. */
export class SessionBook {
  private readonly states = new WeakMap<Session, SessionState>()
  private readonly onFact: FactListener

  /**
   * @param onFact - told of each fact after it was folded.
   */
  constructor(onFact: FactListener) {
    this.onFact = onFact
  }

  /**
   * The state of a session.
   *
   * @param session - a live session; one not seen before is folded from its log.
   */
  of(session: Session): SessionState {
    return this.states.get(session) ?? this.open(session, Number.POSITIVE_INFINITY)
  }

  /**
   * Fold one event that was just appended.
   *
   * @param session - the session.
   * @param event - the event; most are not ours and cost one look.
   */
  observe(session: Session, event: unknown): void {
    const fact = decodeEvent(event)
    if (fact === undefined || fact.type === 'sessionOpened') return
    const before = this.states.get(session) ?? this.open(session, fact.seq)
    const after = evolve(before, fact)
    this.states.set(session, after)
    this.onFact(session, fact, before, after)
  }

  private open(session: Session, upTo: number): SessionState {
    const header = decodeHeader(session.header)
    const start = header === undefined ? initialState : evolve(initialState, header)
    const log = readLog(session)
    const state = foldSession(upTo === Number.POSITIVE_INFINITY ? log : log.slice(0, upTo), start)
    this.states.set(session, state)
    return state
  }
}
