// Follows open clients (cmd-usage and others; the endpoint itself is the provider's but has no page), tracked in https://github.com/anomalyco/opencode/issues/31084 (2026-11)
//
// GET /zen/go/v1/usage, Bearer key. remaining is the percentage left of the tightest of the rolling, weekly
// and monthly window of an OpenCode Go plan. HTTP 403 means the key is valid but has no such plan.

import { needObject, run, tightest, toIso, toNumber } from './lib/run.mjs'

run({
  keyEnv: 'OPENCODE_API_KEY',
  baseUrl: 'https://opencode.ai',
  baseUrlEnv: 'OPENCODE_BASE_URL',
  async read({ get }) {
    const usage = needObject((await get('/zen/go/v1/usage')).usage, 'usage')
    return tightest([usage.rolling, usage.weekly, usage.monthly].map(window => {
      const used = toNumber(window?.percent)
      return { remaining: used === undefined ? undefined : 100 - used, resetsAt: toIso(window?.resetsAt) }
    }))
  },
})
