/**
 * What differs between releases of the harness, in one place. Capabilities are looked for, versions never.
 */
import { randomUUID } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import type { Route } from '../events/route.ts'
import type { ProjectionUnit } from '../projections/unit.ts'

/** Up to 0.1.1 a session's log is read as `events`, later through `snapshotEvents()`. */
interface ReadableSession {
  readonly events?: readonly unknown[]
  snapshotEvents?(): readonly unknown[]
}

/**
 * The log of a live session.
 *
 * @param session - the session.
 * @returns its events in order; reading them copies the log, so this is for the first look only.
 */
export function readLog(session: Session): readonly unknown[] {
  const readable = session as unknown as ReadableSession
  return readable.snapshotEvents?.() ?? readable.events ?? []
}

type Chunk = { readonly type?: unknown; readonly text?: unknown } | null | undefined

/** Only what the model wrote: a refused request may still report a usage of zero. */
function writtenIn(chunk: Chunk): number {
  if (typeof chunk?.type !== 'string' || !chunk.type.endsWith('-delta')) return 0
  if (chunk.type !== 'text-delta') return Number.POSITIVE_INFINITY
  return typeof chunk.text === 'string' ? chunk.text.length : 0
}

/**
 * How much an event holds of an answer on its way, which shows that the provider took the request. Up to 0.1.2 the log holds them.
 *
 * @param event - an event of a session.
 * @returns UTF-16 units of text; `Infinity` for what no refusal holds (reasoning, a tool call), 0 for every other event.
 */
export function streamedText(event: unknown): number {
  const { type, data } = event as { type?: unknown; data?: { chunk?: Chunk } }
  return type === 'assistant/chunk' ? writtenIn(data?.chunk) : 0
}

/** A piece of an answer on its way, as hosts from 0.1.3 on tell of it: their logs hold answers as a whole. */
interface StreamFrame {
  readonly agent?: { readonly session?: Session }
  readonly frame?: { readonly type?: unknown; readonly chunk?: Chunk }
}

/**
 * Be told of each piece of an answer on hosts whose logs do not hold them.
 *
 * @param ctx - the plugin's context.
 * @param told - given the session, and how much was written, as {@link streamedText} says it.
 */
export function onStreamed(ctx: Context, told: (session: Session, written: number) => void): void {
  ctx.on('agent/assistant-stream' as never, (({ agent, frame }: StreamFrame) => {
    if (agent?.session !== undefined && frame?.type === 'chunk') told(agent.session, writtenIn(frame.chunk))
  }) as never)
}

/**
 * How many of a session's first events are its parent's.
 *
 * @param session - a live session; up to 0.1.1 the head of a fork says it, later the session.
 */
export function inheritedEvents(session: Session): number {
  const { header, inheritedEventCount } = session as unknown as { header: { seedLength?: number }; inheritedEventCount?: number }
  return header.seedLength ?? inheritedEventCount ?? 0
}

/** The part of the projection registry that every release has. */
interface AnyProjectionRegistry {
  register(unit: ProjectionUnit): () => void
}

/**
 * Register our projection once the registry is there. Headless assemblies have none, and do without.
 *
 * @param ctx - the plugin's context.
 * @param unit - the unit, in the forms of every registry at once.
 */
export function registerProjection(ctx: Context, unit: ProjectionUnit): void {
  ctx.inject(['sessionProjections'], (inner: Context) => {
    const registry = inner.get('sessionProjections') as unknown as AnyProjectionRegistry
    registry.register(unit)
  })
}

/**
 * The live session of an id, when it is loaded.
 *
 * @param ctx - the plugin's context.
 * @param id - the session's id.
 */
export function liveSession(ctx: Context, id: string): Session | undefined {
  return ctx.get('sessions')?.get(id as Session['id'])
}

/**
 * Every live session.
 *
 * @param ctx - the plugin's context.
 */
export function liveSessions(ctx: Context): readonly Session[] {
  return ctx.get('sessions')?.list() ?? []
}

/**
 * The sessions that were used last.
 *
 * @param sessions - sessions.
 * @param most - how many of them.
 */
export function lastUsed(sessions: readonly Session[], most: number): Session[] {
  const usedAt = (session: Session): number => (session as unknown as { readonly events?: readonly { readonly time?: number }[] }).events?.at(-1)?.time ?? 0
  if (sessions.length <= most) return [...sessions]
  return sessions.map(session => ({ session, at: usedAt(session) })).sort((a, b) => b.at - a.at).slice(0, most).map(({ session }) => session)
}

/**
 * The live agent that drives a session.
 *
 * @param ctx - the plugin's context.
 * @param session - the session.
 */
export function agentOf(ctx: Context, session: Session): Agent | undefined {
  return ctx.get('agents')?.get(session.id)
}

/**
 * Sessions that the person put away.
 *
 * @param ctx - the plugin's context.
 */
export function archivedSessions(ctx: Context): ReadonlySet<string> {
  const registry = ctx.get('workspaceRegistry' as never) as { readonly archivedSessionIds?: readonly string[] } | undefined
  try {
    return new Set(registry?.archivedSessionIds ?? [])
  } catch {
    // The registry is still loading what it knows.
    return new Set()
  }
}

/**
 * Be told whenever the person puts sessions away, or takes them back.
 *
 * @param ctx - the plugin's context.
 * @param told - given the ids of all that are put away.
 */
