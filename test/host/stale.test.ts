/** Answers that were on their way when the allowance was spent, on the real loop. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventsOf, fakeTime, pass, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'n' }
let host: Rig
/** Lets the answer that is on its way come to its end. */
let finish: () => void

beforeEach(() => { fakeTime() })
afterEach(async () => {
  await host.dispose()
  vi.useRealTimers()
})

const retries = (agent: any): any[] => eventsOf(agent, 'llm/retry')

/** One session is being answered while the others are refused. */
async function world(others: number, config: object = {}) {
  const end = new Promise<void>((resolve) => { finish = resolve })
  async function * slowly() {
    const [first, ...rest] = say('a long answer')
    yield first!
    await end
    yield * rest
  }
  host = await rig({ script: (request, index) => index === 0 ? slowly() : request.provider === 'a' ? spent('a is out of credits') : say('hi'), config })
  const streaming = await host.start('streaming')
  streaming.followup(user('work'))
  await until(() => host.adapter.requests.length === 1, 'the answer begins')
  await pass(1_000)
  const refused: any[] = []
  for (let index = 0; index < others; index += 1) {
    const agent = await host.start(`s${index}`)
    agent.followup(user('work'))
    await until(() => retries(agent).length === 1, 'the refusal')
    refused.push(agent)
  }
  return { streaming, refused }
}

describe('an answer that began before the allowance was spent', () => {
  it('sends none of those who wait to ask', async () => {
    const { streaming } = await world(3)
    await pass(60_000)
    finish()
    await streaming.whenIdle()
    await pass(60_000)
    expect(host.adapter.requests).toHaveLength(4)
    await pass(HOUR)
    expect(host.adapter.requests).toHaveLength(5)
  })

  it('does not lift the mark of its provider', async () => {
    const { streaming, refused } = await world(1, { pools: { medium: { routes: [A, B] } } })
    await Promise.all(refused.map(agent => agent.whenIdle()))
    const marked = (): boolean => host.ctx.llmQuotaRetry.report().pools[0].routes[0].mark !== undefined
    expect(marked()).toBe(true)
    await pass(60_000)
    finish()
    await streaming.whenIdle()
    await settle()
    expect(marked()).toBe(true)
  })
})
