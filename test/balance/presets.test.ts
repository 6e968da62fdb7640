import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const folder = fileURLToPath(new URL('../../balance/', import.meta.url))
const canary = 'sk-canary-5f1e8c0d94'

interface Preset {
  name: string
  file: string
  defaultKeyEnv: string
  baseUrlEnv: string
  baseUrl?: string
  baseUrlRequired?: boolean
  endpoint: string
  unit: string
  confirmedBy: string
  docs: string
  options?: string[]
}

const index = JSON.parse(readFileSync(`${folder}index.json`, 'utf8')) as { version: number, presets: Preset[] }
const presets = new Map(index.presets.map(preset => [preset.name, preset]))

interface Seen { method: string | undefined, url: string | undefined, authorization: string | undefined }
interface Run { code: number | null, stdout: string, stderr: string, json: any, seen: Seen[], urls: string[] }
interface RunOptions {
  args?: string[]
  env?: Record<string, string>
  key?: string | undefined
  base?: string
  /** Answers in place of the network, so that a script can be run on its real address. */
  offline?: unknown
}

const servers: Server[] = []
afterAll(async () => {
  await Promise.all(servers.splice(0).map(server => new Promise(resolve => {
    server.closeAllConnections()
    server.close(resolve)
  })))
})

async function listen(handler: RequestListener): Promise<{ origin: string, seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    seen.push({ method: request.method, url: request.url, authorization: request.headers.authorization })
    handler(request, response)
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** Runs a script as the host would: its own process, and an environment of nothing but what is given. */
function launch(preset: Preset, options: RunOptions, seen: Seen[] = []): Promise<Run> {
  const key = 'key' in options ? options.key : canary
  const args = [folder + preset.file, ...options.base === undefined ? [] : ['--base-url', options.base], ...options.args ?? []]
  const offline = 'offline' in options
  const child = spawn(process.execPath, [...offline ? ['--import', preload] : [], ...args], {
    env: {
      ...key === undefined ? {} : { [preset.defaultKeyEnv]: key },
      ...offline ? { BODY: JSON.stringify(options.offline) } : {},
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  let urls = ''
  child.stdout!.on('data', chunk => { stdout += chunk })
  child.stderr!.on('data', chunk => { stderr += chunk })
  child.stdio[3]!.on('data', (chunk: Buffer) => { urls += chunk })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => {
      try {
        // True in every run of this file, whatever the case is about.
        expect(stdout + stderr).not.toContain(canary)
        expect(stderr).toBe('')
        expect(stdout.endsWith('\n') && stdout.trimEnd().split('\n').length === 1).toBe(true)
        resolve({ code, stdout, stderr, json: JSON.parse(stdout), seen, urls: urls.split('\n').filter(Boolean) })
      } catch (error) {
        reject(error)
      }
    })
  })
}

async function serve(preset: Preset, handler: RequestListener, options: RunOptions = {}): Promise<Run> {
  const { origin, seen } = await listen(handler)
  return launch(preset, { base: origin, ...options }, seen)
}

type Body = unknown | ((request: IncomingMessage) => { status?: number, body: unknown })

function answer(body: Body): RequestListener {
  return (request, response) => {
    const { status = 200, body: value } = typeof body === 'function' ? body(request) : { body }
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof value === 'string' ? value : JSON.stringify(value))
  }
}

const get = (name: string) => presets.get(name)!

/** OpenRouter asks two endpoints; the path decides which of the two answers is due. */
const openrouter = (key: unknown, credits: unknown, creditsStatus = 200): Body => (request: IncomingMessage) =>
  request.url === '/api/v1/key' ? { body: key } : { status: creditsStatus, body: credits }

const glm = (limits: unknown[]) => ({ code: 200, msg: 'ok', success: true, data: { level: 'pro', limits } })
const minimax = (...models: unknown[]) => ({ model_remains: models, base_resp: { status_code: 0, status_msg: 'success' } })

interface Case { name: string, body: Body, reading: object, paths?: string[], authorization?: string, args?: string[], title?: string }

const general = {
  model_name: 'general',
  start_time: 1783234800000,
  end_time: 1783252800000,
  current_interval_status: 1,
  current_interval_remaining_percent: 54,
  weekly_end_time: 1783267200000,
  current_weekly_status: 1,
  current_weekly_remaining_percent: 64,
}

