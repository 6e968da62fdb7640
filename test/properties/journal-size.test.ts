import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JournalRecord, JournalRecordOf } from '../../src/events/journal.ts'
import { Journal } from '../../src/host/journal-store.ts'
import { SPARE } from '../../src/host/medium.ts'
import { parseConfig } from '../../src/policy/config.ts'
import { respond } from '../../src/policy/respond.ts'
import { foldJournal } from '../../src/reducers/journal.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { HOUR, log, MINUTE, NOON, SECOND, SPENT } from '../support/build.ts'
import { ALONE } from '../support/world.ts'
import { FakeClock } from '../support/fake-clock.ts'

const LIMIT = 256 * 1024
const DAY = 24 * HOUR

type Mark = JournalRecordOf<'providerMarked' | 'routeMarked'>
interface Stored { [key: string]: unknown; records: unknown[] }
type Put = (key: string, value: Stored, store: () => void) => Promise<void>

/** A medium that keeps what was put last under each key. */
class Medium {
  readonly last = new Map<string, string>()
  puts = 0
  /** Most bytes that were ever stored at once. */
  largest = 0
  opened = 0
  closed = 0
  private readonly bytes = new Map<string, number>()
  put: Put = (_key, _value, store) => { store(); return Promise.resolve() }

  open(spec: unknown): Promise<{ table(): { get(key: string): unknown; put(key: string, value: unknown): Promise<void> }; close(): Promise<void> }> {
    // The domain that takes over while the first one cannot be read holds nothing here.
    if ((spec as { name: string }).name === SPARE) return Promise.resolve({ table: () => ({ get: () => undefined, put: () => Promise.resolve() }), close: () => Promise.resolve() })
    this.opened += 1
    return Promise.resolve({
      table: () => ({
        get: (key: string) => this.last.has(key) ? JSON.parse(this.last.get(key)!) as Stored : undefined,
        put: (key: string, value: unknown) => key === 'owner' ? Promise.resolve() : this.put(key, value as Stored, () => { this.store(key, value as Stored) }),
      }),
      close: () => { this.closed += 1; return Promise.resolve() },
    })
  }

  /** Everything stored, as the harness hands it out at the next start. */
  get records(): unknown[] {
    return [...this.last.values()].flatMap(text => (JSON.parse(text) as Stored).records)
  }

  private store(key: string, value: Stored): void {
    const text = JSON.stringify(value)
    this.puts += 1
    this.last.set(key, text)
    this.bytes.set(key, Buffer.byteLength(text) + key.length + 5)
    this.largest = Math.max(this.largest, [...this.bytes.values()].reduce((sum, bytes) => sum + bytes, 2))
  }
}

/** Everything that is queued, and what that queues, runs. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(resolve => setImmediate(resolve))
}

async function attached(medium = new Medium()): Promise<{ journal: Journal; medium: Medium; clock: FakeClock; warnings: string[] }> {
  const warnings: string[] = []
  const clock = new FakeClock()
  const journal = new Journal(clock, (kind) => { warnings.push(kind) })
  await journal.attach(medium)
  return { journal, medium, clock, warnings }
}

const waiting = (session: string, at = NOON): JournalRecord => ({ type: 'sessionWaiting', session, at, nextAttemptAt: at + HOUR, provider: 'a' })
const released = (session: string, at = NOON): JournalRecord => ({ type: 'sessionReleased', session, at })
const marked = (provider: string, at = NOON): JournalRecord => ({ type: 'providerMarked', provider, at, until: at + HOUR, rule: 'spent', message: 'spent' })
const moved = (session: string, at = NOON): JournalRecord =>
  ({ type: 'requestMoved', session, at, pool: 'medium', from: { provider: 'a', model: 'm' }, to: { provider: 'b', model: 'n' }, why: 'its provider reported the allowance spent' })

/** What a refusal leaves in the journal, as the policy writes it. */
function refusal(words: string): Mark {
  const given = log().turn().asks().refused()
  const failure = { ...SPENT, message: `402: Insufficient Balance. ${words}` }
  return respond({ state: foldSession(given.rows), failure, provider: 'a', turn: 1, step: 1, unfit: [], world: { marks: {}, readings: {}, now: NOON }, ...ALONE }, parseConfig({})).mark!
}

interface Year { sessions: number; atOnce: number; providers: number; words: string }

