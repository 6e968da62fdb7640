// Follows open clients (steipete/CodexBar and others) of the provider's "Quotas" endpoint, https://dev.synthetic.new/docs/synthetic/quotas (2026-11)
//
// GET /v2/quotas, Bearer key. remaining is the percentage left of the tighter of the five-hour and the
// weekly allowance, or of the older subscription counter where neither is present. The two allowances refill
// slice by slice, so they have no moment of reset to report.

import { run, tightest, toIso, toNumber } from './lib/run.mjs'

run({
  keyEnv: 'SYNTHETIC_API_KEY',
  baseUrl: 'https://api.synthetic.new',
  baseUrlEnv: 'SYNTHETIC_BASE_URL',
  async read({ get }) {
    const { rollingFiveHourLimit: rolling, weeklyTokenLimit: weekly, subscription } = await get('/v2/quotas')
    const windows = [
      { remaining: share(toNumber(rolling?.remaining), toNumber(rolling?.max)) },
      { remaining: toNumber(weekly?.percentRemaining) },
    ]
    if (windows.some(({ remaining }) => remaining !== undefined)) return tightest(windows)
    const limit = toNumber(subscription?.limit)
    const used = toNumber(subscription?.requests)
    return tightest([{
      remaining: used === undefined || limit === undefined ? undefined : share(limit - used, limit),
      resetsAt: toIso(subscription?.renewsAt),
    }])
  },
})

/** A part of a whole as a percentage; undefined when either is unknown. */
function share(left, whole) {
  return left === undefined || whole === undefined || whole <= 0 ? undefined : left / whole * 100
}
