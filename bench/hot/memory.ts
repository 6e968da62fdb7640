import { randomUUID } from 'node:crypto'
import { setImmediate as settled } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { waitKey } from '../../src/events/policy-key.ts'
import { SimClock } from '../sim/clock.ts'
import { SimHost } from '../sim/host.ts'
import { type Account, SimProvider } from '../sim/provider.ts'

const SESSIONS = 10_000
const HOUR = 3_600_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is in use after everything that can go has gone: some things take a turn of the loop to be let go of. */
async function heap(): Promise<number> {
  for (let turn = 0; turn < 3; turn += 1) {
    await settled()
    collect()
  }
  return process.memoryUsage().heapUsed
}

const account: Account = {
  goneAt: Date.UTC(2026, 5, 1), backAt: Date.UTC(2027, 5, 1),
  refusal: () => ({ code: 'QUOTA', status: 402, message: '402: Insufficient Balance' }),
}

/**
 * How much of the plugin is there: nothing; its folds, switched off; those and the record of a wait in each log, though
 * nobody waits; everything.
 */
type Stage = 'none' | 'folds' | 'records' | 'waits'

/** Ten thousand sessions, each refused once. Where nobody waits they stand still all the same. */
async function weigh(stage: Stage): Promise<{ bytes: number; timers: number; keep: unknown }> {
  const clock = new SimClock(account.goneAt - 60_000)
  const random = (): number => 0.5
  const host = new SimHost({
    clock, provider: new SimProvider(account, random), random, parked: true,
    config: { defaultEnabled: stage === 'waits' }, plugin: stage !== 'none',
  })
  const before = await heap()
  for (let index = 0; index < SESSIONS; index += 1) void host.session(index, { sentAt: account.goneAt - 10_000, outAt: account.goneAt + index })
  await clock.run(() => false, account.goneAt + HOUR / 2)
  if (stage === 'records') {
    for (const session of host.sessions.values()) {
      session.append('llm/retry', {
        retryId: randomUUID(), turn: 1, step: 2, provider: 'a', mode: 'always', policyKey: waitKey({ intervalMs: HOUR, cause: 'shared' }),
        retry: 1, delayMs: HOUR, failure: account.refusal(0),
      })
    }
  }
  return { bytes: await heap() - before, timers: clock.pending, keep: host }
}

/**
 * What one more session costs: in a host without the plugin, what its folded log adds, what the record of a wait adds
 * to both, and what the wait itself holds: its place at the gate, the alarms, and all that will end it.
 */
export async function benchMemory(): Promise<Record<string, number>> {
  // Code is compiled and shapes are learnt before anything is weighed.
  await weigh('waits')
  const [none, folds, records, waits] = [await weigh('none'), await weigh('folds'), await weigh('records'), await weigh('waits')]
  const each = (bytes: number): number => Math.round(bytes / SESSIONS)
  return {
    sessions: SESSIONS, waitBytes: each(waits.bytes - records.bytes), recordBytes: each(records.bytes - folds.bytes),
    foldBytes: each(folds.bytes - none.bytes), hostBytes: each(none.bytes), timers: waits.timers,
  }
}
