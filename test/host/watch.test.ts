import { beforeEach, describe, expect, it } from 'vitest'
import type { JournalRecord } from '../../src/events/journal.ts'
import { Scheduler } from '../../src/host/scheduler.ts'
import { Watch } from '../../src/host/pool/watch.ts'
import { parseConfig } from '../../src/policy/config.ts'
import { evolveMarks, initialMarks, type MarksState } from '../../src/reducers/marks.ts'
import { HOUR, MINUTE, SECOND } from '../support/build.ts'
import { FakeClock } from '../support/fake-clock.ts'

/** A watch over two providers, a's balance being read each minute and b's each ten seconds. */
class Bench {
  readonly clock = new FakeClock()
  readonly scheduler = new Scheduler(this.clock, (error) => { throw error })
  /** Who waits for which provider. */
  waiting: string[] = []
  readonly asked: string[] = []
  readonly refreshed: string[][] = []
  lifted: JournalRecord[] = []
  marks: MarksState = initialMarks
  refresh = async (): Promise<void> => {}
  readonly watch: Watch
  private readonly start = this.clock.wall

  constructor(balances: readonly { provider: string; refreshMs: number; minimumRemaining?: number }[] = [{ provider: 'a', refreshMs: MINUTE }, { provider: 'b', refreshMs: 10 * SECOND }]) {
    const config = parseConfig({
      pools: { all: { routes: [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'm' }] } },
      balances: balances.map(source => ({ ...source, script: ['x'] as [string] })),
    })
    const gates = {
      waits: { size: 0 }, providers: new Set<string>(),
      providerBack: (provider: string) => { this.asked.push(provider) },
    }
    Object.defineProperty(gates.waits, 'size', { get: () => this.waiting.length })
    Object.defineProperty(gates, 'providers', { get: () => new Set(this.waiting) })
    const journal = { marks: initialMarks, append: (...records: JournalRecord[]) => { this.lifted.push(...records); this.marks = records.reduce(evolveMarks, this.marks) } }
    Object.defineProperty(journal, 'marks', { get: () => this.marks })
    this.watch = new Watch({
      config, clock: this.clock, scheduler: this.scheduler, gates, journal,
      refresh: (providers) => {
        this.refreshed.push([...providers])
        return this.refresh()
      },
    })
  }

  get now(): number {
    return this.clock.wall - this.start
  }

  /** A script began now and found so much. */
  reads(remaining: number, provider = 'a'): void {
    this.watch.read(provider, { remaining, at: this.clock.wall })
  }

  mark(provider = 'a'): void {
    this.marks = { ...this.marks, [provider]: { provider, at: this.clock.wall, until: this.clock.wall + HOUR, rule: 'r', message: 'spent' } }
  }

  async pass(ms: number): Promise<void> {
    const settle = async (): Promise<void> => { for (let turn = 0; turn < 8; turn += 1) await Promise.resolve() }
    await settle()
    for (let left = ms; left > 0; left -= SECOND) {
      this.clock.pass(Math.min(SECOND, left))
      await settle()
    }
  }
}

let bench: Bench
beforeEach(() => {
  bench = new Bench()
  bench.waiting = ['a']
})

describe('a reading that shows allowance', () => {
  it('has one ask, and lifts the mark of its provider', async () => {
    bench.mark()
    await bench.pass(MINUTE)
    bench.reads(40)
    expect(bench.asked).toEqual(['a'])
    expect(bench.lifted).toMatchObject([{ type: 'providerLifted', provider: 'a', by: 'reading' }])
  })

  it('sends nobody where nobody waits for that provider', () => {
    bench.reads(40, 'b')
    expect(bench.asked).toEqual([])
  })

  it.each([0, 4.9])('is none when %d is left of the five that are wanted', (remaining) => {
    bench = new Bench([{ provider: 'a', refreshMs: MINUTE, minimumRemaining: 5 }])
    bench.waiting = ['a']
    bench.reads(remaining)
    expect(bench.asked).toEqual([])
  })

  it('is not believed within a refresh of the refusal: a script may have a cache of its own', async () => {
    bench.mark()
    await bench.pass(MINUTE - 1)
    bench.reads(40)
    expect(bench.asked).toEqual([])
    await bench.pass(1)
    bench.reads(40)
    expect(bench.asked).toEqual(['a'])
  })
})

