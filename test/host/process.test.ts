/** The pinned host as a process, with the plugin linked into it. */
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { cancelHeadless, runHeadless, startHeadless } from '../../demo/support/dsh.ts'
import { makeHome, quickRetries } from '../../demo/support/home.ts'
import { type Answer, refusals, startProvider } from '../../demo/support/provider.ts'
import { readLog } from '../../demo/support/session-log.ts'
import { replay } from '../../src/replay.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let stack: AsyncDisposableStack

afterEach(() => stack.disposeAsync())

async function host(answer: (index: number) => Answer, config: unknown, more: object = {}) {
  stack = new AsyncDisposableStack()
  const provider = await startProvider({ name: 'a', answer: (_request, index) => answer(index) })
  stack.defer(() => provider.close())
  const home = await makeHome({
    profile: 'headless',
    providers: { a: { url: provider.url, models: ['m'], ...more } },
    defaultModel: { provider: 'a', model: 'm' },
    plugin: { spec: root, config },
  })
  stack.defer(() => home.dispose())
  return { provider, home, history: () => replay(readLog(home.sessionLogs().at(-1)!)) }
}

/** Takes away the five seconds after which a host that is told to end does so by force: what does not let go hangs. */
const patient = `data:text/javascript,${encodeURIComponent(`
  const { setTimeout: real } = globalThis
  globalThis.setTimeout = (run, ms, ...more) => ms === 5_000 ? real(run, 2_147_483_647, ...more) : real(run, ms, ...more)
`)}`

const hello: Answer = { kind: 'answer', text: 'hello' }

describe('a headless run', () => {
  it('that is cancelled in the wait ends without force and sends nothing more', async () => {
    const { provider, home, history } = await host(() => refusals.insufficientBalance, {})
    home.env['NODE_OPTIONS'] = `--import=${patient}`
    const run = startHeadless(home, 'say hello')
    await run.waitFor(/waits: a is out of allowance/)
    cancelHeadless(run)
    expect((await run.done).code).toBe(130)
    expect(provider.agentRequests()).toHaveLength(1)
    expect(history().entries).toHaveLength(1)
  })

  it('ends with the original failure when its longest wait is used up, after a last look', async () => {
    const { provider, home } = await host(() => refusals.insufficientBalance, { longTermDelayMs: 100, maxWaitMs: 250 })
    const { code, stderr } = await runHeadless(home, 'say hello')
    expect(code).toBe(1)
    expect(stderr).toContain('QUOTA')
    // How many looks fit into the longest wait is up to the machine; one there is.
    expect(provider.agentRequests().length).toBeGreaterThanOrEqual(2)
  })

  it('keeps the harness\'s own quick retries first, with the loader deciding who registers when', async () => {
    const spentAs429: Answer = refusals.tokenPlan
    const { home, history } = await host(index => index < 7 ? spentAs429 : hello, { longTermDelayMs: 50 }, { retryPolicy: quickRetries })
    const { code } = await runHeadless(home, 'say hello')
    expect(code).toBe(0)
    const planned = history().moments.map(({ fact }) => fact.type).filter(type => type === 'otherRetryPlanned' || type === 'waitPlanned')
    expect(planned.slice(0, 6)).toEqual([...Array.from({ length: 5 }, () => 'otherRetryPlanned'), 'waitPlanned'])
  })

  it.each([['an ordinary 401', refusals.unauthorized], ['an ordinary 429', refusals.rateLimited], ['an ordinary 500', refusals.serverError]])(
    'fails on %s as it would without the plugin', async (_name, refusal) => {
      const { home, history } = await host(() => refusal, {}, { retryPolicy: quickRetries })
      const { code } = await runHeadless(home, 'say hello')
      expect(code).toBe(1)
      expect(history().entries).toEqual([])
    })

  it('with a bad row does not start and says which key is wrong', async () => {
    const { home } = await host(() => hello, { longTermDelayMs: -5, longTermDelay: 7 })
    const { code, stderr, stdout } = await runHeadless(home, 'say hello')
    expect(code).not.toBe(0)
    const said = stderr + stdout
    expect(said).toContain('"longTermDelayMs" must be a number of milliseconds above 0 and up to 2147483647, got -5')
    expect(said).toContain('unknown key "longTermDelay"')
  })
})
