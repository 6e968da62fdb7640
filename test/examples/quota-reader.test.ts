import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventsOf, fakeTime, pass, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

const QuotaReader: any = await import(new URL('../../examples/quota-reader/index.js', import.meta.url).href)
const HOUR = 3_600_000
const pools = { medium: { routes: [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' }] } }

let host: Rig
let out: Set<string>
let news: string[]
beforeEach(async () => {
  fakeTime()
  out = new Set(['a'])
  news = []
  host = await rig({
    script: request => out.has(request.provider) ? spent() : say('hi'),
    config: { pools },
    // A row that is loaded before the plugin it reads: it begins when the service is there.
    before: async (ctx: any) => { void ctx.plugin(QuotaReader, { pool: 'medium', print: (line: string) => { news.push(line) } }) },
  })
  await settle()
})
afterEach(async () => {
  await host.dispose()
  vi.useRealTimers()
})

describe('the example plugin', () => {
  it('tells of a move, and starts the next session on the route that answers', async () => {
    const first = await host.ctx.quotaReader.start('one')
    first.followup(user('work'))
    await first.whenIdle()
    expect(news).toEqual(['one moved from a/m to b/n'])
    const second = await host.ctx.quotaReader.start('two')
    second.followup(user('work'))
    await second.whenIdle()
    expect(host.adapter.routes).toEqual(['a/m', 'b/n', 'b/n'])
    expect(host.ctx.llmQuotaRetry.facts(second.session)).toMatchObject({ pool: 'medium', poolSource: 'session' })
  })

  it('has a session on its board for as long as it waits', async () => {
    out.add('b')
    const agent = await host.ctx.quotaReader.start('one')
    agent.followup(user('work'))
    await until(() => eventsOf(agent, 'llm/retry').length === 2, 'a move and a wait')
    await settle()
    expect(host.ctx.quotaReader.board()).toMatchObject([{ session: 'one', pending: true, provider: 'b', attempts: 1, reason: 'Insufficient Balance' }])
    expect(news.at(-1)).toMatch(/^one is out of allowance on b \(QUOTA\); next check at 2026-09-01T13:00/)
    out.clear()
    await pass(HOUR)
    await agent.whenIdle()
    await settle()
    expect(host.ctx.quotaReader.board()).toEqual([])
    expect(news.slice(-2)).toEqual(['one recovered after 60 min and 1 wait', 'one moved from b/n to a/m'])
  })
})