describe('a reading that a refusal proves wrong', () => {
  beforeEach(async () => {
    bench.reads(40)
    await bench.pass(SECOND)
    bench.watch.refused('a', bench.clock.wall)
    bench.mark()
    bench.asked.length = 0
    bench.lifted = []
    await bench.pass(MINUTE)
  })

  it('is not believed again, however often it is read', async () => {
    for (let minute = 0; minute < 60; minute += 1) {
      bench.reads(40)
      bench.reads(39.5)
      await bench.pass(MINUTE)
    }
    expect(bench.asked).toEqual([])
    expect(bench.lifted).toEqual([])
  })

  it('counts again when it has grown', () => {
    bench.reads(40.5)
    expect(bench.asked).toEqual(['a'])
  })

  it('counts again once the provider has answered', async () => {
    await bench.pass(SECOND)
    bench.watch.answered('a', bench.clock.wall)
    bench.reads(40)
    expect(bench.asked).toEqual(['a'])
  })

  it('stays so when an answer comes to an end that was asked for before the refusal', () => {
    bench.watch.answered('a', bench.clock.wall - 5 * MINUTE)
    bench.reads(40)
    expect(bench.asked).toEqual([])
  })
})

it('a refusal of a request that was sent before the reading was taken proves nothing', async () => {
  const sentAt = bench.clock.wall
  await bench.pass(SECOND)
  bench.reads(40)
  bench.watch.refused('a', sentAt)
  bench.reads(40)
  expect(bench.asked).toEqual(['a', 'a'])
})

describe('while somebody waits', () => {
  it('the balances of the providers that are waited for are read again and again, and not after', async () => {
    bench = new Bench([{ provider: 'a', refreshMs: MINUTE }])
    bench.waiting = ['a']
    bench.watch.start()
    bench.watch.start()
    await bench.pass(3 * MINUTE)
    expect(bench.refreshed).toEqual([['a'], ['a'], ['a'], ['a']])
    bench.waiting = []
    await bench.pass(5 * MINUTE)
    expect(bench.refreshed).toHaveLength(4)
    expect(bench.scheduler.size).toBe(0)
  })

  it('the shortest refreshMs sets the pace, and only who is waited for is looked at', async () => {
    bench.watch.start()
    await bench.pass(25 * SECOND)
    expect(bench.refreshed).toEqual([['a'], ['a'], ['a']])
    bench.waiting = ['b', 'a']
    await bench.pass(10 * SECOND)
    expect(bench.refreshed.at(-1)).toEqual(['a', 'b'])
  })

  it('the next look follows the end of a slow one: from then on its reading is fresh', async () => {
    bench = new Bench([{ provider: 'a', refreshMs: MINUTE }])
    bench.waiting = ['a']
    const looks: number[] = []
    bench.refresh = () => {
      looks.push(bench.now)
      return new Promise((resolve) => { bench.clock.after(resolve, 4 * SECOND) })
    }
    bench.watch.start()
    await bench.pass(130 * SECOND)
    expect(looks).toEqual([0, 64 * SECOND, 128 * SECOND])
  })

  it('a look that goes wrong is followed by another', async () => {
    bench.refresh = () => Promise.reject(new Error('broken'))
    bench.watch.start()
    await bench.pass(21 * SECOND)
    expect(bench.refreshed).toHaveLength(3)
  })

  it('a wait that begins anew is watched anew', async () => {
    bench.watch.start()
    await bench.pass(SECOND)
    bench.waiting = []
    await bench.pass(MINUTE)
    const before = bench.refreshed.length
    bench.waiting = ['a']
    bench.watch.start()
    expect(bench.refreshed).toHaveLength(before + 1)
  })

  it('nothing is read where no balance can be', () => {
    bench = new Bench([])
    bench.waiting = ['a']
    bench.watch.start()
    expect([bench.refreshed, bench.scheduler.size]).toEqual([[], 0])
  })
})

describe('a clock that is set back a day', () => {
  it('keeps no refusal from refuting the reading that it was sent for', () => {
    bench.reads(5)
    expect(bench.asked).toEqual(['a'])
    bench.clock.step(-24 * HOUR)
    bench.watch.refused('a', bench.clock.wall)
    bench.reads(5)
    expect(bench.asked).toEqual(['a'])
    bench.reads(6)
    expect(bench.asked).toEqual(['a', 'a'])
  })

  it('keeps no answer from being heard', () => {
    bench.reads(5)
    bench.watch.refused('a', bench.clock.wall)
    bench.clock.step(-24 * HOUR)
    bench.watch.answered('a', bench.clock.wall)
    bench.reads(5)
    expect(bench.asked).toEqual(['a', 'a'])
  })
})
