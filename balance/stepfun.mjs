// Follows "Accounts" of the StepFun API reference, https://platform.stepfun.com/docs/zh/api-reference/accounts/get (2026-11)
//
// GET /v1/accounts, Bearer key. balance is what the account can still use, in yuan.

import { needNumber, run } from './lib/run.mjs'

run({
  keyEnv: 'STEPFUN_API_KEY',
  baseUrl: 'https://api.stepfun.com',
  baseUrlEnv: 'STEPFUN_BASE_URL',
  async read({ get }) {
    const body = await get('/v1/accounts')
    return { remaining: needNumber(body.balance, 'balance'), unit: 'cny' }
  },
})
