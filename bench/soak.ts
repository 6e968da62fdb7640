/**
 * A soak: a thousand sessions over simulated weeks, with outages of their providers, kills and stops of the host, steps
 * of the clock and faults of the storage, all by one seed. The whole plugin runs, in as much of a host as it touches.
 *
 *   pnpm bench soak [--seed 1] [--weeks 3] [--sessions 1000]
 */
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { foldInbox } from '../src/reducers/inbox.ts'
import { foldSession } from '../src/reducers/session.ts'
import { type ConfigInput, parseConfig } from '../src/policy/config.ts'
import { heldWait } from '../src/policy/resume.ts'
import { retrySnapshot } from '../src/projections/snapshot.ts'
import { seeded } from './sim/random.ts'
import { SoakClock } from './soak/clock.ts'
import { Disk } from './soak/disk.ts'
import { SoakHost } from './soak/host.ts'
import { table } from './table.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 5)
const PROVIDERS = ['p0', 'p1', 'p2', 'p3']
const CONFIG: ConfigInput = {
  pools: { one: { routes: [{ provider: 'p0', model: 'm' }, { provider: 'p2', model: 'm' }] }, two: { routes: [{ provider: 'p1', model: 'm' }, { provider: 'p3', model: 'm' }] } },
  resumeConcurrency: 16,
}

/** What a soak found. */
export interface SoakFigures {
  readonly seed: number
  readonly sessions: number
  readonly days: number
  readonly kills: number
  readonly stops: number
  readonly clockSteps: number
  readonly storageFaults: number
  readonly outages: number
  readonly requests: number
  readonly refusals: number
  readonly messages: number
  readonly waits: number
  readonly continuations: number
  readonly logMegabytes: number
  readonly journalKilobytes: number
  /** Heap in use after each quarter, in MB. */
  readonly heapMegabytes: readonly number[]
  /** Sessions whose live state is not that of a fresh replay. */
  readonly different: number
  /** Sessions that still wait when every provider answers. */
  readonly stuck: number
  /** Sessions whose wait the index never got, since their host was killed while the storage was failing: nobody wakes those. */
  readonly unindexed: number
  /** Messages that stand in a conversation more than once. */
  readonly twice: number
  /** Continuations of a turn that was not cut off, or second ones. */
  readonly uncalled: number
}

