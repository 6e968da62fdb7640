import { Context } from '@deepseek-ai/cordis'
import SessionStore, { SessionId } from '@deepseek-ai/dsh-session'
import SessionProjectionRegistry from '@deepseek-ai/dsh-session-projection'
import { z } from 'zod'
import { projectionUnit } from '../../src/projections/unit.ts'
import { OTHERS, plainUnit } from './evolve.ts'
import { sig } from './time.ts'

const APPENDS = 200_000
const ROUNDS = 20

/** A real session under the real registry, with the units that are given. */
async function hosted(units: readonly unknown[]): Promise<(count: number) => void> {
  const ctx: any = new Context()
  await ctx.plugin(SessionStore)
  await ctx.plugin(SessionProjectionRegistry)
  for (const unit of units) ctx.sessionProjections.register(unit)
  const session = ctx.sessions.create(SessionId('s'))
  session.append('turn/start', { turn: 1 })
  session.append('step/start', { turn: 1, step: 1 })
  let next = 0
  return (count) => {
    for (let index = 0; index < count; index += 1) {
      const { type, data } = CHUNKS[next++ % CHUNKS.length]!
      session.append(type, structuredClone(data))
    }
  }
}

/** A tool result needs a place in the transcript; a chunk needs nothing. */
const CHUNKS = OTHERS.filter(({ type }) => type === 'assistant/chunk')

const plain = (key: string): unknown => ({ ...plainUnit, key, schema: z.object({ turns: z.number() }) })

/** Appending to a real session with no unit, one plain unit (twice, for the noise), and ours. */
export async function benchProjection(): Promise<Record<string, number>> {
  const hosts = {
    none: await hosted([]), plain: await hosted([plain('plain')]), plainAgain: await hosted([plain('plain')]),
    ours: await hosted([projectionUnit({ defaultEnabled: true, pools: {}, resumeOnStart: true, transient: { enabled: true } })]),
  }
  const names = Object.keys(hosts) as (keyof typeof hosts)[]
  const rounds = Object.fromEntries(names.map(name => [name, [] as number[]])) as Record<keyof typeof hosts, number[]>
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each round begins with another, so that whoever comes after a collection is not always the same.
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(round + turn) % names.length]!
      const began = performance.now()
      hosts[name](APPENDS / ROUNDS)
      rounds[name].push((performance.now() - began) * 1e3 / (APPENDS / ROUNDS))
    }
  }
  const us = (name: keyof typeof hosts): number => rounds[name].sort((a, b) => a - b)[ROUNDS >> 1]!
  return {
    appends: APPENDS, noneUs: sig(us('none')), plainUs: sig(us('plain')), plainAgainUs: sig(us('plainAgain')), oursUs: sig(us('ours')),
    oursOverPlain: sig(us('ours') / us('plain')), plainOverPlain: sig(us('plainAgain') / us('plain')),
  }
}
