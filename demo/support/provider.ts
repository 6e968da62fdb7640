/**
 * A scriptable LLM provider on loopback: OpenAI chat completions, streamed.
 * It records what it was asked, and a script decides what it answers.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTick } from 'node:timers/promises'
import { isBlockedPort } from './ports.ts'

export { rateLimitedFor, refusals, usageLimitUntil } from './refusals.ts'

/** One tool call of an answer. */
export interface ToolCall {
  name: string
  /** Arguments as an object; sent as the JSON text the protocol wants. */
  args: Record<string, unknown>
}

/** A normal streamed answer. */
export interface Reply { kind: 'answer'; text: string; toolCalls?: readonly ToolCall[] }
/** A refusal before any token: a status and a JSON (or literal) body. */
export interface Refuse { kind: 'refuse'; status: number; body: unknown; headers?: Record<string, string> }
/** No answer at all; the connection stays open until the client gives up. */
export interface Hang { kind: 'hang' }
/**
 * Bytes as given, for broken streams and errors inside a stream. `cut` ends the
 * connection without ending the body.
 */
export interface Raw { kind: 'raw'; status?: number; headers?: Record<string, string>; chunks: readonly string[]; cut?: boolean }

/** What a script can answer. */
export type Answer = Reply | Refuse | Hang | Raw

/** What a request is for. Title and compaction calls are the host's own, not the agent's. */
export type RequestKind = 'agent' | 'title' | 'compaction'

/** The part of a chat completions body that tests look at; the rest is kept as sent. */
export interface ChatBody {
  model?: string
  messages?: readonly { role: string; content?: unknown }[]
  tools?: readonly unknown[]
  [key: string]: unknown
}

/** One recorded request. */
export interface RecordedRequest {
  kind: RequestKind
  /** Wall clock of arrival, milliseconds. */
  time: number
  path: string
  model: string
  /** Whether an Authorization header came along. The value is not kept. */
  authorized: boolean
  body: ChatBody
  /** Settles when the exchange is over: `aborted` means the client hung up first. */
  closed: Promise<'answered' | 'aborted'>
}

/** Decides the answer; `index` counts the earlier requests of the same kind. */
export type Answerer = (request: RecordedRequest, index: number) => Answer | Promise<Answer>

/** Options of {@link startProvider}. */
export interface ProviderOptions {
  /** Name for messages of this support code; the host knows the provider by its settings key. */
  name: string
  /** Answers agent requests. A constant answer may be given instead of a function. */
  answer: Answer | Answerer
  /** Answers title and compaction calls; by default a fixed short text, so that they never disturb a script. */
  auxiliary?: Answer | Answerer
}

/** A running provider. */
export interface Provider {
  name: string
  /** Base URL for the settings, ending in `/v1`. */
  url: string
  port: number
  /** Everything received so far, in order. */
  requests: readonly RecordedRequest[]
  /** The agent's requests only. */
  agentRequests(): RecordedRequest[]
  /** Resolves with the agent request of this index, as soon as it has arrived. */
  agentRequest(index: number): Promise<RecordedRequest>
  /** Replaces the script for the agent requests that arrive from now on. */
  setAnswer(answer: Answer | Answerer): void
  close(): Promise<void>
}

const TITLE_PROMPT = 'Create a concise title'
const COMPACTION_PROMPT = 'You are now acting as a compaction engine'

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '')
}

/** Tells what a request is for by the fixed prompts of the pinned host. */
function kindOf(body: ChatBody): RequestKind {
  const messages = body.messages ?? []
  if (textOf(messages[0]?.content).startsWith(TITLE_PROMPT)) return 'title'
  if (textOf(messages.at(-1)?.content).includes(COMPACTION_PROMPT)) return 'compaction'
  return 'agent'
}

