// Follows "Get User Info" of the SiliconFlow API reference, https://docs.siliconflow.cn/cn/api-reference/userinfo/get-user-info (2026-11)
//
// GET /v1/user/info, Bearer key. totalBalance is granted plus charged balance, in US dollars on the
// international endpoint. The endpoint of mainland China (api.siliconflow.cn, yuan) is reported as retired
// since August 2026; with --base-url it is still asked, and a plain error is what comes back then.

import { Failure, needNumber, needObject, run } from './lib/run.mjs'

run({
  keyEnv: 'SILICONFLOW_API_KEY',
  baseUrl: 'https://api.siliconflow.com',
  baseUrlEnv: 'SILICONFLOW_BASE_URL',
  async read({ get, host }) {
    const body = await get('/v1/user/info')
    if (body.code !== 20000) throw new Failure('the provider reports a failure in its answer')
    const data = needObject(body.data, 'data')
    return { remaining: needNumber(data.totalBalance, 'totalBalance'), unit: host.endsWith('.cn') ? 'cny' : 'usd' }
  },
})
