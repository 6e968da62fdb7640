// What the two MiniMax Token Plan endpoints share: both answer GET /v1/token_plan/remains with remaining percentages.

import { Failure, tightest, toIso, toNumber } from './run.mjs'

/** current_weekly_status of a plan that has no weekly window; its percentage is then a constant 100. */
const NO_WEEKLY_WINDOW = 3

/** @param {string} baseUrl @returns {import('./run.mjs').Provider} */
export function minimax(baseUrl) {
  return {
    keyEnv: 'MINIMAX_API_KEY',
    baseUrl,
    baseUrlEnv: 'MINIMAX_BASE_URL',
    async read({ get }) {
      const body = await get('/v1/token_plan/remains')
      // A refused key and a missing plan arrive as HTTP 200 with a status code other than 0.
      const status = toNumber(body.base_resp?.status_code)
      if (status !== undefined && status !== 0) throw new Failure(`the provider reports failure ${Math.trunc(status)} in its answer`)
      if (!Array.isArray(body.model_remains)) throw new Failure('the answer has no usable model_remains')
      // One entry per family; "general" is the language models, the others are video, speech and images.
      const entry = body.model_remains.find(item => item?.model_name === 'general')
      if (entry === undefined) throw new Failure('the answer has no entry for language models')
      const windows = [{ remaining: toNumber(entry.current_interval_remaining_percent), resetsAt: toIso(entry.end_time) }]
      if (toNumber(entry.current_weekly_status) !== NO_WEEKLY_WINDOW) {
        windows.push({ remaining: toNumber(entry.current_weekly_remaining_percent), resetsAt: toIso(entry.weekly_end_time) })
      }
      return tightest(windows)
    },
  }
}
