/**
 * What differs between releases of the harness, in one place. Capabilities are looked for, versions never.
 */
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

/**
 * Whether an event is a piece of an answer on its way: the provider took the request.
 *
 * @param event - an event of a session.
 */
export function isStreamed(event: unknown): boolean {
  const { type, data } = event as { type?: unknown; data?: { chunk?: { type?: unknown } } }
  const chunk = data?.chunk?.type
  // Only what the model wrote: a refused request may still report a usage of zero.
  return type === 'assistant/chunk' && typeof chunk === 'string' && chunk.endsWith('-delta')
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
 * The live agent that drives a session.
 *
 * @param ctx - the plugin's context.
 * @param session - the session.
 */
export function agentOf(ctx: Context, session: Session): Agent | undefined {
  return ctx.get('agents')?.get(session.id)
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

/**
 * Keep a listener of a waterfall innermost for as long as the plugin lives.
 *
 * The first that registers is outermost. Rows activate concurrently and may reload at any time, so the order of the
 * bundle decides nothing: whenever anybody else registers for the same event, ours is registered anew behind it.
 *
 * @param ctx - the plugin's context.
 * @param register - registers the listener and returns its disposer.
 * @param event - name of the event.
 */
export function keepInnermost(ctx: Context, event: string, register: () => () => unknown): void {
  let dispose = register()
  let ours = false
  let due = false
  let gone = false
  const again = (): void => {
    due = false
    if (gone) return
    ours = true
    try {
      dispose()
      dispose = register()
    } finally {
      ours = false
    }
  }
  const watch = (name: string): void => {
    if (name !== event || ours || due) return
    due = true
    // The other listener is stored after this look at its registration.
    queueMicrotask(again)
  }
  ctx.on('internal/listener' as never, watch as never, { global: true })
  ctx.effect(() => () => {
    gone = true
    dispose()
  }, `llm-quota-retry: ${event}`)
}
