import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventsOf, fakeTime, pass, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
let host: Rig

beforeEach(() => { fakeTime() })
afterEach(async () => {
  await host.dispose()
  vi.useRealTimers()
})

describe('a session whose account is out of allowance', () => {
  it('waits in the same open step and goes on when the provider answers again', async () => {
    host = await rig({ script: (_request, index) => index < 2 ? spent() : say('done') })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => eventsOf(agent, 'llm/retry').length === 1, 'the first wait')
    expect(agent.status).toBe('running')
    await pass(HOUR)
    await until(() => eventsOf(agent, 'llm/retry').length === 2, 'the second wait')
    await pass(HOUR)
    await agent.whenIdle()
    expect(host.adapter.requests).toHaveLength(3)
    expect(eventsOf(agent, 'turn/end').map(event => event.data.reason.kind)).toEqual(['completed'])
    await settle()
    expect(host.announced.map(({ name }) => name)).toEqual(['entered', 'left'])
  })
})
