import type { Fact } from '../../events/facts.ts'
import { type Advance, isCutOff } from './advance.ts'
import type { Row, WaitEnd } from './records.ts'

const KINDS: Readonly<Partial<Record<Fact['type'], Row['kind']>>> = {
  routed: 'route', requestFailed: 'failure', waitPlanned: 'wait', movePlanned: 'move', requestMoved: 'move', modelPicked: 'route', pickStands: 'route', otherRetryPlanned: 'quick-retry',
  attemptStarted: 'attempt', answered: 'answer', settingRequested: 'setting', commandSettled: 'setting',
}

/** The kind of line that a fact makes. */
export const kindOf = (fact: Fact): Row['kind'] => KINDS[fact.type] ?? 'turn'

/** What a step that ends a wait ends it as. */
export function endOf(step: Advance): WaitEnd {
  switch (step.fact.type) {
    case 'attemptStarted': return 'attempt'
    case 'answered': return 'answer'
    case 'commandSettled': return 'switched-off'
    case 'waitPlanned': return 'replaced'
    case 'turnEnded': return isCutOff(step) ? 'host-ended' : 'turn-ended'
    case 'seedEnded':
    case 'turnStarted':
      return 'host-ended'
    default: return 'given-up'
  }
}

/** Where a fact stands in its log; -1 for the head. */
export const seqOf = (fact: Fact): number => fact.type === 'sessionOpened' ? -1 : fact.seq

/** The providers that the line of a step speaks of. */
export function providersAt({ fact, before }: Advance): readonly string[] {
  switch (fact.type) {
    case 'routed':
      return [fact.route.provider]
    case 'movePlanned':
      return [fact.provider, fact.to.provider]
    case 'requestMoved':
      return [fact.from.provider, fact.to.provider]
    case 'modelPicked':
    case 'pickStands':
      return [fact.route.provider]
    case 'waitPlanned':
    case 'otherRetryPlanned':
      return [fact.provider]
    case 'answered':
      return fact.route === undefined ? [] : [fact.route.provider]
    case 'requestFailed':
    case 'attemptStarted':
      return before.step.route === null ? [] : [before.step.route.provider]
    default:
      return []
  }
}
