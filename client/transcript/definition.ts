import type { LogEvent, TurnOutcome } from './chain.ts'
import { type Move, movePlace, readMove } from './move.ts'
import { evolveWait, type Step, type WaitLine, waitPlace } from './wait.ts'

/** Kinds of our nodes in the transcript. */
export const NODE_KINDS = { wait: 'llm-quota-retry', move: 'llm-quota-retry-move' } as const

interface Match {
  readonly event: LogEvent
  readonly location: { readonly kind: string; readonly turn?: { readonly status?: string; readonly end?: LogEvent }; readonly step?: { readonly status?: string } }
}
interface NodeContext {
  readonly key: string
  readonly id: string
  readonly matches: readonly Match[]
  readonly start?: Match
  readonly state?: WaitLine | Step | Move | undefined
}

/** What a node of ours carries to its component. */
export interface LineData {
  readonly line: WaitLine | Move
  /** How far its turn has come. */
  readonly turn: TurnOutcome
}

/** Finds what stands before an event in the log of its session. */
interface Reader {
  previous?(kind: string): { readonly state?: unknown } | undefined
}

/** Kind of the contexts that keep where requests went; they are not shown. */
const HEADER_KIND = 'llm-quota-retry-header'

interface HeaderRoute { readonly provider: unknown; readonly model: unknown }

const routeOf = (event: LogEvent): HeaderRoute => {
  const { header } = (event.data ?? {}) as { header?: { config?: { provider?: unknown; model?: unknown } | null } | null }
  return { provider: header?.config?.provider, model: header?.config?.model }
}

/** Remembers the route of each request header, for a refusal does not name its model. */
export const headerDefinition = {
  kind: HEADER_KIND,
  match: (event: LogEvent) => event.type === 'request/header' ? { id: String(event.seq), role: 'start' } : null,
  start: (_context: unknown, { event }: Match) => routeOf(event),
  update: (context: { readonly state: unknown }) => context.state,
}

const UNKNOWN_STEP: Step = { kind: 'step', provider: undefined, model: undefined }

const routeBefore = (reader: Reader): HeaderRoute =>
  reader.previous?.(HEADER_KIND)?.state as HeaderRoute | undefined ?? UNKNOWN_STEP

function outcomeOf({ step, turn }: Match['location']): TurnOutcome {
  if (turn?.status !== 'closed') return step?.status === 'closed' ? 'done' : 'open'
  const { reason } = (turn.end?.data ?? {}) as { reason?: { kind?: unknown } | null }
  return reason?.kind === 'aborted' ? 'cancelled' : 'done'
}

/** A line right behind the harness's own row, and so before what the model answered: behind that it would take the Branch action away. */
function lineNode(kind: string, context: NodeContext) {
  // A page that begins within a step has not its start.
  const line = context.state ?? context.matches.map(({ event }) => event).reduce<WaitLine | Step>(evolveWait, UNKNOWN_STEP)
  if (line.kind === 'step') return null
  const location = (context.start ?? context.matches[0])?.location ?? { kind: 'unresolved' }
  const data: LineData = { line, turn: outcomeOf(location) }
  return { key: context.key, kind, id: context.id, target: 'chat', anchorSeq: line.seq + 0.01, location, visibility: 'visible', data }
}

/** Folds the waits of a step into one line, which stands at its newest attempt. */
export const waitDefinition = {
  kind: NODE_KINDS.wait,
  target: 'chat',
  match: waitPlace,
  start: (_context: NodeContext, _match: Match, reader: Reader): Step => ({ ...routeBefore(reader), kind: 'step' }),
  update: (context: NodeContext, { event }: Match): WaitLine | Step => {
    const before = context.state as WaitLine | Step
    if (event.type !== 'request/header') return evolveWait(before, event)
    return before.kind === 'step' ? { kind: 'step', ...routeOf(event) } : before
  },
  buildViewNode: (context: NodeContext) => lineNode(NODE_KINDS.wait, context),
}

/** Shows each move of a request. */
export const moveDefinition = {
  kind: NODE_KINDS.move,
  target: 'chat',
  match: movePlace,
  start: (_context: NodeContext, { event }: Match, reader: Reader): Move => readMove(event, routeBefore(reader)),
  update: (context: NodeContext) => context.state,
  buildViewNode: (context: NodeContext) => lineNode(NODE_KINDS.move, context),
}
