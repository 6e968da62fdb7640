/** Twenty sessions on one real web host, whose provider is out of allowance: what it is asked before and after it recovers. */
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { startWeb } from '../../demo/support/dsh.ts'
import { makeHome } from '../../demo/support/home.ts'
import { type RecordedRequest, refusals, startProvider } from '../../demo/support/provider.ts'
import { connectWeb } from '../../demo/support/web-api.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SESSIONS = 20
const INTERVAL_MS = 1_500
const stack = new AsyncDisposableStack()

afterEach(() => stack.disposeAsync())

const task = (index: number): string => `task number ${index};`
const isOf = (index: number) => ({ body }: RecordedRequest): boolean => JSON.stringify(body.messages).includes(task(index))

it('twenty sessions cost their provider one request an interval while they wait, and twenty when it is back', async () => {
  const provider = await startProvider({ name: 'a', answer: refusals.insufficientBalance })
  stack.defer(() => provider.close())
  const home = await makeHome({
    profile: 'web',
    providers: { a: { url: provider.url, models: ['m'] } },
    defaultModel: { provider: 'a', model: 'm' },
    plugin: { spec: root, config: { longTermDelayMs: INTERVAL_MS } },
  })
  stack.defer(() => home.dispose())
  const host = await startWeb(home)
  stack.defer(() => host.stop())
  const api = await connectWeb(host.url)
  stack.defer(() => { api.close() })

  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => api.createSession()))
  const ends = sessions.map((session, index) => api.ask(session, task(index)))
  await Promise.all(sessions.map(session => api.event(session, ({ type }) => type === 'llm/retry')))
  const everyFirst = sessions.map((_session, index) => provider.agentRequests().find(isOf(index)))
  /** Requests of sessions that had been refused before. */
  const attempts = (): RecordedRequest[] => provider.agentRequests().filter(request => !everyFirst.includes(request))
  // Three more attempts, all in vain.
  const before = attempts().length
  await provider.agentRequest(SESSIONS + before + 2)
  const refused = attempts()
  for (const [index, { time }] of refused.entries()) {
    if (index > 0) expect(time - refused[index - 1]!.time).toBeGreaterThanOrEqual(INTERVAL_MS)
  }
  // They take turns: of so few attempts no session makes two.
  for (const index of sessions.keys()) expect(refused.filter(isOf(index)).length).toBeLessThanOrEqual(Math.ceil(refused.length / SESSIONS))

  provider.setAnswer({ kind: 'answer', text: 'back again' })
  const outcomes = await Promise.all(ends)
  expect(outcomes.map(({ data }) => data.reason)).toEqual(sessions.map(() => ({ kind: 'completed' })))
  const after = attempts().slice(refused.length)
  // Each of them once; the one that was asked for all may have been refused a moment before.
  expect(after.length - SESSIONS).toBeGreaterThanOrEqual(0)
  expect(after.length - SESSIONS).toBeLessThanOrEqual(1)

  const logs = await Promise.all(sessions.map(session => api.events(session)))
  const causes = logs.map(events => events.filter(({ type }) => type === 'llm/retry').map(({ data }) => JSON.parse(data.policyKey)[3] ?? 'interval'))
  // By the host's own records: how long a request then takes to arrive is nobody's to say.
  const started = logs.map(events => events.findLast(({ type }) => type === 'llm/retry-started')!.time)
  for (const time of started) expect(started.filter(other => other >= time && other < time + 1_000).length).toBeLessThanOrEqual(5)
  // Whoever did not ask for all says in its log that another did, and that it followed.
  expect(causes.filter(list => list.at(-1) === 'ramp')).toHaveLength(SESSIONS - 1)
  expect(causes.filter(list => list.includes('shared')).length).toBeGreaterThanOrEqual(SESSIONS - 1)
})