const deepseek = (...infos: [string, string | number][]) => ({
  is_available: true,
  balance_infos: infos.map(([currency, total]) => ({ currency, total_balance: total, granted_balance: '0.00', topped_up_balance: '0.00' })),
})

const moonshotBody = { code: 0, data: { available_balance: 49.58894, voucher_balance: 46.58893, cash_balance: 3.00001 }, scode: '0x0', status: true }

const kimiBody = {
  usage: { limit: '2048', used: '214', remaining: '1834', resetTime: '2026-01-09T15:23:13.716839300Z' },
  limits: [{ window: { duration: 300, timeUnit: 'TIME_UNIT_MINUTE' }, detail: { limit: '200', used: '139', remaining: '61', resetTime: '2026-01-06T13:33:02.717479433Z' } }],
}

/** The first case of each preset is the answer as its page gives it; the matrix below reuses that one. */
const cases: Case[] = [
  { name: 'deepseek', paths: ['/user/balance'], body: deepseek(['CNY', '110.00']), reading: { remaining: 110, unit: 'cny' } },
  { name: 'deepseek', title: 'takes the first currency with a positive balance', body: deepseek(['CNY', '0.00'], ['USD', '5.25']), reading: { remaining: 5.25, unit: 'usd' } },
  { name: 'deepseek', title: 'takes the first currency when none has a balance', body: deepseek(['CNY', '-0.40'], ['USD', '0']), reading: { remaining: -0.4, unit: 'cny' } },
  { name: 'deepseek', title: 'takes the currency asked for', args: ['--currency', 'usd'], body: deepseek(['CNY', '9'], ['USD', 1.5]), reading: { remaining: 1.5, unit: 'usd' } },
  {
    name: 'deepseek',
    title: 'reports no allowance where calls are refused',
    body: { ...deepseek(['CNY', '0.03']), is_available: false },
    reading: { remaining: 0, unit: 'cny', error: 'the provider reports the balance as insufficient for API calls' },
  },
  { name: 'moonshot', paths: ['/v1/users/me/balance'], body: moonshotBody, reading: { remaining: 49.58894, unit: 'usd' } },
  { name: 'moonshot', title: 'keeps a negative balance', body: { code: 0, data: { available_balance: -3.2 } }, reading: { remaining: -3.2, unit: 'usd' } },
  // The unit follows the host of the endpoint, which is the loopback here.
  { name: 'moonshot-cn', paths: ['/v1/users/me/balance'], body: moonshotBody, reading: { remaining: 49.58894, unit: 'usd' } },
  {
    name: 'openrouter',
    paths: ['/api/v1/credits', '/api/v1/key'],
    body: openrouter({ data: { label: 'sk-or-v1-0e6...1c96', limit: 100, limit_remaining: 74.5, limit_reset: null } }, { data: { total_credits: 100.5, total_usage: 75.75 } }),
    reading: { remaining: 24.75, unit: 'usd' },
  },
  {
    name: 'openrouter',
    title: 'takes the key limit where the account may not be read',
    body: openrouter({ data: { limit: 100, limit_remaining: 74.5, limit_reset: null } }, { error: { code: 403 } }, 403),
    reading: { remaining: 74.5, unit: 'usd', maximum: 100 },
  },
  {
    name: 'openrouter',
    title: 'takes the account where the key has no limit',
    body: openrouter({ data: { limit: null, limit_remaining: null } }, { data: { total_credits: 0.3, total_usage: 0.1 } }),
    reading: { remaining: 0.2, unit: 'usd' },
  },
  {
    name: 'openrouter',
    title: 'asks only the account',
    args: ['--source', 'credits'],
    paths: ['/api/v1/credits'],
    body: openrouter({}, { data: { total_credits: 10, total_usage: 12.5 } }),
    reading: { remaining: -2.5, unit: 'usd' },
  },
  {
    name: 'openrouter',
    title: 'asks only the key',
    args: ['--source=key'],
    paths: ['/api/v1/key'],
    body: openrouter({ data: { limit: 5, limit_remaining: 4.8984355238, limit_reset: null } }, {}),
    reading: { remaining: 4.898436, unit: 'usd', maximum: 5 },
  },
  {
    name: 'siliconflow',
    paths: ['/v1/user/info'],
    body: { code: 20000, message: 'OK', status: true, data: { id: 'userid', balance: '0.88', status: 'normal', chargeBalance: '88.00', totalBalance: '88.88' } },
    reading: { remaining: 88.88, unit: 'usd' },
  },
  {
    name: 'stepfun',
    paths: ['/v1/accounts'],
    body: { object: 'account', type: 'prepaid', balance: 17.5, total_cash_balance: 20, total_voucher_balance: 15 },
    reading: { remaining: 17.5, unit: 'cny' },
  },
  {
    name: 'novita',
    paths: ['/openapi/v1/billing/balance/detail'],
    body: { availableBalance: '1000000', cashBalance: '800000', creditLimit: '200000', pendingCharges: '0', outstandingInvoices: '0' },
    reading: { remaining: 100, unit: 'usd' },
  },
  { name: 'vercel-ai-gateway', paths: ['/v1/credits'], body: { balance: '95.50', total_used: '4.50' }, reading: { remaining: 95.5, unit: 'usd' } },
  { name: 'poe', paths: ['/usage/current_balance'], body: { current_point_balance: 1500 }, reading: { remaining: 1500, unit: 'points' } },
  {
    name: 'aimlapi',
    paths: ['/v1/billing/balance'],
    body: { balance: 551564495, lowBalance: false, lowBalanceThreshold: 10000, lastUpdated: '2025-11-10T10:01:56.824Z' },
    reading: { remaining: 551564495, unit: 'credits' },
  },
  {
    name: 'new-api',
    paths: ['/api/usage/token/'],
    body: { code: true, message: 'ok', data: { object: 'token_usage', total_granted: 1000000, total_used: 12345, total_available: 987655, unlimited_quota: false } },
    reading: { remaining: 987655, unit: 'quota', maximum: 1000000 },
  },
  {
    name: 'zai',
    paths: ['/api/monitor/usage/quota/limit'],
    authorization: canary,
    body: glm([
      { type: 'TIME_LIMIT', unit: 5, number: 1, percentage: 99, nextResetTime: 1785000000000 },
      { type: 'TOKENS_LIMIT', unit: 3, number: 5, percentage: 12, nextResetTime: 1783252800000 },
      { type: 'TOKENS_LIMIT', unit: 6, number: 1, percentage: 81, nextResetTime: 1783267200000 },
    ]),
    reading: { remaining: 19, unit: 'percent', maximum: 100, resetsAt: '2026-07-05T16:00:00.000Z' },
  },
  {
    name: 'zai',
    title: 'waits for the later of two empty windows',
    authorization: canary,
    body: glm([
      { type: 'CREDIT_LIMIT', unit: 6, number: 1, percentage: 100, nextResetTime: 1783267200000 },
      { type: 'CREDIT_LIMIT', unit: 3, number: 5, percentage: 100, nextResetTime: 1783252800000 },
    ]),
    reading: { remaining: 0, unit: 'percent', maximum: 100, resetsAt: '2026-07-05T16:00:00.000Z' },
  },
  {
    name: 'zhipu',
    paths: ['/api/monitor/usage/quota/limit'],
    authorization: canary,
    body: glm([{ type: 'TOKENS_LIMIT', unit: 3, number: 5, percentage: 0 }]),
    reading: { remaining: 100, unit: 'percent', maximum: 100 },
  },
  {
    name: 'minimax',
    paths: ['/v1/token_plan/remains'],
    body: minimax({ model_name: 'video', current_interval_remaining_percent: 1 }, general),
    reading: { remaining: 54, unit: 'percent', maximum: 100, resetsAt: '2026-07-05T12:00:00.000Z' },
  },
  {
    name: 'minimax',
    title: 'counts an empty weekly window',
    body: minimax({ ...general, current_weekly_status: 2, current_weekly_remaining_percent: 0 }),
    reading: { remaining: 0, unit: 'percent', maximum: 100, resetsAt: '2026-07-05T16:00:00.000Z' },
  },
  {
    name: 'minimax-cn',
    paths: ['/v1/token_plan/remains'],
    body: minimax({ ...general, current_weekly_status: 3, current_weekly_remaining_percent: 0 }),
    reading: { remaining: 54, unit: 'percent', maximum: 100, resetsAt: '2026-07-05T12:00:00.000Z' },
  },
  {
    name: 'kimi-code',
    paths: ['/coding/v1/usages'],
    body: kimiBody,
    reading: { remaining: 30.5, unit: 'percent', maximum: 100, resetsAt: '2026-01-06T13:33:02.717Z' },
  },
  {
    name: 'kimi-code',
    title: 'reads the shape with ratios',
    body: { usages: { limit_5h: { used_ratio: 0.1 }, limit_7d: { used_ratio: 0.2 }, limit_month_total: { used_ratio: 0.4, reset_time: '2026-10-01T00:00:00Z' }, limit_month_code: { used_ratio: 0.9 } } },
    reading: { remaining: 60, unit: 'percent', maximum: 100, resetsAt: '2026-10-01T00:00:00.000Z' },
  },
  {
    name: 'opencode-go',
    paths: ['/zen/go/v1/usage'],
    body: {
      usage: {
        rolling: { status: 'ok', percent: 2, resetsAt: '2026-10-16T12:00:00Z' },
        weekly: { status: 'ok', percent: 42.5, resetsAt: '2026-10-19T00:00:00Z' },
        monthly: { status: 'ok', percent: 21, resetsAt: '2026-11-13T09:14:35Z' },
      },
    },
    reading: { remaining: 57.5, unit: 'percent', maximum: 100, resetsAt: '2026-10-19T00:00:00.000Z' },
  },
  {
    name: 'synthetic',
    paths: ['/v2/quotas'],
    body: { rollingFiveHourLimit: { remaining: 150, max: 600, nextTickAt: '2026-10-16T12:00:00Z' }, weeklyTokenLimit: { percentRemaining: 56.73, nextRegenAt: '2026-10-16T13:00:00Z' } },
    reading: { remaining: 25, unit: 'percent', maximum: 100 },
  },
  {
    name: 'synthetic',
    title: 'falls back to the older counter',
    body: { subscription: { limit: 135, requests: 27, renewsAt: '2026-10-16T12:00:00Z' } },
    reading: { remaining: 80, unit: 'percent', maximum: 100, resetsAt: '2026-10-16T12:00:00.000Z' },
  },
]

