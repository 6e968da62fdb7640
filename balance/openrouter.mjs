// Follows "Get remaining credits" and "Get current API key" of the OpenRouter API reference, https://openrouter.ai/docs/api/api-reference/credits/get-remaining-credits (2026-11)
//
// GET /api/v1/key (any key: the limit of that key) and GET /api/v1/credits (documented for management keys:
// the account), Bearer key. By default both are asked and the smaller figure counts, because a request needs
// room in both; one that cannot be read is left out. --source key or --source credits asks only one.

import { Failure, needNumber, needObject, round, run, toNumber } from './lib/run.mjs'

run({
  keyEnv: 'OPENROUTER_API_KEY',
  baseUrl: 'https://openrouter.ai',
  baseUrlEnv: 'OPENROUTER_BASE_URL',
  options: ['source'],
  async read({ get, options }) {
    const source = options.source ?? 'auto'
    if (!['auto', 'key', 'credits'].includes(source)) throw new Failure('--source takes auto, key or credits')
    if (source === 'credits') return credits(await get('/api/v1/credits'))
    if (source === 'key') {
      const limit = keyLimit(await get('/api/v1/key'))
      if (limit === undefined) throw new Failure('this key has no spending limit of its own')
      return limit
    }
    const [limit, account] = await Promise.allSettled([
      get('/api/v1/key').then(keyLimit),
      // Half the time at most: a stalled second figure must not cost the first.
      get('/api/v1/credits', { share: 0.5 }).then(credits),
    ])
    if (limit.status === 'rejected' && limit.reason?.status === 401) throw limit.reason
    const known = [limit, account].flatMap(({ status, value }) => status === 'fulfilled' && value !== undefined ? [value] : [])
    if (known.length > 0) return known.reduce((a, b) => b.remaining < a.remaining ? b : a)
    if (limit.status === 'rejected') throw limit.reason
    if ([401, 403].includes(account.reason?.status)) {
      throw new Failure('this key has no spending limit, and the account balance can only be read with a management key')
    }
    throw account.reason
  },
})

/** Account credits: bought minus used. What was ever bought is no ceiling, so there is no maximum. */
function credits(body) {
  const data = needObject(body.data, 'data')
  return { remaining: round(needNumber(data.total_credits, 'total_credits') - needNumber(data.total_usage, 'total_usage')), unit: 'usd' }
}

/** The key's own limit, or undefined for a key without one (limit_remaining null). */
function keyLimit(body) {
  const data = needObject(body.data, 'data')
  if (data.limit_remaining === null) return undefined
  const resetsAt = nextReset(data.limit_reset, new Date())
  return {
    remaining: round(needNumber(data.limit_remaining, 'limit_remaining')),
    unit: 'usd',
    maximum: toNumber(data.limit),
    ...(resetsAt === undefined ? {} : { resetsAt: resetsAt.toISOString() }),
  }
}

/** Documented: limits reset at midnight UTC, weeks run from Monday to Sunday. */
function nextReset(period, now) {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  if (period === 'daily') return new Date(Date.UTC(year, month, day + 1))
  if (period === 'weekly') return new Date(Date.UTC(year, month, day + 7 - (now.getUTCDay() + 6) % 7))
  if (period === 'monthly') return new Date(Date.UTC(year, month + 1, 1))
  return undefined
}
