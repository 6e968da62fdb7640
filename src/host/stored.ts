/**
 * Sessions that nobody has opened, on every release of the harness: which there are, what they hold, and how one is
 * opened. What cannot be made out is unknown and never absent: what is absent is given up.
 */
import { randomUUID } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import { isRecord } from '../events/json.ts'
import { foldSession } from '../reducers/session.ts'

/** The ids of all stored sessions. */
export interface StoredSessions {
  readonly ids: ReadonlySet<string>
  /** Whether every entry was understood. An id that is missing otherwise may be stored all the same. */
  readonly complete: boolean
}

/** A stored session that nobody has opened. */
export interface StoredLog {
  readonly header: unknown
  readonly events: readonly unknown[]
  /** Whether it is a delegated one. */
  readonly child: boolean
}

/** The host's storage of sessions. Up to 0.1.1 it reads by id, later through handles. */
interface Persistence {
  list?(): Promise<unknown>
  readFrom?(id: string, fromSeq: number): Promise<{ readonly meta?: unknown; readonly events?: unknown }>
  open?(id: string, access: 'read'): Promise<ReadHandle>
}

interface ReadHandle {
  readonly header?: unknown
  read?(): Promise<{ readonly events?: unknown }>
  close?(): Promise<void>
}

const persistenceOf = (ctx: Context): Persistence | undefined => ctx.get('sessionPersistence' as never) as Persistence | undefined

/** Up to 0.1.1 an entry is the head of a log, later it holds it. */
function idOf(entry: unknown): string | undefined {
  if (!isRecord(entry)) return undefined
  const id = entry['id'] ?? (isRecord(entry['header']) ? entry['header']['id'] : undefined)
  return typeof id === 'string' ? id : undefined
}

/**
 * The ids of all stored sessions. The host reads the head of every log for it.
 *
 * @param ctx - the plugin's context.
 * @returns `undefined` on a host that stores none, or does not say which.
 * @throws what the host's storage throws.
 */
export async function storedSessions(ctx: Context): Promise<StoredSessions | undefined> {
  const list: unknown = await persistenceOf(ctx)?.list?.()
  if (!Array.isArray(list)) return undefined
  const ids = list.map(idOf)
  return { ids: new Set(ids.filter(id => id !== undefined)), complete: !ids.includes(undefined) }
}

/**
 * Read a stored session without opening it.
 *
 * @param ctx - the plugin's context.
 * @param id - the session's id.
 * @param known - the ids of all stored sessions.
 * @returns its log; `absent` when it was deleted; `undefined` where this host does not tell.
 * @throws what the host's storage throws for a log that cannot be read.
 */
export async function readStoredLog(ctx: Context, id: string, known: StoredSessions | undefined): Promise<StoredLog | 'absent' | undefined> {
  const persistence = persistenceOf(ctx)
  if (persistence === undefined || known === undefined) return undefined
  if (!known.ids.has(id)) return known.complete ? 'absent' : undefined
  const { header, events } = await read(persistence, id)
  if (!isRecord(header) || !Array.isArray(events)) return undefined
  return { header: { type: 'session', ...header }, events, child: header['origin'] === 'subagent' }
}

async function read(persistence: Persistence, id: string): Promise<{ readonly header?: unknown; readonly events?: unknown }> {
  if (persistence.readFrom !== undefined) {
    const { meta, events } = await persistence.readFrom(id, 0)
    return { header: meta, events }
  }
  const handle = await persistence.open?.(id, 'read')
  try {
    return { header: handle?.header, events: (await handle?.read?.())?.events }
  } finally {
    await handle?.close?.()
  }
}

/** From 0.1.2 on a stored session is opened by the controller, before by the API proxy; both compose it as a click does. */
interface SessionOpeners {
  readonly sessionController?: { resolveAgent?(id: string): Promise<{ readonly agent?: Agent; readonly error?: unknown } | undefined> }
  readonly apiProxy?: { readonly sessions?: { models?(request: { rpcId: string; payload: { sessionId: string } }): Promise<unknown> } }
}

const optional = (ctx: Context, name: string): Record<string, unknown> => {
  const service: unknown = ctx.get(name as never)
  return service === undefined ? {} : { [name]: service }
}

/**
 * Open a stored session the way a person's click does: with its preset, tools and model selection.
 *
 * @param ctx - the plugin's context.
 * @param id - the session's id.
 * @returns its agent, or `undefined` when this host has no way to open one.
 * @throws Error while the session cannot be opened, as when another process has it; later it may.
 */
export async function openSession(ctx: Context, id: string): Promise<Agent | undefined> {
  const live = (): Agent | undefined => ctx.get('agents')?.get(id as Agent['id'])
  if (live() !== undefined) return live()
  const { apiProxy, sessionController }: SessionOpeners = { ...optional(ctx, 'sessionController'), ...optional(ctx, 'apiProxy') }
  if (sessionController?.resolveAgent !== undefined) {
    const { agent, error } = await sessionController.resolveAgent(id) ?? {}
    if (error !== undefined) throw new Error(refusalOf(error))
    return agent ?? live()
  }
  // Reading its models is the smallest thing that opens a session there.
  if (apiProxy?.sessions?.models !== undefined) await apiProxy.sessions.models({ rpcId: randomUUID(), payload: { sessionId: id } })
  else await resumeInProcess(ctx, id)
  return live()
}

/** Why the controller did not open a session: it returns its errors. */
function refusalOf(error: unknown): string {
  const { code, message } = isRecord(error) ? error : {}
  return [code, message].filter(part => typeof part === 'string').join(': ') || 'the host gave no reason'
}

/** A host without presets and pickers: the session's last route is all there is to restore. */
async function resumeInProcess(ctx: Context, id: string): Promise<void> {
  const stored = await readStoredLog(ctx, id, await storedSessions(ctx))
  if (stored === undefined || stored === 'absent') return
  const { route } = foldSession([stored.header, ...stored.events]).step
  await ctx.get('agents')?.resume({ resumeSessionId: id as Session['id'], ...route === null ? {} : { agentOptions: { ...route } } })
}
