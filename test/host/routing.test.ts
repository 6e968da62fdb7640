/** Where a request goes before anybody refused it, and what a host or a person has against it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf, type Rig, rig, say, spent, user } from '../support/rig.ts'

const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'n' }
const C = { provider: 'c', model: 'o' }
const three = { medium: { routes: [A, B, C] } }

let host: Rig
let out: Set<string>
beforeEach(() => { out = new Set(['a']) })
afterEach(async () => { await host.dispose() })

const script = (request: { provider: string }) => out.has(request.provider) ? spent(`${request.provider} has insufficient balance`) : say('hi')
const outcomes = (agent: any): string[] => eventsOf(agent, 'turn/end').map(event => event.data.reason.kind)
const ask = async (agent: any, text = 'work'): Promise<void> => {
  agent.followup(user(text))
  await agent.whenIdle()
}

describe('a request that leaves a marked provider before it is sent', () => {
  it('is not sent to a provider that the host does not know', async () => {
    host = await rig({ script, providers: ['a', 'c'], config: { pools: three } })
    await ask(await host.start('one'))
    const two = await host.start('two')
    await ask(two)
    expect(outcomes(two)).toEqual(['completed'])
    expect(host.adapter.routes).toEqual(['a/m', 'c/o', 'c/o'])
  })

  it('is not sent with an effort that the model does not have', async () => {
    host = await rig({ script, providers: ['a', 'b', 'c'], config: { pools: { medium: { routes: [A, { ...B, reasoningEffort: 'absurd' }, C] } } } })
    await ask(await host.start('one'))
    const two = await host.start('two')
    await ask(two)
    expect(outcomes(two)).toEqual(['completed'])
    expect(host.adapter.routes).toEqual(['a/m', 'c/o', 'c/o'])
  })

  it('stays where it is when the host knows no other, and is refused there as ever', async () => {
    host = await rig({ script, providers: ['a'], config: { pools: three } })
    const one = await host.start('one')
    await host.command(one, '/quota-retry off')
    await ask(one)
    const two = await host.start('two')
    await host.command(two, '/quota-pool medium')
    out.clear()
    await ask(two)
    expect(outcomes(two)).toEqual(['completed'])
    expect(host.adapter.routes).toEqual(['a/m', 'a/m'])
  })
})

describe('a session that is put in a pool', () => {
  it('does not start on a route that the host does not know', async () => {
    out.clear()
    host = await rig({ script, providers: ['b', 'c'], config: { pools: three } })
    const agent = await host.start('s', { provider: 'c', model: 'elsewhere' })
    await host.command(agent, '/quota-pool medium')
    await ask(agent)
    expect(outcomes(agent)).toEqual(['completed'])
    expect(host.adapter.routes).toEqual(['b/n'])
    const { result } = await host.command(agent, '/quota-routes')
    expect(result.text.match(/this host would not send to it|not fit for a session/g)).toHaveLength(1)
  })

  it('goes there with its next request also when it was in the middle of one', async () => {
    out.clear()
    let release = (): void => {}
    const held = new Promise<void>((resolve) => { release = resolve })
    let asked = (): void => {}
    const arrived = new Promise<void>((resolve) => { asked = resolve })
    host = await rig({
      script: async function * (_request: unknown, index: number) {
        if (index === 0) {
          asked()
          await held
        }
        yield * say('hi')
      } as never,
      providers: ['a', 'b', 'c'], config: { pools: three },
    })
    const agent = await host.start('s', { provider: 'c', model: 'elsewhere' })
    agent.followup(user('work'))
    await arrived
    await host.command(agent, '/quota-pool medium')
    release()
    await agent.whenIdle()
    await ask(agent, 'more')
    expect(host.adapter.routes).toEqual(['c/elsewhere', 'a/m'])
  })

  it('leaves the report of what could not serve complete, however often it is met', async () => {
    const D = { provider: 'd', model: 'p' }
    host = await rig({ script, providers: ['a', 'd'], config: { pools: { medium: { routes: [A, B, D] }, large: { routes: [C, D] } } } })
    const first = await host.start('first', D)
    await host.command(first, '/quota-pool large')
    await ask(first)
    for (let index = 0; index < 60; index += 1) await ask(await host.start(`s${index}`))
    const unfit = host.ctx.llmQuotaRetry.report().pools.map((pool: any) => pool.routes.map((route: any) => route.unfit?.route))
    expect(unfit).toEqual([[undefined, B, undefined], [C, undefined]])
  })
})

describe('a model that the person picks', () => {
  let selected: object
  const picking = { before: async (ctx: any) => { ctx.on('agent/request', async (_payload: unknown, next: () => Promise<object>) => ({ ...await next(), ...selected })) } }

  it('before a session is put in a pool gives way to the pool, and one picked after it wins', async () => {
    out.clear()
    selected = { provider: 'c', model: 'elsewhere' }
    host = await rig({ script, providers: ['a', 'b', 'c'], config: { pools: three }, ...picking })
    const agent = await host.start()
    await ask(agent)
    await host.command(agent, '/quota-pool medium')
    await ask(agent)
    await ask(agent)
    selected = { provider: 'c', model: 'another' }
    await ask(agent)
    await ask(agent)
    expect(host.adapter.routes).toEqual(['c/elsewhere', 'a/m', 'a/m', 'c/another', 'c/another'])
  })

  it('is moved off again when it refuses, and the next pick wins again', async () => {
    selected = A
    host = await rig({ script, providers: ['a', 'b', 'c'], config: { pools: three }, ...picking })
    const agent = await host.start()
    await ask(agent)
    expect(host.adapter.routes).toEqual(['a/m', 'b/n'])
    selected = C
    await ask(agent)
    selected = A
    await ask(agent)
    expect(host.adapter.routes.slice(2)).toEqual(['c/o', 'a/m', 'b/n'])
    await ask(agent)
    expect(host.adapter.routes.slice(5)).toEqual(['b/n'])
  })
})
