// Follows "User Balance Info" of the Novita AI API reference, https://novita.ai/docs/api-reference/basic-get-user-balance (2026-11)
//
// GET /openapi/v1/billing/balance/detail, Bearer key. availableBalance is a string in 1/10000 US dollar.

import { needNumber, round, run } from './lib/run.mjs'

run({
  keyEnv: 'NOVITA_API_KEY',
  baseUrl: 'https://api.novita.ai',
  baseUrlEnv: 'NOVITA_BASE_URL',
  async read({ get }) {
    const body = await get('/openapi/v1/billing/balance/detail')
    return { remaining: round(needNumber(body.availableBalance, 'availableBalance') / 10_000), unit: 'usd' }
  },
})
