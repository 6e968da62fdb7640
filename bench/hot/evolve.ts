import { type ProjectionUnit, projectionUnit } from '../../src/projections/unit.ts'
import { nsPerCall, sig } from './time.ts'

/** The least that a unit can be: it looks at the type, as every unit does, and returns its state. */
export const plainUnit = {
  key: 'plain', stateVersion: 1,
  init: () => ({ turns: 0 }),
  apply: (state: { turns: number }, event: { type: string }) => event.type === 'turn/begin-plain' ? { turns: state.turns + 1 } : state,
  view: (state: { turns: number }) => state,
}

const where = { turn: 1, step: 1 }

/** Events that no unit here cares for, as most of a log is. */
export const OTHERS: readonly { readonly type: string; readonly data: any }[] = [
  ...Array.from({ length: 19 }, (_none, index) => ({ type: 'assistant/chunk', data: { ...where, chunk: { type: 'text-delta', index: 0, text: `word ${index}` } } })),
  { type: 'tool/result', data: { ...where, callId: 'call-1', result: { content: [{ type: 'text', text: 'ok' }] } } },
]

/** One fold of an event that does not concern the unit: ours against a plain one. */
export function benchEvolve(): Record<string, number> {
  const unit: ProjectionUnit = projectionUnit({ defaultEnabled: true, pools: {}, resumeOnStart: true, transient: { enabled: true } })
  const events = OTHERS.map((event, seq) => ({ ...event, seq, time: 1 }))
  const fold = <S>(apply: (state: S, event: any) => S, init: S) => (count: number): void => {
    let state = init
    for (let index = 0; index < count; index += 1) state = apply(state, events[index % events.length])
    // The same reference back is what tells the registry that nothing changed.
    if (state !== init) throw new Error('an event that concerns nobody changed the state')
  }
  const ns = nsPerCall({ ours: fold(unit.apply, unit.init()), plain: fold(plainUnit.apply, plainUnit.init()) }, 2_000_000, 7)
  return { oursNs: sig(ns.ours), plainNs: sig(ns.plain), ratio: sig(ns.ours / ns.plain) }
}
