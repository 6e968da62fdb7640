// Follows the vendor's own client, plugin glm-plan-usage described in "用量查询插件", https://docs.bigmodel.cn/cn/coding-plan/extension/usage-query-plugin (2026-11)
//
// GET /api/monitor/usage/quota/limit, key without a scheme. remaining is the percentage left of the
// tightest window of a personal GLM Coding Plan; a team plan needs headers this script does not send.

import { glm } from './lib/glm.mjs'
import { run } from './lib/run.mjs'

run(glm({ keyEnv: 'ZHIPUAI_API_KEY', baseUrl: 'https://open.bigmodel.cn', baseUrlEnv: 'ZHIPUAI_BASE_URL' }))
