// Follows "查询余额" of the Kimi open platform documentation, https://platform.moonshot.cn/docs/api/balance (2026-11)
//
// GET /v1/users/me/balance, Bearer key. available_balance is cash plus vouchers, in yuan on this endpoint.

import { moonshot } from './lib/moonshot.mjs'
import { run } from './lib/run.mjs'

run(moonshot('https://api.moonshot.cn'))
