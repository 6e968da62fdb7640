// Follows "Get current point balance" of the Poe API reference, https://creator.poe.com/api-reference/getCurrentBalance (2026-11)
//
// GET /usage/current_balance, Bearer key. Plan points and add-on points together.

import { needNumber, run } from './lib/run.mjs'

run({
  keyEnv: 'POE_API_KEY',
  baseUrl: 'https://api.poe.com',
  baseUrlEnv: 'POE_BASE_URL',
  async read({ get }) {
    const body = await get('/usage/current_balance')
    return { remaining: needNumber(body.current_point_balance, 'current_point_balance'), unit: 'points' }
  },
})
