// What the two GLM Coding Plan endpoints share: both answer GET /api/monitor/usage/quota/limit with used percentages.

import { Failure, needObject, tightest, toIso, toNumber } from './run.mjs'

/** TIME_LIMIT counts tool calls of the plan, not model requests, so it says nothing about a route. */
const modelLimits = new Set(['TOKENS_LIMIT', 'CREDIT_LIMIT'])

/** @param {{ baseUrl: string, baseUrlEnv: string, keyEnv: string }} region @returns {import('./run.mjs').Provider} */
export function glm(region) {
  return {
    ...region,
    async read({ get }) {
      // The vendor's own client sends the key without a scheme.
      const body = await get('/api/monitor/usage/quota/limit', { raw: true })
      // A refused key arrives as HTTP 200 with success false.
      if (body.success === false) throw new Failure('the provider reports a failure in its answer')
      const { limits } = needObject(body.data, 'data')
      if (!Array.isArray(limits)) throw new Failure('the answer has no usable limits')
      return tightest(limits
        .filter(limit => modelLimits.has(String(limit?.type).toUpperCase()))
        .map(limit => {
          const used = toNumber(limit.percentage)
          return { remaining: used === undefined ? undefined : 100 - used, resetsAt: toIso(limit.nextResetTime) }
        }))
    },
  }
}