const documented = new Map([...cases].reverse().map(entry => [entry.name, entry]))

/** The same answer with every number but its status code written as a string, as some providers and gateways do. */
function stringify(value: any): any {
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(stringify)
  if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, key === 'code' ? entry : stringify(entry)]))
  return value
}

/** Stands in for the network in the child: tells where a request would go, and answers with BODY. */
const preload = `data:text/javascript,${encodeURIComponent(`
  globalThis.fetch = async url => {
    const { writeSync } = await import('node:fs')
    writeSync(3, url + '\\n')
    return Response.json(JSON.parse(process.env.BODY))
  }
`)}`

describe.concurrent('readings', () => {
  it.each(cases)('$name $title', async ({ name, body, reading, paths, authorization, args }) => {
    const run = await serve(get(name), answer(body), { args: args ?? [] })
    expect(run.json).toEqual(reading)
    expect(run.code).toBe(0)
    expect(run.seen.length).toBeGreaterThan(0)
    for (const seen of run.seen) {
      expect(seen.method).toBe('GET')
      expect(seen.authorization).toBe(authorization ?? `Bearer ${canary}`)
    }
    if (paths !== undefined) expect(run.seen.map(({ url }) => url).sort()).toEqual(paths)
  })

  it.each(['daily', 'weekly', 'monthly'])('openrouter says when a %s limit comes back', async period => {
    const { json } = await serve(get('openrouter'), answer(openrouter({ data: { limit: 1, limit_remaining: 0, limit_reset: period } }, {}, 403)))
    const reset = new Date(json.resetsAt)
    expect(reset.getTime()).toBeGreaterThan(Date.now())
    expect(json.resetsAt).toMatch(/T00:00:00.000Z$/)
    if (period === 'daily') expect(reset.getTime() - Date.now()).toBeLessThanOrEqual(86_400_000)
    if (period === 'weekly') expect(reset.getUTCDay()).toBe(1)
    if (period === 'weekly') expect(reset.getTime() - Date.now()).toBeLessThanOrEqual(7 * 86_400_000)
    if (period === 'monthly') expect(reset.getUTCDate()).toBe(1)
  })

  it('openrouter keeps the key limit while the account answer stalls', async () => {
    const run = await serve(get('openrouter'), (request, response) => {
      if (request.url === '/api/v1/key') answer({ data: { limit: 9, limit_remaining: 4 } })(request, response)
    }, { args: ['--timeout-ms', '1200'] })
    expect(run.json).toEqual({ remaining: 4, unit: 'usd', maximum: 9 })
    expect(run.code).toBe(0)
  })

  it('drops a time that names no zone', async () => {
    const { json } = await serve(get('opencode-go'), answer({ usage: { rolling: { percent: 10, resetsAt: '2026-10-16T12:00:00' } } }))
    expect(json).toEqual({ remaining: 90, unit: 'percent', maximum: 100 })
  })
})

