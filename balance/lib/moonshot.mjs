// What the two Moonshot endpoints share: both answer GET /v1/users/me/balance alike, in the currency of their region.

import { Failure, needNumber, needObject } from './run.mjs'

/** @param {string} baseUrl @returns {import('./run.mjs').Provider} */
export function moonshot(baseUrl) {
  return {
    keyEnv: 'MOONSHOT_API_KEY',
    baseUrl,
    baseUrlEnv: 'MOONSHOT_BASE_URL',
    async read({ get, host }) {
      const body = await get('/v1/users/me/balance')
      if (body.code !== undefined && body.code !== 0) throw new Failure('the provider reports a failure in its answer')
      const data = needObject(body.data, 'data')
      // The answer names no currency; the documentation of each region does.
      return { remaining: needNumber(data.available_balance, 'available_balance'), unit: host.endsWith('.cn') ? 'cny' : 'usd' }
    },
  }
}
