// Follows "Account Balance" of the AI/ML API documentation, https://docs.aimlapi.com/api-references/can-i-get-my-billing-info-via-api-request (2026-11)
//
// GET /v1/billing/balance on the billing host, Bearer key. balance counts credits.

import { needNumber, run } from './lib/run.mjs'

run({
  keyEnv: 'AIMLAPI_API_KEY',
  baseUrl: 'https://billing.aimlapi.com',
  baseUrlEnv: 'AIMLAPI_BASE_URL',
  async read({ get }) {
    const body = await get('/v1/billing/balance')
    return { remaining: needNumber(body.balance, 'balance'), unit: 'credits' }
  },
})