describe.concurrent.each(index.presets)('$name', preset => {
  const good = documented.get(preset.name)!

  async function fails(handler: RequestListener, text: RegExp, options: RunOptions = {}): Promise<Run> {
    const run = await serve(preset, handler, options)
    expect(run.code).toBe(1)
    expect(Object.keys(run.json)).toEqual(['error'])
    expect(run.json.error).toMatch(text)
    expect(run.json.error.length).toBeLessThan(140)
    return run
  }

  /** Answers as a careless server would: with the request's own headers in the body. */
  const echo = (status: number): RequestListener => (request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: `refused ${request.headers.authorization}` } }))
  }

  it('reports HTTP errors', async () => {
    await Promise.all([401, 403, 429, 500].map(status => fails(echo(status), new RegExp(`HTTP ${status}`))))
  })

  it('reports answers that are no reading', async () => {
    const html: RequestListener = (request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(`<html><body>Sign in ${request.headers.authorization}</body></html>`)
    }
    const text = JSON.stringify(typeof good.body === 'function' ? good.body({ url: '/api/v1/key' } as IncomingMessage).body : good.body)
    await Promise.all([
      fails(html, /not JSON/),
      fails(answer(''), /empty/),
      fails(answer(text.slice(0, -5)), /not JSON/),
      fails(answer('{}'), /no usable|no entry|reports a failure/),
      fails(answer('[]'), /JSON object/),
      fails(answer('null'), /JSON object/),
      fails((_request, response) => response.destroy(), /request failed/),
    ])
  })

  it('reports each field it needs when that is missing', async () => {
    const hollow = (value: any): any => Array.isArray(value)
      ? value.map(hollow)
      : value !== null && typeof value === 'object'
        ? Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, typeof entry === 'object' ? hollow(entry) : ['code', 'currency', 'type', 'model_name', 'status_code'].includes(key) ? entry : null]))
        : value
    const body = typeof good.body === 'function' ? { data: {} } : hollow(good.body)
    await fails(answer(body), /no usable/)
  })

  it('reads numbers written as strings', async () => {
    const { body } = good
    const run = await serve(preset, answer(typeof body === 'function'
      ? (request: IncomingMessage) => ({ body: stringify(body(request).body) })
      : stringify(body)))
    expect(run.json).toEqual(good.reading)
  })

  it('never lets the key follow a redirect to another address', async () => {
    const other = await listen(answer(good.body))
    await fails((request, response) => {
      response.writeHead(302, { location: `${other.origin}${request.url}` })
      response.end()
    }, /redirect/)
    expect(other.seen).toEqual([])
  })

  it('ends by itself when the server hangs', async () => {
    const started = Date.now()
    await Promise.all([
      fails(() => {}, /no answer within 300 ms/, { args: ['--timeout-ms', '300'] }),
      fails((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.write('{"balance":')
      }, /no answer within 300 ms/, { args: ['--timeout-ms', '300'] }),
    ])
    expect(Date.now() - started).toBeLessThan(10_000)
  })

  it('gives up on a huge answer', async () => {
    await fails((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = Buffer.alloc(64 * 1024, 32)
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', more).on('error', () => {})
      more()
    }, /too long/)
  })

  it('says which variable is missing and asks nobody', async () => {
    const { seen } = await fails(answer(good.body), new RegExp(preset.defaultKeyEnv), { key: undefined })
    expect(seen).toEqual([])
  })

  it('takes key and endpoint as the plugin passes them', async () => {
    const { origin, seen } = await listen(answer(good.body))
    const run = await launch(preset, {
      key: undefined,
      args: ['--key-env', 'MY_OWN_KEY'],
      env: { MY_OWN_KEY: canary, [preset.baseUrlEnv]: origin },
    }, seen)
    expect(run.json).toEqual(good.reading)
    expect(seen[0]?.authorization).toBe(good.authorization ?? `Bearer ${canary}`)
  })
})

