import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { moveKey, waitKey } from '../../src/events/policy-key.ts'
import { Checks } from '../../src/host/invariant.ts'
import { quotaRetryFacts } from '../../src/projections/facts.ts'
import { retrySnapshot } from '../../src/projections/snapshot.ts'
import { foldSession, initialState } from '../../src/reducers/session.ts'
import { eventsOf, fakeTime, pass, type Rig, rig, say, settle, spent, until, user } from '../support/rig.ts'

const HOUR = 3_600_000
const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'n' }
const DEPLOYMENT = { defaultEnabled: true, pools: {}, resumeOnStart: true, transient: { enabled: true } } as const
const FAILURE = { code: 'QUOTA', message: 'Insufficient Balance' }

let host: Rig
beforeEach(() => { fakeTime() })
afterEach(async () => {
  await host.dispose()
  vi.useRealTimers()
})

/** A record of ours, as the plugin would write it if it had a fault. */
const planned = (more: object = {}) => ({
  retryId: 'r1', turn: 1, step: 1, provider: 'a', mode: 'always', policyKey: waitKey({ intervalMs: HOUR, cause: 'interval' }), retry: 1, delayMs: HOUR, failure: FAILURE, ...more,
})
const move = (pool: string, to: { provider: string; model: string }, more: object = {}) =>
  planned({ retryId: 'm1', delayMs: 0, policyKey: moveKey(pool, to.provider, to.model), ...more })

/** A session in an open step whose request was refused, written by hand; the loop has no part in it. */
async function refused(config: object = {}, more: object = {}): Promise<any> {
  host = await rig({ script: () => spent(), config, retryInvariant: false, ...more })
  const { session } = await host.start()
  session.append('turn/start', { turn: 1 })
  session.append('step/start', { turn: 1, step: 1 })
  session.append('request/header', { header: { config: A, system: '', tools: [] }, reason: 'initial' })
  session.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'finish', reason: { kind: 'error', failure: FAILURE } } })
  return session
}

/** What the companions say of a record; ours is taken out, so that the rig does not fail on it. */
function objection(append: () => unknown): string {
  try {
    append()
  } catch (error) {
    host.violations.splice(0)
    return String(error)
  }
  return 'none'
}

const OURS = 'invariant violated by "dsh-llm-quota-retry": '

describe('a record that breaks its promise is vetoed', () => {
  it.each([
    ['a wait in another step', { step: 2 }, 'a wait names turn 1/step 2, but the open step is turn 1/step 1'],
    ['a wait in another turn', { turn: 2 }, 'a wait names turn 2/step 1, but the open step is turn 1/step 1'],
    ['a move in another step', move('p', B, { step: 2 }), 'a move to b/n names turn 1/step 2, but the open step is turn 1/step 1'],
    ['a move that is far off', move('p', B, { delayMs: 700_000 }), 'a move to b/n must be due as soon as its turn on the route comes, but is delayed by 700000 ms'],
    ['a move out of its pool', move('p', { provider: 'c', model: 'o' }), 'a move to c/o leaves its pool "p", which has no such route'],
  ])('%s', async (_name, more, sentence) => {
    const session = await refused({ pools: { p: { routes: [A, B] } } })
    const before = session.events.length
    expect(objection(() => session.append('llm/retry', planned(more)))).toContain(OURS + sentence)
    expect(session.events).toHaveLength(before)
  })

  it('a wait outside of a step', async () => {
    const session = await refused()
    session.append('step/end', { turn: 1, step: 1 })
    expect(objection(() => session.append('llm/retry', planned()))).toContain('must stand in an open turn and step')
  })

  it('a started record that pairs no planned one, or one twice, or one of another step', async () => {
    const session = await refused()
    session.append('llm/retry', planned())
    const start = (more: object = {}) => objection(() => session.append('llm/retry-started', { retryId: 'r1', retry: 1, turn: 1, step: 1, ...more }))
    expect(start({ retry: 2 })).toContain('attempt 2 of "r1" was never planned')
    expect(start({ step: 2 })).toContain('names turn 1/step 2, but its planned one stands in turn 1/step 1')
    expect(start()).toBe('none')
    expect(start()).toContain('repeats attempt 1 of "r1"')
  })

  it('a move that no request follows, while the step goes on', async () => {
    const session = await refused()
    session.append('llm/retry', move('a pool that nobody knows any more', B))
    session.append('llm/retry-started', { retryId: 'm1', retry: 1, turn: 1, step: 1 })
    expect(objection(() => session.append('llm/retry', planned()))).toContain('a move to b/n is followed by no request header, but the step goes on on a/m')
    session.append('step/end', { turn: 1, step: 1 })
    expect(objection(() => session.append('turn/end', { turn: 1, reason: { kind: 'completed' } }))).toBe('none')
  })

  it('in a log that is loaded: the session does not come up', async () => {
    host = await rig({ script: () => spent(), retryInvariant: false, loadsLater: false })
    const seed = [{ type: 'turn/start', seq: 0, time: 1, data: { turn: 1 } }, { type: 'step/start', seq: 1, time: 1, data: { turn: 1, step: 1 } }, { type: 'llm/retry', seq: 2, time: 1, data: planned({ step: 3 }) }]
    expect(objection(() => host.ctx.sessions.create('loaded', { seed }))).toContain('turn 1/step 3')
  })
})

