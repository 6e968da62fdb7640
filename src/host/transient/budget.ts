import { type BudgetState, earn, take } from '../../policy/transient/budget.ts'
import type { Clock } from '../clock.ts'

/**
 * The retry budgets of all providers. Live only: after a restart each begins full, which costs a few requests and
 * steers nothing else.
 */
export class Budget {
  private readonly clock: Pick<Clock, 'ticks'>
  private readonly states = new Map<string, BudgetState>()

  /**
   * @param clock - the clock that nobody sets.
   */
  constructor(clock: Pick<Clock, 'ticks'>) {
    this.clock = clock
  }

  /**
   * Take one try.
   *
   * @param provider - the provider that would be asked.
   * @returns how long it has to wait, in whole ms.
   */
  take(provider: string): number {
    const { delayMs, state } = take(this.states.get(provider), this.clock.ticks())
    this.states.set(provider, state)
    return delayMs
  }

  /**
   * A provider answered.
   *
   * @param provider - the provider.
   */
  answered(provider: string): void {
    const state = this.states.get(provider)
    if (state !== undefined) this.states.set(provider, earn(state, this.clock.ticks()))
  }
}