describe.concurrent('real addresses', () => {
  it.each(index.presets.filter(({ baseUrl }) => baseUrl !== undefined))('$name', async preset => {
    const { body } = documented.get(preset.name)!
    const run = await launch(preset, { offline: typeof body === 'function' ? { data: { limit_remaining: 1 } } : body })
    const paths = preset.endpoint.split(', ').map(endpoint => endpoint.replace('GET ', ''))
    expect(run.urls.sort()).toEqual(paths.map(path => preset.baseUrl + path).sort())
    expect(run.json.unit).toBe(preset.unit)
    expect(run.code).toBe(0)
  })

  it.each([
    ['deepseek', 'https://api.deepseek.com/anthropic', 'https://api.deepseek.com/user/balance'],
    ['zai', 'https://api.z.ai/api/coding/paas/v4', 'https://api.z.ai/api/monitor/usage/quota/limit'],
    ['openrouter', 'https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1/credits'],
    ['moonshot', 'https://api.moonshot.cn/v1', 'https://api.moonshot.cn/v1/users/me/balance'],
    ['new-api', 'https://gateway.invalid/relay/', 'https://gateway.invalid/relay/api/usage/token/'],
    ['siliconflow', 'https://api.siliconflow.cn/v1', 'https://api.siliconflow.cn/v1/user/info'],
  ])('%s with %s', async (name, base, url) => {
    const { body } = documented.get(name)!
    const run = await launch(get(name), {
      base,
      offline: typeof body === 'function' ? { data: { total_credits: 2, total_usage: 1 } } : body,
      args: name === 'openrouter' ? ['--source', 'credits'] : [],
    })
    expect(run.urls).toEqual([url])
    if (base.includes('.cn/')) expect(run.json.unit).toBe('cny')
  })
})

