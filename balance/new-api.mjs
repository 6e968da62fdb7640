// Follows "Token Usage Query" of the New API documentation, https://docs.newapi.pro/en/api/token-usage (2026-11)
//
// GET /api/usage/token/ on one's own gateway (--base-url is required), Bearer key. total_available counts
// the gateway's quota units of this one key; what a unit is worth is up to the gateway. A key without a
// quota of its own has no reading here, since its owner's balance is not part of the answer.

import { Failure, needNumber, needObject, run, toNumber } from './lib/run.mjs'

run({
  keyEnv: 'NEWAPI_API_KEY',
  baseUrlEnv: 'NEWAPI_BASE_URL',
  async read({ get }) {
    // With the closing slash: that is how the gateway registers it, and it redirects anything else.
    const body = await get('/api/usage/token/')
    if (body.success === false || body.code === false) throw new Failure('the provider reports a failure in its answer')
    const data = needObject(body.data, 'data')
    if (data.unlimited_quota === true) throw new Failure('this key has no quota of its own')
    return {
      remaining: needNumber(data.total_available, 'total_available'),
      unit: 'quota',
      maximum: toNumber(data.total_granted),
    }
  },
})
