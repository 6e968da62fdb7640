// Follows "Check Balance" of the Kimi Open Platform documentation, https://platform.kimi.ai/docs/api/balance (2026-11)
//
// GET /v1/users/me/balance, Bearer key. available_balance is cash plus vouchers, in US dollars on this
// endpoint; the platform of mainland China is moonshot-cn.mjs.

import { moonshot } from './lib/moonshot.mjs'
import { run } from './lib/run.mjs'

run(moonshot('https://api.moonshot.ai'))