const collect = (): void => {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

/** The world of a soak: what happens to its host. */
class Soak {
  readonly clock = new SoakClock(START)
  readonly disk = new Disk(this.clock)
  readonly counts = { kills: 0, stops: 0, clockSteps: 0, storageFaults: 0, outages: 0, requests: 0, refusals: 0, messages: 0 }
  readonly heap: number[] = []
  host!: SoakHost
  /** Sessions that waited at a kill without standing in the stored index. */
  readonly unindexed = new Set<string>()
  /** Sessions that were stopped and not spoken to since: where a kill took the end of the log, the index still knows it. */
  readonly stopped = new Set<string>()
  private readonly random: () => number
  private readonly sessions: number
  private readonly spentUntil = new Map<string, number>()
  private over = false
  private restarting = false

  constructor(seed: number, sessions: number) {
    this.random = seeded(seed)
    this.sessions = sessions
  }

  async run(days: number): Promise<void> {
    this.boot()
    void this.people()
    for (const provider of PROVIDERS) void this.outages(provider)
    void this.restarts()
    void this.steps()
    void this.faults()
    for (let quarter = 1; quarter <= 4; quarter += 1) {
      await this.until(START + quarter * days * DAY / 4)
      collect()
      this.heap.push(Math.round(process.memoryUsage().heapUsed / 1e5) / 10)
    }
    await this.settle()
  }

  /** Everything is well from now on; who speaks last to a session that nobody was to wake gets an answer, too. */
  private async settle(): Promise<void> {
    this.over = true
    this.spentUntil.clear()
    this.disk.mend()
    await this.until(this.clock.elapsed + 2 * DAY)
    for (const id of this.disk.logs.keys()) {
      const agent = this.host.open(id)
      if (agent.status === 'idle' && agent.pending > 0) agent.followup(this.message())
    }
    await this.until(this.clock.elapsed + DAY)
  }

  private async until(at: number): Promise<void> {
    let due = false
    this.clock.after(() => { due = true }, at - this.clock.elapsed)
    await this.clock.run(() => due)
  }

  private boot(): void {
    this.host = new SoakHost({
      disk: this.disk, clock: this.clock, random: this.random, config: CONFIG,
      provider: { ask: async (provider) => {
        this.counts.requests += 1
        await this.clock.sleep(500 + 4_000 * this.random())
        if ((this.spentUntil.get(provider) ?? 0) <= this.clock.elapsed) return undefined
        this.counts.refusals += 1
        return { code: 'QUOTA', message: '402: Insufficient Balance', status: 402 }
      } },
    })
  }

  private message(): { id: string; role: 'user'; source: object; content: object[] } {
    this.counts.messages += 1
    return { id: `m${this.counts.messages}`, role: 'user', source: { kind: 'user' }, content: [{ type: 'text', text: 'work' }] }
  }

  /** Some time with a given mean. */
  private async about(ms: number): Promise<boolean> {
    await this.clock.sleep(-ms * Math.log(1 - this.random()))
    return !this.over
  }

  /** Messages, a look ahead of time now and then, and a run that is stopped. */
  private async people(): Promise<void> {
    while (await this.about(4 * HOUR / this.sessions)) {
      if (this.restarting) continue
      const id = `s${Math.floor(this.random() * this.sessions)}`
      const agent = this.host.open(id)
      const chance = this.random()
      if (chance < 0.02) {
        agent.cancel()
        this.stopped.add(id)
      } else if (chance < 0.04) this.host.service().retryNow(agent.session as never)
      else {
        agent.followup(this.message())
        this.stopped.delete(id)
      }
    }
  }

  private async outages(provider: string): Promise<void> {
    while (await this.about(10 * HOUR)) {
      this.counts.outages += 1
      this.spentUntil.set(provider, this.clock.elapsed + (0.2 + 8 * this.random()) * HOUR)
    }
  }

  private async restarts(): Promise<void> {
    while (await this.about(8 * HOUR)) {
      this.restarting = true
      if (this.random() < 0.7) {
        this.counts.kills += 1
        this.host.kill()
        for (const log of this.disk.logs.values()) log.cut(this.random)
        if (this.disk.fault !== 'none') this.noteUnindexed()
      } else {
        this.counts.stops += 1
        await this.host.stop()
      }
      await this.clock.sleep(this.random() < 0.5 ? 2_000 : 2 * HOUR * this.random())
      this.boot()
      this.restarting = false
    }
  }

  private noteUnindexed(): void {
    const indexed = this.disk.waiting()
    for (const [id, log] of this.disk.logs) if (!indexed.has(id) && heldWait(foldSession(log.read())) !== undefined) this.unindexed.add(id)
  }

  private async steps(): Promise<void> {
    while (await this.about(3 * DAY)) {
      this.counts.clockSteps += 1
      this.clock.step((this.random() - 0.4) * 3 * HOUR)
    }
  }

  private async faults(): Promise<void> {
    while (await this.about(2 * DAY)) {
      this.counts.storageFaults += 1
      this.disk.fault = this.random() < 0.5 ? 'fails' : 'hangs'
      await this.clock.sleep(2 * HOUR * this.random())
      this.disk.mend()
    }
  }
}

interface Judged { different: number; stuck: number; unindexed: number; twice: number; uncalled: number; waits: number; continuations: number }

const isCut = ({ kind, reason }: any): boolean => kind === 'interrupted' || reason?.kind === 'disposed' || kind === 'error'

/** What is left in the end, session by session. */
function judge({ disk, host, stopped, unindexed }: Soak): Judged {
  const found: Judged = { different: 0, stuck: 0, unindexed: 0, twice: 0, uncalled: 0, waits: 0, continuations: 0 }
  for (const [id, log] of disk.logs) {
    const events = log.read()
    const { session, status } = host.open(id)
    const replayed = foldSession([session.header, ...session.events])
    const live = host.service().stateOf(session as never)
    if (JSON.stringify(live) !== JSON.stringify(retrySnapshot(replayed, parseConfig(CONFIG)))) found.different += 1
    const { pending } = foldInbox(events)
    const waits = replayed.entries.open?.cutOff != null && !stopped.has(id)
    if (status === 'running' || waits || pending['next-turn'].length + pending['next-step'].length > 0) found[unindexed.has(id) ? 'unindexed' : 'stuck'] += 1
    const entered = events.filter(({ type }) => type === 'user/message').map(({ data }) => data.id)
    found.twice += entered.length - new Set(entered).size
    found.waits += events.filter(({ type }) => type === 'llm/retry').length
    judgeContinuations(events, found)
  }
  return found
}

function judgeContinuations(events: readonly any[], found: Judged): void {
  let turn = 0
  let lastWasCut = false
  let said = 0
  for (const { type, data } of events) {
    if (type === 'turn/start') {
      turn = data.turn
      said = 0
    }
    if (type === 'user/message' && data.source.kind === 'plugin') {
      found.continuations += 1
      said += 1
      if (said > 1 || !lastWasCut) found.uncalled += 1
    }
    if (type === 'turn/end' && data.turn === turn) lastWasCut = isCut(data.reason)
  }
}

function rowsOf(figures: SoakFigures): string[][] {
  const { heapMegabytes, different, stuck, unindexed, twice, uncalled } = figures
  return [
    ['what', 'how much'],
    ['sessions, simulated days', `${figures.sessions}, ${figures.days}`],
    ['outages; kills and stops of the host', `${figures.outages}; ${figures.kills} and ${figures.stops}`],
    ['clock steps, storage faults', `${figures.clockSteps}, ${figures.storageFaults}`],
    ['messages, requests, refusals', `${figures.messages}, ${figures.requests}, ${figures.refusals}`],
    ['waits and moves, continuations', `${figures.waits}, ${figures.continuations}`],
    ['logs, journal', `${figures.logMegabytes} MB, ${figures.journalKilobytes} KB`],
    ['heap after each quarter', `${heapMegabytes.join(', ')} MB`],
    ['live state that differs from a replay', String(different)],
    ['sessions stuck', String(stuck)],
    ['killed while no storage took their wait', String(unindexed)],
    ['messages sent twice', String(twice)],
    ['continuations that nothing called for', String(uncalled)],
  ]
}

/**
 * Run the soak.
 *
 * @param print - takes the lines of the table.
 * @returns every figure.
 * @throws when a promise did not hold.
 */
export async function benchSoak(print: (line: string) => void): Promise<SoakFigures> {
  const { values } = parseArgs({ options: { seed: { type: 'string' }, weeks: { type: 'string' }, sessions: { type: 'string' } }, strict: false, allowPositionals: true })
  const [seed, weeks, sessions] = [Number(values['seed'] ?? 1), Number(values['weeks'] ?? 3), Number(values['sessions'] ?? 1_000)]
  const soak = new Soak(seed, sessions)
  await soak.run(weeks * 7)
  const figures: SoakFigures = {
    seed, sessions, days: weeks * 7, ...soak.counts, ...judge(soak),
    logMegabytes: Math.round(soak.disk.logBytes / 1e5) / 10, journalKilobytes: Math.round(soak.disk.journalBytes / 100) / 10, heapMegabytes: soak.heap,
  }
  print(table(rowsOf(figures)))
  const { different, stuck, twice, uncalled } = figures
  if (different + stuck + twice + uncalled > 0) throw new Error(`the soak of seed ${seed} broke a promise: ${JSON.stringify({ different, stuck, twice, uncalled })}`)
  return figures
}

// Alone, too, for as long as nobody names it.
if (process.argv[1]?.endsWith('soak.ts') === true) {
  const figures = await benchSoak((line) => { console.log(line) })
  console.log(JSON.stringify({ soak: figures }))
}