describe('a turn that waits three thousand times', () => {
  it('is checked to its end, with a few hundred bytes held of it', async () => {
    const session = await refused()
    const objections: string[] = []
    const checks = new Checks({ get: () => undefined } as any, ((message: string) => { objections.push(message) }) as any)
    checks.open(session)
    const feed = (type: string, data: object): void => {
      const event = { type, seq: 0, time: 1, data } as any
      checks.before(session, event)
      checks.after(session, event)
    }
    for (let retry = 1; retry <= 3_000; retry += 1) {
      feed('llm/retry', planned({ retry }))
      feed('llm/retry-started', { retryId: 'r1', retry, turn: 1, step: 1 })
    }
    expect(checks.trace(session).state.entries.open?.attempts).toBe(3_000)
    expect([...checks.trace(session).chains.values()]).toEqual([{ turn: 1, step: 1, last: 3_000, started: 3_000 }])
    // Many chains, as with many causes and providers.
    for (let chain = 0; chain < 3_000; chain += 1) feed('llm/retry', planned({ retryId: `c${chain}`, retry: 1 }))
    expect(checks.trace(session).chains.size).toBe(256)
    expect(objections).toEqual([])
    feed('llm/retry-started', { retryId: 'c2999', retry: 2, turn: 1, step: 1 })
    expect(objections).toEqual([expect.stringContaining('attempt 2 of "c2999" was never planned')])
  })

  it('lays what follows from an event ready for that event alone', async () => {
    const session = await refused()
    const checks = new Checks({ get: () => undefined } as any, (() => {}) as any)
    const before = checks.trace(session)
    const vetoed = { type: 'llm/retry', seq: 0, time: 1, data: planned() } as any
    checks.before(session, vetoed)
    const next = { type: 'step/end', seq: 0, time: 1, data: { turn: 1, step: 1 } } as any
    checks.before(session, next)
    checks.after(session, vetoed)
    expect(checks.trace(session)).toBe(before)
  })
})

describe('what the plugin says', () => {
  async function waiting(): Promise<any> {
    host = await rig({ script: (_request, index) => index === 0 ? spent() : say('hi') })
    const agent = await host.start()
    agent.followup(user('work'))
    await until(() => eventsOf(agent, 'llm/retry').length === 1, 'the wait')
    await settle()
    return agent
  }

  it('is what the log says, through a wait and its end', async () => {
    const agent = await waiting()
    await pass(HOUR)
    await agent.whenIdle()
    expect(host.announced.map(({ name }) => name)).toEqual(['entered', 'left'])
    expect(host.violations).toEqual([])
  })

  it('of a session may not differ from a fold of its log', async () => {
    // A service that missed what happened since it started.
    const late = { facts: () => quotaRetryFacts(initialState, DEPLOYMENT), stateOf: () => undefined, report: () => ({ pools: [] }) }
    const session = await refused({}, { plugin: false, after: (ctx: any) => ctx.provide('llmQuotaRetry', late) })
    session.append('llm/retry', planned())
    expect(objection(() => session.append('llm/retry-started', { retryId: 'r1', retry: 1, turn: 1, step: 1 })))
      .toMatch(/the service and the fold of its log disagree on session s1: wait is null and should be \{/)
  })

  it('counts the attempts of an entry as its records do', async () => {
    const facts = ({ events }: any) => quotaRetryFacts(foldSession(events), DEPLOYMENT)
    const miscounting = { facts, stateOf: ({ events }: any) => events.at(-1)?.type !== 'llm/retry' ? undefined : { ...retrySnapshot(foldSession(events), DEPLOYMENT), attempts: 5 }, report: () => ({ pools: [] }) }
    const session = await refused({}, { plugin: false, after: (ctx: any) => ctx.provide('llmQuotaRetry', miscounting) })
    session.append('llm/retry', planned())
    expect(objection(() => session.append('llm/retry-started', { retryId: 'r1', retry: 1, turn: 1, step: 1 })))
      .toMatch(/disagree on the entry of session s1: attempts is 5 and should be 1$/)
  })

  it.each([
    ['entered twice', 'entered', {}, '"entered" is announced twice for session s1 without a "left" in between'],
    ['left with another count', 'left', { attempts: 7, reason: 'recovered' }, '"left" of session s1 says recovered after 7 attempts, but its log says disabled after 1'],
  ])('%s', async (_name, event, more, sentence) => {
    const agent = await waiting()
    const { enteredAt } = host.announced[0]!.payload
    if (event === 'left') {
      // The real announcement is held back, as by a fault, so that the false one is the first.
      const emit = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => {})
      host.ctx.llmQuotaRetry.setEnabled(agent.session, false)
      emit.mockRestore()
    }
    expect(objection(() => host.ctx.emit(`llm-quota-retry/${event}`, { session: agent.session, enteredAt, ...more }))).toContain(sentence)
  })

  it('left without entered, and of an entry that the log does not have', async () => {
    const agent = await waiting()
    const tell = (event: string, enteredAt: number) => objection(() => host.ctx.emit(`llm-quota-retry/${event}`, { session: agent.session, enteredAt, attempts: 1, reason: 'recovered' }))
    expect(tell('left', 5)).toContain('"left" of session s1 is of an entry at 5, which its log does not have')
    expect(tell('left', 5)).toContain('"left" is announced for session s1 without an "entered" before it')
  })

  it('is held to the log also where the plugin is not there', async () => {
    host = await rig({ script: () => say('hi'), plugin: false })
    const agent = await host.start()
    agent.followup(user('work'))
    await agent.whenIdle()
    expect(host.violations).toEqual([])
  })
})