/** A year of use, six hours at a time: each session waits a few times, each provider is spent and back nearly every day. */
async function live(journal: Journal, { sessions, atOnce, providers, words }: Year): Promise<void> {
  const ids = Array.from({ length: sessions }, (_, index) => `0199c2f0-7d1a-7000-8000-${index.toString(16).padStart(12, '0')}`)
  const names = Array.from({ length: providers }, (_, index) => `provider-with-a-long-name-${index}`)
  const held: string[] = []
  const begins = Math.ceil(3 * sessions / (4 * 365))
  const refused = refusal(words)
  const refuse = (provider: string, at: number): void => { journal.append({ ...refused, provider, at, until: at + HOUR }) }
  let next = 0
  for (let now = NOON; now < NOON + 365 * DAY; now += DAY / 4) {
    const half = (now / DAY) % 1 < 0.5
    for (const name of names) {
      if (half) refuse(name, now)
      else journal.answered({ provider: name, model: 'm' }, now + SECOND)
    }
    for (let index = 0; index < begins; index += 1, next += 1) {
      held.push(ids[next % sessions]!)
      journal.append(waiting(held.at(-1)!, now), moved(held.at(-1)!, now))
      if (held.length > atOnce) journal.append(released(held.shift()!, now + index))
    }
    await settled()
  }
  // The last of the waits are still held, and every provider is spent.
  for (const name of names) refuse(name, NOON + 365 * DAY)
  await settled()
}

describe('a year of use by 10,000 sessions and 50 providers', () => {
  const year: Year = { sessions: 10_000, atOnce: 300, providers: 50, words: 'x'.repeat(5_000) }

  it('keeps the journal under 256 KB at every write, and holds what still matters', async () => {
    const { journal, medium } = await attached()
    await live(journal, year)
    expect(medium.puts).toBeGreaterThan(1_000)
    expect(medium.largest).toBeLessThan(LIMIT)
    const { marks, waiting: index } = foldJournal(medium.records)
    expect([Object.keys(marks).length, Object.keys(index).length]).toEqual([50, 300])
    expect(marks).toEqual(journal.marks)
    expect(index).toEqual(journal.waiting())
  })

  it('keeps it there, too, when providers write long and in any script', async () => {
    const { journal, medium } = await attached()
    await live(journal, { ...year, sessions: 900, words: '余额不足，请充值。"'.repeat(500) })
    expect(medium.largest).toBeLessThan(LIMIT)
  })
})

describe('a write that hangs', () => {
  it('loses nothing: what came meanwhile is in the next one', async () => {
    const { journal, medium } = await attached()
    const { put } = medium
    let release = (): void => {}
    medium.put = (_key, _value, store) => new Promise((resolve) => { release = () => { store(); resolve() } })
    journal.append(waiting('s'))
    await settled()
    journal.append(waiting('t'), marked('a'))
    await settled()
    expect(medium.records).toEqual([])
    medium.put = put
    release()
    await settled()
    expect(Object.keys(foldJournal(medium.records).waiting)).toEqual(['s', 't'])
    expect(foldJournal(medium.records).marks).toHaveProperty('a')
  })

  it('takes nothing from those who read', async () => {
    const { journal, medium } = await attached()
    medium.put = () => new Promise(() => {})
    journal.append(marked('a'), waiting('s'))
    await settled()
    journal.answered({ provider: 'a', model: 'm' }, NOON + MINUTE)
    expect(journal.marks).toEqual({})
    expect(journal.waiting()).toHaveProperty('s')
  })

  it('holds an unload up for a little while only', async () => {
    const { journal, medium, clock } = await attached()
    medium.put = () => new Promise(() => {})
    journal.append(marked('a'))
    await settled()
    let gone = false
    const detached = journal.detach().then(() => { gone = true })
    await settled()
    expect(gone).toBe(false)
    clock.pass(10 * SECOND)
    await detached
    expect(clock.pending).toBe(0)
  })
})

describe('a write that fails', () => {
  it('is warned of, and the next change stores all of it', async () => {
    const { journal, medium, warnings } = await attached()
    const { put } = medium
    medium.put = () => Promise.reject(Object.assign(new Error('no space left at /secret/path'), { code: 'ENOSPC' }))
    journal.append(marked('a'), waiting('s'))
    await settled()
    expect([...new Set(warnings)]).toEqual(['storage-write'])
    medium.put = put
    journal.append(moved('s'))
    await settled()
    expect(foldJournal(medium.records)).toEqual({ marks: journal.marks, waiting: journal.waiting() })
    expect(medium.records).toHaveLength(3)
  })

  it('does not hold back what came while it ran', async () => {
    const { journal, medium } = await attached()
    const { put } = medium
    let fail = (): void => {}
    medium.put = () => new Promise((_resolve, reject) => { fail = () => { reject(new Error('busy')) } })
    journal.append(marked('a'))
    await settled()
    journal.append(marked('b'))
    medium.put = put
    fail()
    await settled()
    expect(Object.keys(foldJournal(medium.records).marks)).toEqual(['a', 'b'])
  })

  it('that throws at once is like one that rejects', async () => {
    const { journal, medium, warnings } = await attached()
    const { put } = medium
    medium.put = () => { throw new Error('closed') }
    journal.append(marked('a'))
    await settled()
    expect(warnings).toEqual(['storage-write'])
    medium.put = put
    journal.append(marked('b'))
    await settled()
    expect(Object.keys(foldJournal(medium.records).marks)).toEqual(['a', 'b'])
  })
})