export function onArchived(ctx: Context, told: (ids: ReadonlySet<string>) => void): void {
  ctx.on('domain/changed' as never, ((change: { domain?: unknown; value?: { archivedSessionIds?: unknown } } | undefined) => {
    // The registry itself learns of it a moment later.
    const ids = change?.domain === 'workspace' ? change.value?.archivedSessionIds : undefined
    if (Array.isArray(ids)) told(new Set(ids.map(String)))
  }) as never)
}

/** As much of the host's storage as tells where it is. */
interface RoutedStorage {
  readonly config?: { readonly backend?: string; readonly routes?: Readonly<Record<string, string>> }
}

/**
 * The directory in which the host's storage keeps the file of a domain.
 *
 * @param ctx - a context that has storage domains.
 * @param domain - name of the domain.
 * @returns `undefined` where the storage is no directory.
 */
export function storageDirectory(ctx: Context, domain: string): string | undefined {
  const { config } = (ctx.get('storageDomain' as never) ?? {}) as RoutedStorage
  const backend = config?.routes?.[domain] ?? config?.backend ?? 'json'
  const { root } = (ctx.get(`storage.backend.${backend}` as never) ?? {}) as { root?: unknown }
  return typeof root === 'string' ? root : undefined
}

/** Up to 0.1.1 a session's pick is known to the API proxy alone. */
interface ModelsReader {
  readonly sessions?: { models?(request: { rpcId: string; payload: { sessionId: string } }): Promise<{ readonly result?: { readonly value?: { readonly current?: unknown } } }> }
}

/**
 * The model that a live session's picker shows.
 *
 * @param ctx - the plugin's context.
 * @param session - the session.
 * @returns `undefined` on a host without a picker.
 */
export async function shownModel(ctx: Context, session: Session): Promise<Route & { readonly reasoningEffort?: string } | undefined> {
  const proxy = ctx.get('apiProxy' as never) as ModelsReader | undefined
  const current = (await proxy?.sessions?.models?.({ rpcId: randomUUID(), payload: { sessionId: session.id } }))?.result?.value?.current
  const { provider, model, reasoningEffort } = (current ?? {}) as { provider?: unknown; model?: unknown; reasoningEffort?: unknown }
  if (typeof provider !== 'string' || typeof model !== 'string') return undefined
  return { provider, model, ...typeof reasoningEffort === 'string' ? { reasoningEffort } : {} }
}

/**
 * Be told whenever the person may have picked a model in some session. Up to 0.1.1 nothing says so but the deployment's
 * default, which every pick rewrites; later hosts log it, and write the setting for a default alone.
 *
 * @param ctx - the plugin's context.
 * @param told - given the session, where that is known.
 */
export function onPick(ctx: Context, told: (session?: Session) => void): void {
  // The second is its name from 0.1.7 on.
  for (const name of ['settings/updated', 'settings/document-updated']) ctx.on(name as never, (() => { told() }) as never)
  ctx.on('session/event', (session: Session, event: unknown) => {
    if ((event as { type?: unknown }).type === 'model/selection') told(session)
  })
}

/** From 0.1.2 on the picker can be told what the next request uses, without touching the deployment's default. */
interface SessionController {
  readonly agents?: { selectForNextRequest?(agent: Agent, selection: Route & { reasoningEffort?: string | undefined }): unknown }
}

/**
 * Show the route in use in the picker, on hosts that let us. Up to 0.1.1 the logged header of the request does it.
 *
 * @param agent - the session's agent, when it is live.
 * @param ctx - the plugin's context.
 * @param route - the route.
 */
export function showSelection(agent: Agent | undefined, ctx: Context, route: Route & { reasoningEffort?: string | undefined }): void {
  const controller = ctx.get('sessionController' as never) as SessionController | undefined
  const select = controller?.agents?.selectForNextRequest
  if (agent === undefined || select === undefined) return
  const { provider, model, reasoningEffort } = route
  try {
    select.call(controller?.agents, agent, { provider, model, ...reasoningEffort === undefined ? {} : { reasoningEffort } })
  } catch {
    // The picker shows the old route then; the request goes to the new one all the same.
  }
}

/** On listeners that are kept innermost, whichever plugin does it: two of them would drive each other on for ever. */
const INNERMOST = Symbol.for('dsh.listener.innermost')

/**
 * Keep a listener of a waterfall innermost for as long as the plugin lives.
 *
 * The first that registers is outermost. Rows activate concurrently and may reload at any time, so the order of the
 * bundle decides nothing: whenever anybody else registers for the same event, ours is registered anew behind it. Of
 * several that are kept so, the last that registered is innermost.
 *
 * @param ctx - the plugin's context.
 * @param event - name of the event.
 * @param listener - the listener.
 */
export function keepInnermost(ctx: Context, event: string, listener: (...args: never[]) => unknown): void {
  const marked = Object.assign((...args: never[]) => listener(...args), { [INNERMOST]: true })
  const register = (): (() => unknown) => ctx.on(event as never, marked as never)
  let dispose = register()
  let due = false
  let gone = false
  const again = (): void => {
    due = false
    if (gone) return
    dispose()
    dispose = register()
  }
  const watch = (name: string, other: object): void => {
    if (name !== event || INNERMOST in other || due) return
    due = true
    // The other listener is stored after this look at its registration. The plugin may be gone by then, and whoever
    // comes with it registers anew.
    queueMicrotask(() => { try { again() } catch { gone = true } })
  }
  ctx.on('internal/listener' as never, watch as never, { global: true })
  ctx.effect(() => () => {
    gone = true
    dispose()
  }, `llm-quota-retry: ${event}`)
}
