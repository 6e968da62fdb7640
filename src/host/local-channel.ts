/**
 * The channel between the settings page and the host, answered to a browser on the host's own machine only.
 *
 * Up to 0.1.1 a host keeps such a channel to itself when it is told so; from 0.2.0 on it answers every browser that it
 * knows. So the channel is a route of our own, on every host: the host's own check comes first, then ours.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from '@deepseek-ai/cordis'
import { z } from 'zod'

/** What a call of the page comes to. */
export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: { readonly code: 'bad-request'; readonly message: string; readonly details: { readonly issues: unknown[] } } }

/**
 * Answers a call.
 *
 * @param endpoint - what is called.
 * @param payload - with what; any JSON.
 * @param signal - fires when the page went away.
 */
export type Handler = (endpoint: string, payload: unknown, signal: AbortSignal) => Promise<Answer>

/** Largest request that is read, in bytes; ours are far smaller. */
const MAX_BYTES = 64 * 1024
const LOCAL_ONLY = 'forbidden: only a browser on the machine of the host is answered here'

const Envelope = z.object({ rpcId: z.string().max(200), method: z.string().max(200), payload: z.unknown() })

/** As much of a request as says where it comes from. */
export interface Origin {
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

const isLocalAddress = (address: string): boolean => address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address)
const isLocalName = (name: string): boolean => name === 'localhost' || name === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(name)

function urlOf(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/**
 * Whether a request is of a page that this host served to a browser on its own machine. The address alone does not say
 * it: a proxy is local, too, and so is a browser that a page of somebody else sends here.
 *
 * @param request - the request.
 */
export function isLocal({ headers, socket }: Origin): boolean {
  const host = headers.host === undefined ? undefined : urlOf(`http://${headers.host}`)
  if (host === undefined || !isLocalName(host.hostname) || !isLocalAddress(socket.remoteAddress ?? '')) return false
  if (headers['sec-fetch-site'] === 'cross-site') return false
  return headers.origin === undefined || urlOf(headers.origin)?.host === host.host
}

/** The parts of the host's connection and web server that are used. */
interface HostConnection {
  /** From 0.1.3 on: whether the browser is one that the host let in. */
  requestRejection?(request: IncomingMessage): 401 | 403 | undefined
}
interface WebServer {
  register(route: { kind: 'prefix'; path: string; handler: (request: IncomingMessage, response: ServerResponse) => Promise<void> }): () => void
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > MAX_BYTES) return undefined
    parts.push(part)
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'))
  } catch {
    return undefined
  }
}

function end(response: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' })
  response.end(text)
}

async function answer(path: string, handle: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const endpoint = new URL(request.url ?? '/', 'http://host').pathname.slice(path.length + 1)
  const isJson = /^application\/json\b/i.test(request.headers['content-type'] ?? '')
  // A form of another site cannot send JSON.
  if (request.method !== 'POST' || !isJson) return end(response, 404, 'not found')
  const envelope = Envelope.safeParse(await readBody(request))
  if (!envelope.success || envelope.data.method !== endpoint) return end(response, 400, 'bad request')
  const gone = new AbortController()
  response.on('close', () => { gone.abort() })
  const result = await handle(endpoint, envelope.data.payload, gone.signal)
  if (!gone.signal.aborted) end(response, 200, JSON.stringify({ type: 'server-response', rpcId: envelope.data.rpcId, result }), 'application/json')
}

/**
 * Open a channel, once the host has a web server and lets browsers in.
 *
 * @param ctx - the plugin's context.
 * @param path - name of the channel, with its slash.
 * @param opened - called when it opens, and again after the host's server was replaced.
 * @returns what answers, given by `opened`.
 */
export function openLocalChannel(ctx: Context, path: string, opened: (inner: Context) => Handler): void {
  ctx.inject(['connection', 'webServer'] as never[], (inner: Context) => {
    const handle = opened(inner)
    const connection = inner.get('connection' as never) as unknown as HostConnection
    const server = inner.get('webServer' as never) as unknown as WebServer
    const handler = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const rejection = connection.requestRejection?.(request)
      if (rejection !== undefined) return end(response, rejection, rejection === 401 ? 'unauthorized' : 'forbidden')
      if (!isLocal(request)) return end(response, 403, LOCAL_ONLY)
      await answer(path, handle, request, response)
    }
    inner.effect(() => server.register({ kind: 'prefix', path, handler }), `llm-quota-retry: ${path}`)
  })
}