describe('a record that comes at any moment of a write', () => {
  it('is stored with no further change', async () => {
    for (let depth = 0; depth < 12; depth += 1) {
      const { journal, medium } = await attached()
      const { put } = medium
      medium.put = (_key, _value, store) => {
        medium.put = put
        store()
        const done = Promise.resolve()
        let later = done
        for (let step = 0; step < depth; step += 1) later = later.then(() => {})
        void later.then(() => { journal.append(waiting('late')) })
        return done
      }
      journal.append(waiting('early'))
      await settled()
      expect([depth, Object.keys(foldJournal(medium.records).waiting)]).toEqual([depth, ['early', 'late']])
    }
  })
})

describe('storage that a later version or a damaged file wrote to', () => {
  const foreign = [{ type: 'later', at: 1, deep: { list: [1] } }, null, 'x', { type: 'providerMarked', provider: 'a' }]

  it('keeps every value that is no record here, through any number of writes', async () => {
    const medium = new Medium()
    for (const key of ['marks', 'waiting', 'moves']) medium.last.set(key, JSON.stringify({ records: [...foreign, marked('b')] }))
    medium.last.set('later', JSON.stringify({ records: foreign }))
    const { journal } = await attached(medium)
    for (let time = 1; time < 5; time += 1) {
      journal.append(marked('c', NOON + time), waiting('s', NOON + time), released('s', NOON + time), moved('s', NOON + time))
      await settled()
    }
    for (const key of ['marks', 'waiting', 'moves', 'later']) {
      expect((JSON.parse(medium.last.get(key)!) as Stored).records.filter(value => !['marked', 'providerMarked', 'requestMoved'].includes((value as { type: string } | null)?.type ?? '')))
        .toEqual(foreign.slice(0, 3))
    }
    expect(Object.keys(foldJournal(medium.records).marks).sort()).toEqual(['b', 'c'])
  })
})

describe('storage whose write hangs', () => {
  it('has the journal kept as small as without storage', async () => {
    const { journal, medium } = await attached()
    medium.put = () => new Promise(() => {})
    for (let round = 0; round < 20_000; round += 1) journal.append(waiting(`s${round % 5}`, NOON + round), released(`s${round % 5}`, NOON + round), moved(`s${round % 5}`, NOON + round))
    expect(journal.moves().length).toBeLessThan(6_000)
  })
})

describe('storage that opens late, or again', () => {
  it('is given what came before it, behind what it held', async () => {
    const medium = new Medium()
    medium.last.set('marks', JSON.stringify({ records: [marked('a', NOON - MINUTE), marked('b', NOON - MINUTE)] }))
    const journal = new Journal(new FakeClock(), () => {})
    journal.answered({ provider: 'b', model: 'm' }, NOON)
    journal.append(marked('c'), waiting('s'))
    await journal.attach(medium)
    await settled()
    expect(Object.keys(journal.marks)).toEqual(['a', 'c'])
    expect(foldJournal(medium.records)).toEqual({ marks: journal.marks, waiting: journal.waiting() })
  })

  it('is written to again, and read only once', async () => {
    const { journal, medium } = await attached()
    journal.append(marked('a'), waiting('s'))
    await settled()
    await journal.detach()
    journal.append(released('s', NOON + 1), marked('b'))
    await journal.attach(medium)
    await settled()
    expect(Object.keys(journal.marks)).toEqual(['a', 'b'])
    expect(foldJournal(medium.records)).toEqual({ marks: journal.marks, waiting: {} })
    expect([medium.opened, medium.closed]).toEqual([2, 1])
  })

  it('that does not open is warned of, and leaves everything as it is', async () => {
    const warnings: string[] = []
    const journal = new Journal(new FakeClock(), (kind) => { warnings.push(kind) })
    await journal.attach({ open: () => Promise.reject(new Error('corrupt')) })
    journal.append(marked('a'))
    expect(journal.marks).toHaveProperty('a')
    await journal.detach()
    expect(warnings).toEqual(['storage-open'])
  })
})