/** One server-sent event holding a completion chunk. */
export function sseChunk(delta: Record<string, unknown>, finish: string | null = null, extra: Record<string, unknown> = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'loopback', choices, ...extra })}\n\n`
}

/** The event that ends a completion stream. */
export const sseDone = 'data: [DONE]\n\n'

// Call ids must differ over a whole session, also between providers.
let lastCall = 0

function replyChunks(reply: Reply): string[] {
  const chunks = [sseChunk({ role: 'assistant', content: '' })]
  if (reply.text !== '') chunks.push(sseChunk({ content: reply.text }))
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    const fn = { name: call.name, arguments: JSON.stringify(call.args) }
    chunks.push(sseChunk({ tool_calls: [{ index, id: `call_${++lastCall}`, type: 'function', function: fn }] }))
  }
  const finish = reply.toolCalls === undefined ? 'stop' : 'tool_calls'
  chunks.push(sseChunk({}, finish, { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }), sseDone)
  return chunks
}

async function writeStream(res: ServerResponse, raw: Omit<Raw, 'kind'>): Promise<void> {
  res.writeHead(raw.status ?? 200, { 'content-type': 'text/event-stream', ...raw.headers })
  for (const chunk of raw.chunks) {
    res.write(chunk)
    // A turn of the loop between chunks lets the client see them one by one.
    await nextTick()
  }
  if (raw.cut === true) res.destroy()
  else res.end()
}

async function send(res: ServerResponse, answer: Answer): Promise<void> {
  switch (answer.kind) {
    case 'answer': return writeStream(res, { chunks: replyChunks(answer) })
    case 'raw': return writeStream(res, answer)
    case 'hang': return
    case 'refuse': {
      const literal = typeof answer.body === 'string'
      res.writeHead(answer.status, { 'content-type': literal ? 'text/plain' : 'application/json', ...answer.headers })
      res.end(literal ? answer.body : JSON.stringify(answer.body))
    }
  }
}

function record(req: IncomingMessage, res: ServerResponse, text: string): RecordedRequest {
  const body = JSON.parse(text === '' ? '{}' : text) as ChatBody
  return {
    kind: kindOf(body),
    time: Date.now(),
    path: req.url ?? '/',
    model: body.model ?? '',
    authorized: req.headers.authorization !== undefined,
    body,
    closed: new Promise(resolve => {
      res.once('close', () => { resolve(res.writableFinished ? 'answered' : 'aborted') })
    }),
  }
}

async function listen(server: Server): Promise<number> {
  for (;;) {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as AddressInfo
    if (!isBlockedPort(port)) return port
    await new Promise<void>(resolve => { server.close(() => { resolve() }) })
  }
}

const asAnswerer = (answer: Answer | Answerer): Answerer => typeof answer === 'function' ? answer : () => answer

async function readText(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of req) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

/**
 * Starts a provider on a free loopback port.
 * @param options - the script; see {@link ProviderOptions}.
 */
export async function startProvider(options: ProviderOptions): Promise<Provider> {
  const requests: RecordedRequest[] = []
  const waiters = new Set<() => void>()
  let answer = asAnswerer(options.answer)
  const auxiliary = asAnswerer(options.auxiliary ?? { kind: 'answer', text: 'A short title' })

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const request = record(req, res, await readText(req))
    const index = requests.filter(earlier => earlier.kind === request.kind).length
    requests.push(request)
    for (const wake of waiters) wake()
    const script = request.kind === 'agent' ? answer : auxiliary
    await send(res, await script(request, index))
  }
  const server = createServer((req, res) => {
    handle(req, res).catch((error: unknown) => {
      // A faulty script must not look like a provider that hangs.
      if (!res.headersSent) res.writeHead(599)
      res.end(`provider ${options.name}: ${String(error)}`)
    })
  })
  const port = await listen(server)

  const agentRequests = (): RecordedRequest[] => requests.filter(request => request.kind === 'agent')
  const agentRequest = (index: number): Promise<RecordedRequest> => new Promise(resolve => {
    const look = (): void => {
      const found = agentRequests()[index]
      if (found === undefined) return
      waiters.delete(look)
      resolve(found)
    }
    waiters.add(look)
    look()
  })
  const close = (): Promise<void> => new Promise(resolve => {
    server.close(() => { resolve() })
    server.closeAllConnections()
  })
  return {
    name: options.name,
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    agentRequests,
    agentRequest,
    setAnswer: next => { answer = asAnswerer(next) },
    close,
  }
}
