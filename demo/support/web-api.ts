/**
 * A small client of the running `dsh web`, speaking to it as its own page does:
 * requests go up over `POST /api/...` with an Origin of the same authority, and
 * two WebSockets bring events down. Nothing may be sent on those sockets.
 *
 * Three kinds of calls share one envelope:
 * - host methods, `/api/session.create` and the like, with a plain payload;
 * - remote services, `/api/commands/execute` and the like, with `{args: {...}}`;
 * - channels a plugin opens with `ctx.connection.rpc.handle('/name', ...)`, at `/name/<endpoint>`.
 */
import { randomUUID } from 'node:crypto'

/** An event of a session log as the host shows it to a page. */
export interface SessionEvent { type: string; seq: number; time: number; data: any }

/** One message of either downlink, for instance `session/event`, `session/projection`, `host/session-status`. */
export interface Frame { type: string; sessionId?: string; [field: string]: any }

/** A model of a provider. */
export interface ModelRoute { provider: string; model: string; reasoningEffort?: string }

/** What the page knows about a session's models. */
export interface SessionModels { current: ModelRoute; routable: boolean; groups: any[]; failures: any[] }

/** Values of all projections at one point of the log. */
export interface Projections { asOfSeq: number; values: Record<string, any> }

/** A page of a session's history, newest page first. */
export interface HistoryPage { events: { event: SessionEvent; view?: unknown }[]; hasMore: boolean; projections?: Projections }

/** What a slash command came to; undefined when there is no such command. */
export type CommandOutcome = { commandId: string; result: { kind: 'success' | 'error'; text?: string } } | undefined

/** A call that the host answered with an error. */
export class WebApiError extends Error {
  code: string
  details: unknown
  constructor(method: string, error: { code: string; message: string; details?: unknown }) {
    super(`${method}: ${error.code}: ${error.message}`)
    this.code = error.code
    this.details = error.details
  }
}

/** The client; make one with {@link connectWeb}. */
export interface WebApi {
  /** A host method, for instance `call('host.describe', {})`. */
  call<T = any>(method: string, payload: unknown): Promise<T>
  /** A remote service, for instance `remote('pluginInventory', 'list', {})`. */
  remote<T = any>(service: string, method: string, args: Record<string, unknown>): Promise<T>
  /** A plugin's own channel, for instance `channel('/quota', 'state', {})`. */
  channel<T = any>(channel: string, endpoint: string, payload: unknown): Promise<T>

  /** Creates a session with its idle agent and returns its id. */
  createSession(options?: { cwd?: string; agentPreset?: string }): Promise<string>
  sessions(): Promise<any[]>
  /** Sends a message; resolves when it is accepted, not when it is answered. */
  prompt(sessionId: string, text: string, mode?: 'queue' | 'steer'): Promise<void>
  /** Runs a slash command line such as `/compact` and resolves when it has settled. */
  executeCommand(sessionId: string, line: string): Promise<CommandOutcome>
  commands(sessionId: string): Promise<{ name: string; description: string }[]>
  /** Stops the active turn. */
  cancel(sessionId: string): Promise<void>
  models(sessionId: string): Promise<SessionModels>
  /** Picks a model for the session. The pinned host also makes it the default of new sessions. */
  selectModel(sessionId: string, route: ModelRoute): Promise<void>

  history(sessionId: string, beforeSeq?: number): Promise<HistoryPage>
  /** All events of a session, oldest first. */
  events(sessionId: string): Promise<SessionEvent[]>
  projections(sessionId: string): Promise<Projections>

  /** All frames of both downlinks since the connection, in order of arrival. */
  frames: readonly Frame[]
  /** Resolves with the first frame that matches, whether it is here already or still to come. */
  frame(matches: (frame: Frame) => boolean, from?: number): Promise<Frame>
  /** Resolves with the first live event of the session that matches. */
  event(sessionId: string, matches: (event: SessionEvent) => boolean): Promise<SessionEvent>
  /** Prompts, waits for the end of the turn that answers, and returns its `turn/end`. */
  ask(sessionId: string, text: string): Promise<SessionEvent>
  close(): void
}

interface Envelope { rpcId: string; result: { ok: true; value?: unknown } | { ok: false; error: { code: string; message: string } } }

async function post(url: URL, method: string, payload: unknown): Promise<unknown> {
  const rpcId = randomUUID()
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url.origin },
    body: JSON.stringify({ type: 'client-request', rpcId, method, payload }),
  })
  if (!response.ok) throw new Error(`${url.pathname}: HTTP ${response.status}: ${await response.text()}`)
  const { result } = await response.json() as Envelope
  if (!result.ok) throw new WebApiError(method, result.error)
  return result.value
}

/** The frames of both downlinks and those who wait for one. */
class Downlinks {
  frames: Frame[] = []
  #waiters = new Set<() => void>()
  #sockets: WebSocket[] = []
  #closed = false

