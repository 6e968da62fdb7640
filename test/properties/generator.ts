/**
 * Plausible session logs: a model of the agent loop that does what a script of small actions says, and passes over an
 * action that its state does not allow, so that a failing script still shrinks to the few actions that matter.
 */
import fc from 'fast-check'
import type { WaitCause } from '../../src/events/policy-key.ts'
import { HOUR, log, type Log, MINUTE, SECOND, SPENT, THROTTLED } from '../support/build.ts'

const PROVIDERS = ['a', 'b', '__proto__'] as const
const CAUSES: readonly WaitCause[] = ['interval', 'hint', 'second-try', 'throttle', 'limit']
const SETTINGS = [
  '/quota-retry on', '/quota-retry off', '/quota-retry default', '/quota-retry status', '/quota-retry banana', '/quota-retry inherit off',
  '/quota-pool medium', '/quota-pool off', '/quota-pool default', '/compact now',
] as const

/** One thing that the loop, the person or the machine does. */
export type Action =
  | { readonly do: 'turn' | 'step' | 'chunk' | 'answer' | 'interrupted' | 'starts' | 'retry' | 'endTurn' | 'cancel' | 'crash' | 'fork' | 'vanish' }
  | { readonly do: 'ask'; readonly provider: string; readonly model: string }
  | { readonly do: 'refuse'; readonly spent: boolean; readonly late: boolean }
  | { readonly do: 'wait'; readonly delayMs: number; readonly cause: WaitCause }
  | { readonly do: 'move'; readonly provider: string }
  | { readonly do: 'command'; readonly line: string; readonly kind: 'success' | 'error' | 'never' }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'noise'; readonly type: string; readonly data: unknown }

const provider = fc.constantFrom(...PROVIDERS)

/** An action, the common ones more often. */
export const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('turn', 'step', 'chunk', 'starts', 'starts', 'answer').map(name => ({ do: name as 'turn' })) },
  { weight: 3, arbitrary: fc.constantFrom('interrupted', 'retry', 'endTurn', 'cancel', 'crash', 'fork', 'vanish').map(name => ({ do: name as 'turn' })) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('ask' as const), provider, model: fc.constantFrom('m', 'n') }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('refuse' as const), spent: fc.boolean(), late: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), delayMs: fc.constantFrom(0, SECOND, MINUTE, HOUR, 2 ** 31 - 1), cause: fc.constantFrom(...CAUSES) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move' as const), provider }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('command' as const), line: fc.constantFrom(...SETTINGS), kind: fc.constantFrom('success', 'success', 'error', 'never') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: -HOUR, max: 2 * HOUR }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('noise' as const), type: fc.constantFrom('user/message', 'moon/phase', 'tool/call'), data: fc.jsonValue() }) },
)

function act(given: Log, next: Action): void {
  switch (next.do) {
    case 'turn':
      given.turn()
      return
    case 'step':
      if (given.inTurn) given.step()
      return
    case 'command':
      given.runs(next.line)
      if (next.kind !== 'never') given.settles(next.kind)
      return
    case 'pass':
      given.after(next.ms)
      return
    case 'noise':
      given.event(next.type, next.data)
      return
    case 'crash':
      given.crashes()
      return
    case 'fork':
      given.forks()
      return
    case 'vanish':
      // The end of the log was never written, and the harness could not mend it.
      given.inStep = false
      given.inTurn = false
      given.event('session/end-seed', {})
      return
    case 'endTurn':
      if (given.inTurn) given.endTurn('completed')
      return
    case 'cancel':
      if (given.inTurn) given.cancels()
      return
    default:
      if (given.inStep) inStep(given, next)
  }
}

function inStep(given: Log, next: Action): void {
  switch (next.do) {
    case 'ask':
      given.asks(next.provider, next.model)
      return
    case 'chunk':
      given.chunk()
      return
    case 'refuse': {
      const failure = next.spent ? SPENT : THROTTLED
      if (next.late) given.refusedInAttempt(failure)
      else given.refused(failure)
      return
    }
    case 'answer':
      given.answers()
      return
    case 'interrupted':
      given.interrupted()
      return
    case 'wait':
      given.waits(next.delayMs, { cause: next.cause })
      return
    case 'move':
      given.moves('medium', next.provider, 'n')
      return
    case 'retry':
      given.retries()
      return
    case 'starts':
      given.starts()
      return
    default:
  }
}

/** The log that a script of actions leaves. */
export function rowsOf(script: readonly Action[]): any[] {
  const given = log().head({ parentSession: 'p' })
  for (const next of script) act(given, next)
  return given.rows
}

/** A log. */
export const rows: fc.Arbitrary<any[]> = fc.array(action, { maxLength: 60 }).map(rowsOf)

/** An event that no version of this plugin knows, and some that only look as if. */
export const unknownEvent: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({ type: fc.constantFrom('moon/phase', 'user/message', 'constructor', 'providerMarked', 'turn', ''), seq: fc.integer(), time: fc.integer(), data: fc.jsonValue() }),
  fc.record({ type: fc.constantFrom('turn/start', 'llm/retry', 'assistant/message', 'command/done'), data: fc.constantFrom(null, [], 'x', {}, { turn: 'x' }) }),
  fc.jsonValue().filter(value => typeof value !== 'object' || value === null || !('type' in value)),
)
