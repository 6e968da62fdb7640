// Follows the vendor's own client (MiniMax-AI/cli, command "quota show") for the endpoint and open clients (farion1231/cc-switch, steipete/CodexBar) for the percentages, https://github.com/MiniMax-AI/cli (2026-11)
//
// GET /v1/token_plan/remains, Bearer Token Plan key. remaining is the percentage left of the tighter of the
// rolling and the weekly window of the language models.

import { minimax } from './lib/minimax.mjs'
import { run } from './lib/run.mjs'

run(minimax('https://api.minimax.cn'))