  /** Opens one downlink and resolves once it is live. */
  open(origin: string, path: string): Promise<void> {
    const url = new URL(path, origin)
    url.protocol = 'ws:'
    const socket = new WebSocket(url, { headers: { origin } })
    this.#sockets.push(socket)
    socket.addEventListener('message', ({ data }) => {
      this.frames.push((JSON.parse(data as string) as { payload: Frame }).payload)
      this.#wake()
    })
    socket.addEventListener('close', () => {
      this.#closed = true
      this.#wake()
    })
    return new Promise((resolve, reject) => {
      socket.addEventListener('open', () => { resolve() })
      socket.addEventListener('error', () => { reject(new Error(`no downlink at ${url.href}`)) })
    })
  }

  wait(matches: (frame: Frame) => boolean, from: number): Promise<Frame> {
    return new Promise((resolve, reject) => {
      let next = from
      const look = (): void => {
        for (; next < this.frames.length; next++) {
          const frame = this.frames[next]
          if (frame === undefined || !matches(frame)) continue
          this.#waiters.delete(look)
          resolve(frame)
          return
        }
        if (!this.#closed) return
        this.#waiters.delete(look)
        reject(new Error('the host closed the downlink before a matching frame came'))
      }
      this.#waiters.add(look)
      look()
    })
  }

  close(): void {
    for (const socket of this.#sockets) socket.close()
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter()
  }
}

type Calls = Pick<WebApi, 'call' | 'remote' | 'channel'>

function callsOf(base: string): Calls {
  return {
    call: async (method, payload) => await post(new URL(`/api/${method}`, base), method, payload) as any,
    remote: async (service, method, args) => {
      const endpoint = `${service}/${method}`
      return await post(new URL(`/api/${endpoint}`, base), endpoint, { args }) as any
    },
    channel: async (channel, endpoint, payload) => await post(new URL(`${channel}/${endpoint}`, base), endpoint, payload) as any,
  }
}

type Reads = Pick<WebApi, 'sessions' | 'commands' | 'models' | 'history' | 'events' | 'projections'>

function readsOf({ call, remote }: Calls): Reads {
  const history: WebApi['history'] = (sessionId, beforeSeq) =>
    call('session.history', { sessionId, ...(beforeSeq === undefined ? {} : { beforeSeq }) })
  return {
    history,
    sessions: async () => (await call<{ items: any[] }>('session.list', {})).items,
    commands: sessionId => remote('commands', 'list', { agentId: sessionId }),
    models: sessionId => call('session.models', { sessionId }),
    events: async sessionId => {
      let page = await history(sessionId)
      let events = page.events.map(entry => entry.event)
      while (page.hasMore) {
        page = await history(sessionId, events[0]?.seq ?? 0)
        events = [...page.events.map(entry => entry.event), ...events]
      }
      return events
    },
    projections: async sessionId => (await history(sessionId)).projections ?? { asOfSeq: -1, values: {} },
  }
}

type Writes = Pick<WebApi, 'createSession' | 'prompt' | 'executeCommand' | 'cancel' | 'selectModel'>

function writesOf({ call, remote }: Calls): Writes {
  return {
    createSession: async (options = {}) => (await call<{ sessionId: string }>('session.create', options)).sessionId,
    // A line with a leading slash is not special here: the page tells commands from messages, and so must the caller.
    prompt: async (sessionId, text, mode = 'queue') => {
      await call('session.prompt', { sessionId, mode, content: [{ type: 'text', text }] })
    },
    executeCommand: (sessionId, line) => remote('commands', 'execute', { agentId: sessionId, line, images: [] }),
    cancel: async sessionId => { await call('session.cancel', { sessionId }) },
    selectModel: async (sessionId, route) => { await call('session.selectModel', { sessionId, ...route }) },
  }
}

/**
 * Connects to a running web host and opens both downlinks.
 * @param url - what `startWeb` returned.
 */
export async function connectWeb(url: string): Promise<WebApi> {
  const base = new URL(url).origin
  const downlinks = new Downlinks()
  await Promise.all([downlinks.open(base, '/api/events.mux'), downlinks.open(base, '/api/events.host')])
  const calls = callsOf(base)
  const writes = writesOf(calls)
  const eventFrom = async (sessionId: string, matches: (event: SessionEvent) => boolean, from: number): Promise<SessionEvent> => {
    const frame = await downlinks.wait(
      ({ type, sessionId: id, event }) => type === 'session/event' && id === sessionId && matches(event as SessionEvent), from)
    return frame['event'] as SessionEvent
  }
  return {
    ...calls,
    ...readsOf(calls),
    ...writes,
    frames: downlinks.frames,
    frame: (matches, from = 0) => downlinks.wait(matches, from),
    event: (sessionId, matches) => eventFrom(sessionId, matches, 0),
    ask: async (sessionId, text) => {
      const from = downlinks.frames.length
      await writes.prompt(sessionId, text)
      // By its number, so that the end of a turn that was still open does not count.
      const begun = await eventFrom(sessionId, event => event.type === 'turn/start', from)
      return eventFrom(sessionId, event => event.type === 'turn/end' && event.data.turn === begun.data.turn, from)
    },
    close: () => { downlinks.close() },
  }
}
