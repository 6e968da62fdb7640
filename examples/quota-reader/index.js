/**
 * A plugin that keeps a board of sessions out of allowance, and starts sessions on whichever route of a pool answers.
 *
 * Nothing is imported from dsh-llm-quota-retry: a plugin of the harness meets another through services and events, and
 * so works in whatever order the two are loaded, and goes on when one of them is loaded anew.
 */

export const name = 'quota-reader'

/** Without `llmQuotaRetry` there is nothing to read: the host activates this plugin when that one is there. */
export const inject = ['agents', 'llmQuotaRetry']

/** A route as a person reads it. */
const routeName = ({ provider, model }) => `${provider}/${model}`

/**
 * @param ctx - the row's context.
 * @param config - `pool`: the pool to start sessions on. `print`: takes each line of news; standard error when absent.
 */
export function apply(ctx, { pool, print = line => process.stderr.write(`${line}\n`) }) {
  /** The last value of each session that waits, by id: the projection, pushed at every change. */
  const board = new Map()

  // A host without projections has the same value in `ctx.llmQuotaRetry.facts(session)`.
  ctx.inject(['sessionProjections'], (inner) => {
    inner.sessionProjections.onChanged((session, key, value) => {
      if (key !== 'quotaRetry' || value.version !== 1) return
      if (value.wait === null) board.delete(session.id)
      else board.set(session.id, value.wait)
    })
  })

  ctx.on('llm-quota-retry/entered', ({ session, provider, failure, nextAttemptAt }) => {
    print(`${session.id} is out of allowance on ${provider} (${failure.code}); next check at ${new Date(nextAttemptAt).toISOString()}`)
  })
  ctx.on('llm-quota-retry/failover', ({ session, from, to }) => {
    print(`${session.id} moved from ${routeName(from)} to ${routeName(to)}`)
  })
  ctx.on('llm-quota-retry/left', ({ session, reason, durationMs, attempts }) => {
    print(`${session.id} ${reason} after ${Math.round(durationMs / 60_000)} min and ${attempts === 1 ? '1 wait' : `${attempts} waits`}`)
  })

  ctx.provide('quotaReader', {
    /** Sessions that wait: since when, until when, and what the provider said. */
    board: () => [...board].map(([session, wait]) => ({ session, ...wait })),

    /**
     * Start a session on the route of the pool that has allowance now, and keep it in that pool.
     *
     * @param sessionId - the id of the new session.
     * @returns its agent.
     */
    async start(sessionId) {
      const route = await ctx.llmQuotaRetry.pickRoute(pool)
      if (route === undefined) throw new Error(`no pool is called ${JSON.stringify(pool)}`)
      const { agent } = await ctx.agents.create({ sessionId, agentOptions: route })
      // Said once, it holds for the session's life: it stands in the session's own log.
      ctx.llmQuotaRetry.setPool(agent.session, pool)
      return agent
    },
  })
}
