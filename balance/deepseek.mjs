// Follows "Get User Balance" of the DeepSeek API documentation, https://api-docs.deepseek.com/api/get-user-balance (2026-11)
//
// GET /user/balance, Bearer key. One entry per currency, amounts as decimal strings. --currency CNY picks
// one; without it the first entry with a positive balance is taken, or the first entry when none has one.

import { Failure, needNumber, run } from './lib/run.mjs'

run({
  keyEnv: 'DEEPSEEK_API_KEY',
  baseUrl: 'https://api.deepseek.com',
  baseUrlEnv: 'DEEPSEEK_BASE_URL',
  options: ['currency'],
  async read({ get, options }) {
    const body = await get('/user/balance')
    if (!Array.isArray(body.balance_infos)) throw new Failure('the answer has no usable balance_infos')
    const accounts = body.balance_infos.map(info => {
      const currency = info?.currency
      if (typeof currency !== 'string' || !/^[A-Za-z]{3}$/.test(currency)) throw new Failure('the answer has no usable currency')
      return { unit: currency.toLowerCase(), remaining: needNumber(info.total_balance, 'total_balance') }
    })
    const wanted = options.currency?.toLowerCase()
    const account = wanted === undefined
      ? accounts.find(({ remaining }) => remaining > 0) ?? accounts[0]
      : accounts.find(({ unit }) => unit === wanted)
    if (account === undefined) throw new Failure('the account holds no balance in that currency')
    if (body.is_available !== false) return account
    // The provider says calls are refused, so a leftover of a few cents is no allowance.
    return { ...account, remaining: Math.min(account.remaining, 0), error: 'the provider reports the balance as insufficient for API calls' }
  },
})