describe('refusals stated inside an HTTP 200', () => {
  it.each([
    ['zai', { code: 401, msg: 'token expired or incorrect', success: false }],
    ['minimax', { base_resp: { status_code: 1004, status_msg: `login fail ${canary}` }, model_remains: null }],
    ['siliconflow', { code: 50000, message: 'failed', status: false }],
    ['moonshot', { code: 5, error: canary, data: { available_balance: 4 } }],
    ['new-api', { success: false, message: 'token not found' }],
    ['new-api', { code: true, data: { unlimited_quota: true, total_available: 0 } }],
  ])('%s', async (name, body) => {
    const run = await serve(get(name), answer(body))
    expect(run.code).toBe(1)
    expect(run.json).toEqual({ error: expect.any(String) })
  })

  it('openrouter explains a key without a limit that may not read the account', async () => {
    const run = await serve(get('openrouter'), answer(openrouter({ data: { limit: null, limit_remaining: null } }, {}, 403)))
    expect(run.json.error).toMatch(/management key/)
    expect(run.code).toBe(1)
  })

  it('deepseek does not answer for a currency the account lacks', async () => {
    const run = await serve(get('deepseek'), answer(deepseek(['CNY', '1'])), { args: ['--currency', 'USD'] })
    expect(run.json.error).toMatch(/currency/)
  })

  it('never passes on a currency that is not one', async () => {
    const run = await serve(get('deepseek'), answer(deepseek([canary, '1'])))
    expect(run.code).toBe(1)
  })
})

