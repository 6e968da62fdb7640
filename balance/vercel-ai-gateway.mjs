// Follows "Usage & Billing" of the Vercel AI Gateway documentation, https://vercel.com/docs/ai-gateway/observability-and-spend/usage (2026-11)
//
// GET /v1/credits, Bearer key. balance is a decimal string in US dollars and belongs to the whole team.

import { needNumber, run } from './lib/run.mjs'

run({
  keyEnv: 'AI_GATEWAY_API_KEY',
  baseUrl: 'https://ai-gateway.vercel.sh',
  baseUrlEnv: 'AI_GATEWAY_BASE_URL',
  async read({ get }) {
    const body = await get('/v1/credits')
    return { remaining: needNumber(body.balance, 'balance'), unit: 'usd' }
  },
})
