// Follows the vendor's own client (MoonshotAI/kimi-cli, command "/usage") and, for the newer shape, open clients (steipete/CodexBar), https://github.com/MoonshotAI/kimi-cli (2026-11)
//
// GET /coding/v1/usages, Bearer key of a Kimi Code plan. remaining is the percentage left of the tightest
// window. Two shapes are in use: counted windows (usage, limits[]) and ratios (usages.limit_5h and so on).

import { run, tightest, toIso, toNumber } from './lib/run.mjs'

/** Not limit_month_code: that is the share of one feature inside the monthly pool, not an allowance. */
const pools = ['limit_5h', 'limit_7d', 'limit_month_total']

run({
  keyEnv: 'KIMI_API_KEY',
  baseUrl: 'https://api.kimi.com',
  baseUrlEnv: 'KIMI_BASE_URL',
  async read({ get }) {
    const body = await get('/coding/v1/usages')
    const limits = Array.isArray(body.limits) ? body.limits : []
    return tightest([
      counted(body.usage),
      ...limits.map(item => counted(item?.detail ?? item)),
      ...pools.map(name => ratio(body.usages?.[name])),
    ])
  },
})

/** A window that counts requests, with what is left or what is used. */
function counted(detail) {
  const limit = toNumber(detail?.limit)
  const left = toNumber(detail?.remaining)
  const used = toNumber(detail?.used)
  if (limit === undefined || limit <= 0 || (left === undefined && used === undefined)) return { remaining: undefined }
  return { remaining: (left ?? limit - used) / limit * 100, resetsAt: resetOf(detail) }
}

/** A window given as the used share of one. */
function ratio(pool) {
  const used = toNumber(pool?.used_ratio)
  return { remaining: used === undefined ? undefined : 100 - used * 100, resetsAt: resetOf(pool) }
}

function resetOf(detail) {
  return toIso(detail?.resetTime ?? detail?.resetAt ?? detail?.reset_time ?? detail?.reset_at)
}
