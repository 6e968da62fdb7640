import { POLICY } from '../../src/events/policy-key.ts'
import type { World } from '../../src/policy/pool/choose.ts'
import { type Config, parseConfig } from '../../src/policy/config.ts'
import { decideRequest, type RequestContext } from '../../src/policy/pool/request.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { nsPerCall, sig } from './time.ts'

const NOW = Date.UTC(2026, 5, 1)
const SESSIONS = 10_000

function deployment(pools: number, routes: number): Config {
  return parseConfig({
    pools: Object.fromEntries(Array.from({ length: pools }, (_none, pool) => [
      `pool-${pool}`, { routes: Array.from({ length: routes }, (_none2, route) => ({ provider: `p${pool * routes + route}`, model: `m${route}` })) },
    ])),
  })
}

const worldOf = (marked: number): World => ({
  now: NOW, readings: {},
  // Every other provider, so that most routes of most pools are looked at.
  marks: Object.fromEntries(Array.from({ length: marked }, (_none, index) => [`p${index * 2}`, {
    provider: `p${index * 2}`, at: NOW - 1_000, until: NOW + 3_600_000, rule: 'spent', message: 'Insufficient Balance',
  }])),
})

/** Live sessions, each in a pool of its own choice and on some route of it. */
function live(count: number, pools: number, routes: number, world: World): RequestContext[] {
  return Array.from({ length: count }, (_none, index) => {
    const pool = index % pools
    const route = Math.floor(index / pools) % routes
    const base = { provider: `p${pool * routes + route}`, model: `m${route}` }
    const state = foldSession([
      { type: 'command/run', seq: 0, time: NOW, data: { commandId: 'c', name: 'quota-pool', args: `pool-${pool}`, source: { kind: 'plugin', plugin: POLICY } } },
      { type: 'command/done', seq: 1, time: NOW, data: { commandId: 'c', kind: 'success' } },
      // A request that obeyed it.
      { type: 'llm/retry-started', seq: 2, time: NOW, data: { turn: 1, step: 1, retryId: 'r', retry: 1 } },
      { type: 'request/header', seq: 3, time: NOW, data: { header: { config: base } } },
      { type: 'assistant/message', seq: 4, time: NOW, data: { turn: 1, step: 1, message: {} } },
    ])
    return { base, state, world }
  })
}

/** Deciding where a request goes: a large deployment against the smallest one. */
export function benchDecide(): Record<string, number> {
  const [large, small] = [deployment(8, 16), deployment(1, 1)]
  const sessions = live(SESSIONS, 8, 16, worldOf(64))
  const [alone] = live(1, 1, 1, worldOf(0)) as [RequestContext]
  let moved = 0
  const run = (contexts: readonly RequestContext[], config: Config) => (count: number): void => {
    for (let index = 0; index < count; index += 1) if (decideRequest(contexts[index % contexts.length]!, config).why.kind === 'marked') moved += 1
  }
  const ns = nsPerCall({ large: run(sessions, large), small: run([alone], small) }, 50_000, 5)
  return { largeNs: sig(ns.large), smallNs: sig(ns.small), ratio: sig(ns.large / ns.small), movedShare: sig(moved / (6 * 50_000)) }
}
