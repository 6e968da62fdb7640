/** The channel of the settings page on a real HTTP server, behind what hosts of two generations let through. */
import { createServer, type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, isLocal, openLocalChannel } from '../../src/host/local-channel.ts'

let server: Server | undefined
afterEach(() => new Promise<void>((resolve) => {
  server?.closeAllConnections()
  server?.close(() => { resolve() })
  if (server === undefined) resolve()
  server = undefined
}))

/** `packages/client/connection/src/rpc-host.ts` of 0.2.0-rc.2: a cookie lets a browser in, wherever it runs. */
const connection020 = {
  requestRejection: ({ headers }: IncomingMessage) => headers.cookie?.includes('launch=token') === true ? undefined : 401,
}

/** A host with a web server, and the calls that reached the plugin. */
async function host(connection: object, handle?: (endpoint: string, payload: unknown, signal: AbortSignal) => Promise<Answer>) {
  const calls: unknown[] = []
  const routes: { path: string; handler: (request: IncomingMessage, response: ServerResponse) => Promise<void> }[] = []
  const services: Record<string, unknown> = { connection, webServer: { register: (route: any) => (routes.push(route), () => {}) } }
  const ctx: any = { get: (name: string) => services[name], effect: (run: () => unknown) => run(), inject: (_names: unknown, run: (inner: unknown) => void) => { run(ctx) } }
  openLocalChannel(ctx, '/quota', () => handle ?? (async (endpoint, payload) => {
    calls.push([endpoint, payload])
    return { ok: true, value: 'seen' }
  }))
  server = createServer((request, response) => { void routes[0]!.handler(request, response) })
  await new Promise<void>(resolve => server!.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const post = (headers: Record<string, string> = {}, body: unknown = { type: 'client-request', rpcId: 'r1', method: 'watch', payload: { known: null } }, path = '/quota/watch'): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest({ port, path, method: 'POST', headers: { 'content-type': 'application/json', ...headers } }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => { text += part }).on('end', () => { resolve({ status: response.statusCode!, text }) })
      })
      sent.on('error', reject)
      sent.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  return { calls, port, post }
}

describe('the channel of the page', () => {
  it('answers a browser on the machine of the host', async () => {
    const { calls, port, post } = await host({})
    expect(JSON.parse((await post({ origin: `http://localhost:${port}`, host: `localhost:${port}` })).text))
      .toEqual({ type: 'server-response', rpcId: 'r1', result: { ok: true, value: 'seen' } })
    expect(calls).toEqual([['watch', { known: null }]])
  })

  it.each<[string, Record<string, string>]>([
    ['under another name, as behind a proxy or after a rebinding', { host: 'harness.example' }],
    ['under an address of the network', { host: '192.168.1.5:8080' }],
    ['under a name that only begins as ours', { host: '127.0.0.1.evil.example' }],
    ['from the page of another site', { origin: 'http://evil.example' }],
    ['from another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['from a page that has no origin', { origin: 'null' }],
    ['across sites, as the browser says', { 'sec-fetch-site': 'cross-site' }],
  ])('refuses what comes %s, also where the host let it in', async (_how, headers) => {
    for (const connection of [{}, connection020]) {
      const { calls, post } = await host(connection)
      const { status, text } = await post({ cookie: 'launch=token', ...headers })
      expect([status, text, calls]).toEqual([403, expect.stringContaining('only a browser on the machine of the host'), []])
    }
  })

  it.each([['10.0.0.7', false], ['::ffff:10.0.0.7', false], ['fe80::1', false], ['127.0.0.1', true], ['::1', true], ['::ffff:127.0.0.1', true], [undefined, false]])('knows %s for what it is, whatever name it calls', (remoteAddress, local) => {
    expect(isLocal({ headers: { host: 'localhost' }, socket: { remoteAddress } })).toBe(local)
  })

  it('refuses a browser that the host of 0.2.0 has not let in, and answers one that it has', async () => {
    const { calls, post } = await host(connection020)
    expect((await post()).status).toBe(401)
    expect(calls).toEqual([])
    expect((await post({ cookie: 'launch=token' })).status).toBe(200)
  })

  it.each<[string, Record<string, string>, unknown, number]>([
    ['a form', { 'content-type': 'text/plain' }, '{}', 404],
    ['no JSON', {}, '{', 400],
    ['another method than its address', {}, { rpcId: 'r', method: 'stop' }, 400],
    ['no envelope', {}, [], 400],
    ['a megabyte', {}, { rpcId: 'r', method: 'watch', payload: 'x'.repeat(1_000_000) }, 400],
  ])('refuses %s', async (_what, headers, body, status) => {
    const { calls, post } = await host({})
    // A request that is too large may be cut off before it is sent.
    const answered = await post(headers, body).catch((error: NodeJS.ErrnoException) => ({ status: error.code === 'ECONNRESET' || error.code === 'EPIPE' ? 400 : 0 }))
    expect([answered.status, calls]).toEqual([status, []])
  })

  it('lets go of a page that went away', async () => {
    let aborted = (): void => {}
    const gone = new Promise<void>((resolve) => { aborted = resolve })
    const { post } = await host({}, (_endpoint, _payload, signal) => new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        aborted()
        resolve({ ok: true, value: null })
      })
      server!.closeAllConnections()
    }))
    await expect(post()).rejects.toThrow()
    await gone
  })
})