describe('letting go of the storage', () => {
  it('waits for what is being written and for what came after', async () => {
    const { journal, medium } = await attached()
    journal.append(marked('a'))
    const detached = journal.detach()
    journal.append(marked('b'))
    await detached
    expect(Object.keys(foldJournal(medium.records).marks)).toEqual(['a', 'b'])
    expect(medium.closed).toBe(1)
  })

  it('without any is nothing, and so is letting go twice', async () => {
    const { journal, medium } = await attached()
    await new Journal(new FakeClock(), () => {}).detach()
    await Promise.all([journal.detach(), journal.detach()])
    expect(medium.closed).toBe(1)
  })

  it('tries once more what could not be written', async () => {
    const { journal, medium } = await attached()
    const { put } = medium
    medium.put = () => Promise.reject(new Error('busy'))
    journal.append(marked('a'))
    await settled()
    medium.put = put
    await journal.detach()
    expect(foldJournal(medium.records).marks).toHaveProperty('a')
  })

  it('that timed out does not keep the next storage from being written to', async () => {
    const { journal, medium, clock } = await attached()
    let release = (): void => {}
    medium.put = (_key, _value, store) => new Promise((resolve) => { release = () => { store(); resolve() } })
    journal.append(marked('a'))
    await settled()
    const detached = journal.detach()
    await settled()
    clock.pass(10 * SECOND)
    await detached
    const next = new Medium()
    await journal.attach(next)
    release()
    await settled()
    journal.append(marked('b'))
    await settled()
    expect(Object.keys(foldJournal(next.records).marks)).toEqual(['a', 'b'])
  })
})

describe('a write that hung through a change of the storage', () => {
  it('takes nothing from the new storage when it goes on at last', async () => {
    const { journal, medium, clock } = await attached()
    let release = (): void => {}
    medium.put = (_key, _value, store) => new Promise((resolve) => { release = () => { store(); resolve() } })
    journal.append(marked('a'), waiting('s'))
    await settled()
    const detached = journal.detach()
    await settled()
    clock.pass(10 * SECOND)
    await detached
    const next = new Medium()
    await journal.attach(next)
    await settled()
    release()
    journal.append(waiting('late'))
    await settled()
    expect(Object.keys(foldJournal(next.records).waiting)).toEqual(['s', 'late'])
  })
})

describe('a journal under any use', () => {
  const session = fc.constantFrom('s', 't', 'u')
  const act = fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('mark' as const), name: fc.constantFrom('a', 'b') }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), name: fc.constantFrom('a', 'b') }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('wait' as const, 'release' as const, 'move' as const), name: session }) },
    { weight: 2, arbitrary: fc.constantFrom({ do: 'settle' as const }, { do: 'break' as const }, { do: 'mend' as const }, { do: 'reload' as const }) },
  )

  it('in the end holds what happened, however the medium fails on the way', async () => {
    await fc.assert(fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
      const { journal, medium } = await attached()
      const { put } = medium
      const all: JournalRecord[] = []
      const say = (record: JournalRecord): void => { all.push(record); journal.append(record) }
      for (const [index, next] of acts.entries()) {
        const at = NOON + index
        if (next.do === 'mark') say(marked(next.name, at))
        else if (next.do === 'answer') { all.push({ type: 'providerLifted', provider: next.name, at, by: 'answer' }); journal.answered({ provider: next.name, model: 'm' }, at) }
        else if (next.do === 'wait') say(waiting(next.name, at))
        else if (next.do === 'release') say(released(next.name, at))
        else if (next.do === 'move') say(moved(next.name, at))
        else if (next.do === 'break') medium.put = () => Promise.reject(new Error('broken'))
        else if (next.do === 'mend') medium.put = put
        else if (next.do === 'reload') { await journal.detach(); await journal.attach(medium) }
        else await settled()
      }
      await settled()
      medium.put = put
      journal.append(marked('last', NOON))
      await settled()
      const expected = foldJournal([...all, marked('last', NOON)])
      expect({ marks: journal.marks, waiting: journal.waiting() }).toEqual(expected)
      expect(foldJournal(medium.records)).toEqual(expected)
      expect(medium.records.filter(value => (value as JournalRecord).type === 'requestMoved')).toHaveLength(all.filter(({ type }) => type === 'requestMoved').length)
    }), { numRuns: 100 })
  })
})