describe('command line', () => {
  const preset = get('deepseek')
  const body = documented.get('deepseek')!.body

  async function refuses(options: RunOptions, text: RegExp): Promise<void> {
    const { origin, seen } = await listen(answer(body))
    const run = await launch(preset, { base: origin, ...options }, seen)
    expect(run.code).toBe(1)
    expect(run.json.error).toMatch(text)
    expect(seen).toEqual([])
  }

  it.each([
    ['an unknown option', ['--verbose', canary], /unknown option/],
    ['a stray word', [canary], /unknown option/],
    ['an option without its value', ['--currency'], /needs a value/],
    ['an option in place of a value', ['--currency', '--unit', 'x'], /needs a value/],
    ['a timeout that is none', ['--timeout-ms', '-1'], /milliseconds/],
    ['a unit that is a sentence', ['--unit', 'a b'], /short word/],
    ['a key given as the name of its variable', ['--key-env', canary], /name of an environment variable/],
  ])('refuses %s', async (_title, args, text) => {
    await refuses({ args }, text)
  })

  it('does not repeat a key given as the name of its variable', async () => {
    const run = await launch(preset, { key: undefined, args: ['--key-env', 'skcanary5f1e8c0d94'] })
    expect(run.stdout).not.toContain('skcanary')
  })

  it.each([
    ['no URL', 'api.deepseek.com', /not a URL/],
    ['another scheme', 'file:///etc', /http or https/],
    ['credentials', `https://user:${canary}@127.0.0.1:1`, /credentials/],
    ['a query', `https://127.0.0.1:1/?key=${canary}`, /query/],
    ['no encryption beyond this machine', 'http://balance.invalid', /unencrypted/],
  ])('refuses a base URL with %s', async (_title, base, text) => {
    await refuses({ base }, text)
  })

  it('refuses a key no header can carry, without quoting it', async () => {
    await refuses({ key: `${canary}\u00e9\n${canary}` }, /characters/)
  })

  it('withholds an answer that would show the key', async () => {
    const run = await serve(preset, answer(deepseek(['CNY', 12345678])), { key: '12345678' })
    expect(run.code).toBe(1)
    expect(run.json.error).toMatch(/withheld/)
  })

  it('accepts a base URL with the segments people know, and follows a redirect that stays', async () => {
    const run = await serve(get('kimi-code'), (request, response) => {
      if (request.url === '/proxy/coding/v1/usages') {
        response.writeHead(307, { location: '/moved' })
        response.end()
      } else answer(kimiBody)(request, response)
    }, { args: ['--unit', 'share'] })
    expect(run.code).toBe(0)
    const { origin, seen } = await listen((request, response) => {
      if (request.url === '/moved') return answer(kimiBody)(request, response)
      response.writeHead(307, { location: '/moved' })
      response.end()
    })
    const moved = await launch(get('kimi-code'), { base: `${origin}/proxy/coding/v1/` }, seen)
    expect(seen.map(({ url }) => url)).toEqual(['/proxy/coding/v1/usages', '/moved'])
    expect(moved.json.remaining).toBe(30.5)
    expect(run.json.unit).toBe('share')
  })

  it('ends a redirect that goes in circles', async () => {
    const run = await serve(preset, (_request, response) => {
      response.writeHead(302, { location: '/again' })
      response.end()
    })
    expect(run.json.error).toMatch(/too many redirects/)
    expect(run.seen.length).toBe(4)
  })

  it('insists on an endpoint where there is no default', async () => {
    const run = await launch(get('new-api'), {})
    expect(run.json.error).toMatch(/--base-url/)
  })
})

describe('index.json', () => {
  it('lists every script, and every script says what it follows', () => {
    expect(index.version).toBe(1)
    const scripts = readdirSync(folder).filter(name => name.endsWith('.mjs')).sort()
    expect(index.presets.map(({ file }) => file).sort()).toEqual(scripts)
    expect(presets.size).toBe(index.presets.length)
    const readme = readFileSync(`${folder}README.md`, 'utf8')
    for (const preset of index.presets) {
      const [first = ''] = readFileSync(folder + preset.file, 'utf8').split('\n')
      expect(first).toMatch(/^\/\/ Follows .* \(\d{4}-\d\d\)$/)
      expect(first).toContain(preset.docs)
      expect(first.includes('client')).toBe(preset.confirmedBy === 'client')
      expect(readme).toContain(`| \`${preset.name}\` | \`${preset.defaultKeyEnv}\` |`)
      expect(preset.baseUrl === undefined).toBe(preset.baseUrlRequired === true)
    }
  })

  it('is covered by a documented answer for each preset', () => {
    expect([...documented.keys()].sort()).toEqual([...presets.keys()].sort())
    for (const [name, { reading, paths }] of documented) {
      const preset = get(name)
      // The host decides the unit of this one, and here that is the loopback.
      if (name !== 'moonshot-cn') expect((reading as { unit: string }).unit).toBe(preset.unit)
      for (const path of paths ?? []) expect(preset.endpoint).toContain(`GET ${path}`)
    }
  })
})
