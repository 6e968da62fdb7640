/** A refusal that comes as the text of an answer, and sessions that wait for a real one. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { eventsOf, fakeTime, pass, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
let host: Rig
beforeEach(() => { fakeTime() })
afterEach(async () => {
  await host.dispose()
  vi.useRealTimers()
})

it.each([
  ['a refusal\'s text', 'You\'ve hit your session limit', 1],
  ['anything else', 'The work is done.', 4],
])('%s: the one that asks for all is answered, and so many sessions go on', async (_what, text, go) => {
  let answer: () => any = () => spent()
  host = await rig({ script: () => answer(), config: {}, providers: ['a'] })
  const agents: any[] = []
  for (let index = 0; index < 4; index += 1) {
    const agent = await host.start(`s${index}`)
    agent.followup(user('work'))
    await until(() => eventsOf(agent, 'llm/retry').length === 1, 'the wait')
    agents.push(agent)
  }
  answer = () => say(text)
  await pass(HOUR)
  // Long enough for three to follow, and too short for another to be sent in the place of the one that asked.
  await pass(5_000)
  await settle()
  const ended = (): number => agents.filter(agent => eventsOf(agent, 'turn/end').length === 1).length
  expect(ended()).toBe(go)
  answer = () => say('The work is done.')
  await pass(HOUR)
  await pass(5_000)
  expect(ended()).toBe(4)
})
