/** The host's own calls, for a title and a summary, on a real web host whose provider refuses just those. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWeb } from '../../demo/support/dsh.ts'
import { makeHome } from '../../demo/support/home.ts'
import { type Provider, refusals, type RequestKind, startProvider } from '../../demo/support/provider.ts'
import { connectWeb, type WebApi } from '../../demo/support/web-api.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pools = { medium: { routes: [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' }] } }
const stack = new AsyncDisposableStack()
let a: Provider
let b: Provider
let api: WebApi

beforeAll(async () => {
  a = await startProvider({ name: 'a', answer: { kind: 'answer', text: 'from a' }, auxiliary: refusals.insufficientBalance })
  b = await startProvider({ name: 'b', answer: { kind: 'answer', text: 'from b' } })
  stack.defer(async () => { await Promise.all([a.close(), b.close()]) })
  const home = await makeHome({
    profile: 'web',
    // So small a context that the host summarises by itself.
    providers: { a: { url: a.url, models: ['m', { id: 'small', contextWindow: 4_000 }] }, b: { url: b.url, models: ['n'] } },
    defaultModel: { provider: 'a', model: 'm' },
    plugin: { spec: root, config: { pools } },
  })
  stack.defer(() => home.dispose())
  const host = await startWeb(home)
  stack.defer(() => host.stop())
  api = await connectWeb(host.url)
  stack.defer(() => { api.close() })
})
afterAll(() => stack.disposeAsync())

const asked = (kind: RequestKind): number => a.requests.filter(request => request.kind === kind).length
/** Nothing of ours: no record in the log, no wait, no mark, nobody sent elsewhere. */
async function untouched(session: string): Promise<void> {
  expect((await api.events(session)).filter(({ type }) => type.startsWith('llm/retry'))).toEqual([])
  expect((await api.projections(session)).values['quotaRetry']).toMatchObject({ wait: null, lastMove: null })
  expect((await api.executeCommand(session, '/quota-routes'))?.result.text).not.toContain('out of allowance')
  expect(b.requests).toEqual([])
}

describe('a call of the host itself that is refused for a spent allowance', () => {
  it('for a title ends no turn and is not answered by us', async () => {
    const session = await api.createSession()
    expect((await api.ask(session, 'hello')).data.reason).toEqual({ kind: 'completed' })
    await expect.poll(() => asked('title')).toBe(1)
    await a.requests.find(({ kind }) => kind === 'title')!.closed
    await untouched(session)
    expect((await api.ask(session, 'and on')).data.reason).toEqual({ kind: 'completed' })
    expect(asked('title')).toBe(1)
  })

  it('for a summary that the person asked for fails that command alone', async () => {
    const session = await api.createSession()
    for (const text of ['one', 'two', 'three']) await api.ask(session, `${text} ${'words '.repeat(50)}`)
    const before = asked('compaction')
    expect(await api.executeCommand(session, '/compact')).toMatchObject({ result: { kind: 'error' } })
    expect(asked('compaction') - before).toBe(1)
    await untouched(session)
    expect((await api.ask(session, 'and on')).data.reason).toEqual({ kind: 'completed' })
  })

  it('for a summary in the middle of a run ends no turn', async () => {
    const session = await api.createSession()
    await api.selectModel(session, { provider: 'a', model: 'small' })
    const before = asked('compaction')
    for (let round = 0; round < 4; round += 1) {
      expect((await api.ask(session, 'lorem ipsum dolor '.repeat(300))).data.reason).toEqual({ kind: 'completed' })
    }
    expect(asked('compaction')).toBeGreaterThan(before)
    await untouched(session)
  })
})
