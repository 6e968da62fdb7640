import type { Events } from '@deepseek-ai/cordis'
import type { RequestErrorAction } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import { readFailure } from '../events/failure.ts'
import { waitKey } from '../events/policy-key.ts'
import type { Classification } from '../policy/classify.ts'
import type { Config } from '../policy/config.ts'
import { type Response, respond } from '../policy/respond.ts'
import { clockText, durationText, oneLine } from '../projections/text.ts'
import type { SessionBook } from './book.ts'
import type { Clock } from './clock.ts'
import type { Journal } from './journal-store.ts'
import { recordPlanned, recordStarted } from './records.ts'
import type { Waits } from './waits.ts'
import type { Voice } from './voice.ts'

type RequestError = Parameters<Events['agent/request-error']>[0]
type Next = () => Promise<RequestErrorAction>

/** What the recovery works with. */
export interface RecoveryParts {
  readonly config: Config
  readonly clock: Clock
  readonly book: SessionBook
  readonly waits: Waits<Session>
  readonly journal: Journal
  readonly voice: Voice
}

/** Answers failed requests: reads the folded state, asks the policy, records, waits. */
export class Recovery {
  private readonly parts: RecoveryParts
  private readonly lifetime = new AbortController()
  private readonly active = new Set<Promise<RequestErrorAction>>()

  /**
   * @param parts - what the recovery works with.
   */
  constructor(parts: RecoveryParts) {
    this.parts = parts
  }

  /**
   * The `agent/request-error` listener.
   *
   * @param payload - the failed request.
   * @param next - the next listener.
   */
  readonly listener = (payload: RequestError, next: Next): Promise<RequestErrorAction> => {
    // A waterfall may have captured this listener before it was removed.
    if (this.lifetime.signal.aborted) return next()
    const handled = this.handle(payload, next)
    const tracked: Promise<RequestErrorAction> = handled.finally(() => { this.active.delete(tracked) })
    this.active.add(tracked)
    return tracked
  }

  /** End every wait and wait for the listeners to return: disposing a fiber does not. */
  async close(): Promise<void> {
    this.lifetime.abort()
    this.parts.waits.close()
    await Promise.allSettled([...this.active])
  }

  private async handle(payload: RequestError, next: Next): Promise<RequestErrorAction> {
    let retry: boolean
    try {
      retry = await this.recover(payload)
    } catch (error) {
      // A listener that throws would lose the failure: the turn would end with ours instead.
      this.parts.voice.warn('recovery', `a failed request could not be handled and is left to the harness: ${String(error)}`)
      retry = false
    }
    return retry ? { kind: 'retry' } : next()
  }

  /** @returns whether to ask again; false leaves the failure as it was. */
  private async recover(payload: RequestError): Promise<boolean> {
    const { agent, turn, provider, failure, signal } = payload
    if (signal.aborted) return false
    const { book, clock, config } = this.parts
    const now = clock.now()
    const response = respond({ state: book.of(agent.session), failure: readFailure(failure), provider, turn, now }, config)
    this.markProvider(provider, response.verdict, failure.message, now)
    switch (response.kind) {
      case 'delegate':
        return false
      case 'wait':
        return this.wait(payload, response)
    }
  }

  /** A refusal for a spent allowance concerns every session of the provider, whether this one is on or off. */
  private markProvider(provider: string, verdict: Classification | undefined, message: unknown, now: number): void {
    if (verdict?.kind !== 'spent-allowance' || verdict.throttle === true) return
    const until = now + this.parts.config.exhaustedCooldownMs
    this.parts.journal.append({
      type: 'providerMarked',
      provider,
      at: now,
      until,
      rule: verdict.rule,
      message: typeof message === 'string' ? message.slice(0, 2_000) : '',
      ...verdict.resetHint === undefined ? {} : { resetHint: verdict.resetHint.slice(0, 500) },
      ...verdict.resetsAt === undefined || verdict.resetsAt < 0 ? {} : { resetsAt: verdict.resetsAt },
    })
  }

  private async wait(payload: RequestError, plan: Extract<Response, { kind: 'wait' }>): Promise<boolean> {
    const { agent, turn, step, provider, failure } = payload
    const { session } = agent
    const { book, clock, config, waits } = this.parts
    const deadline = clock.now() + plan.delayMs
    const planned = recordPlanned(session, book.of(session).step, {
      turn, step, provider, policyKey: waitKey(config.longTermDelayMs, plan.cause), delayMs: plan.delayMs, failure,
    })
    this.say(session, provider, plan, deadline)
    const signal = AbortSignal.any([payload.signal, this.lifetime.signal])
    const reason = await waits.begin(session, deadline, signal)
    if (reason === 'aborted' || reason === 'disabled') return false
    recordStarted(session, planned)
    return true
  }

  /** One line for each wait: a headless run has nothing else that says why it stands still. */
  private say(session: Session, provider: string, plan: Extract<Response, { kind: 'wait' }>, deadline: number): void {
    const hint = plan.verdict.resetHint === undefined ? '' : `; the provider says: ${oneLine(plan.verdict.resetHint, 120)}`
    this.parts.voice.wait(`session ${session.id} waits: ${provider} is out of allowance (${plan.verdict.reason}); `
      + `next check ${clockText(deadline)}, in ${durationText(plan.delayMs)}${hint}`)
  }
}
