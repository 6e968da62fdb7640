// Follows the vendor's own client, plugin glm-plan-usage described in "Usage Query Plugin", https://docs.z.ai/devpack/extension/usage-query-plugin (2026-11)
//
// GET /api/monitor/usage/quota/limit, key without a scheme. remaining is
// the percentage left of the tightest window of the GLM Coding Plan; mainland China is zhipu.mjs.

import { glm } from './lib/glm.mjs'
import { run } from './lib/run.mjs'

run(glm({ keyEnv: 'ZAI_API_KEY', baseUrl: 'https://api.z.ai', baseUrlEnv: 'ZAI_BASE_URL' }))
