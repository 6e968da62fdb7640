import { type Chain, chainPlace, evolveChain, type LogEvent, type TurnOutcome } from './chain.ts'

/** Kind of our nodes in the transcript. */
export const NODE_KIND = 'llm-quota-retry'

interface Match {
  readonly event: LogEvent
  readonly location: { readonly kind: string; readonly turn?: { readonly status?: string; readonly end?: LogEvent }; readonly step?: { readonly status?: string } }
}
interface NodeContext {
  readonly key: string
  readonly id: string
  readonly matches: readonly Match[]
  readonly start?: Match
  readonly state?: Chain | undefined
}

/** What a node of ours carries to its component. */
export interface LineData {
  readonly chain: Chain
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

function modelOf(reader: Reader, event: LogEvent): string | null {
  const before = reader.previous?.(HEADER_KIND)?.state as HeaderRoute | undefined
  const { provider } = (event.data ?? {}) as { provider?: unknown }
  return before !== undefined && before.provider === provider && typeof before.model === 'string' ? before.model : null
}

function outcomeOf({ step, turn }: Match['location']): TurnOutcome {
  if (turn?.status !== 'closed') return step?.status === 'closed' ? 'done' : 'open'
  const { reason } = (turn.end?.data ?? {}) as { reason?: { kind?: unknown } | null }
  return reason?.kind === 'aborted' ? 'cancelled' : 'done'
}

/**
 * Folds our chains into lines of the transcript. Each stands right behind the harness's own row of its first attempt,
 * and so before what the model answered: behind that it would take the Branch action away.
 */
export const lineDefinition = {
  kind: NODE_KIND,
  target: 'chat',
  match: chainPlace,
  start: (_context: NodeContext, { event }: Match, reader: Reader): Chain | undefined => evolveChain(undefined, event, modelOf(reader, event)),
  update: (context: NodeContext, { event }: Match): Chain | undefined => evolveChain(context.state, event),
  buildViewNode(context: NodeContext) {
    const chain = context.state
    if (chain === undefined) return null
    const location = context.start?.location ?? context.matches[0]?.location ?? { kind: 'unresolved' }
    const data: LineData = { chain, turn: outcomeOf(location) }
    return {
      key: context.key, kind: NODE_KIND, id: context.id, target: 'chat', anchorSeq: chain.seq + 0.01, location, visibility: 'visible', data,
    }
  },
}
