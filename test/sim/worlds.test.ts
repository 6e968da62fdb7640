/** Every world of the bench: exactly when each session asks. The whole plugin runs, on simulated time. */
import { describe, expect, it } from 'vitest'
import type { SessionPlan } from '../../bench/sim/host.ts'
import { peakOf } from '../../bench/sim/measure.ts'
import type { Account } from '../../bench/sim/provider.ts'
import { INTERVAL_MS, type PluginRun, type Setting, simulate } from '../../bench/sim/simulate.ts'
import { worldOf, WORLDS } from '../../bench/sim/worlds.ts'
import { readPolicyKey } from '../../src/events/policy-key.ts'

/** Every answer takes 1.75 s, every reading 0.85 s, every step of a ramp 0.205 s. */
const half = (): number => 0.5
const LATENCY = 1.75

/** Sessions whose last good answers end so many minutes after the allowance is spent. */
const outAfter = (account: Account, minutes: readonly number[]): SessionPlan[] =>
  minutes.map(after => ({ sentAt: account.goneAt - 10_000, outAt: account.goneAt + after * 60_000 }))

async function run(name: string, minutes: readonly number[], more: Partial<Setting> = {}): Promise<PluginRun> {
  const account = more.account ?? worldOf(name).account(0.5, half)
  return simulate({ account, plans: outAfter(account, minutes), random: half, balance: false, ...more })
}

/** Refused requests of those who wait, in s from the first refusal on the route. */
const refused = ({ asked, firstAt }: PluginRun): number[] =>
  asked.filter(({ waiting, accepted }) => waiting && !accepted).map(({ at }) => (at - firstAt) / 1_000)
/** Accepted requests of those who waited, in s from the return. */
const accepted = ({ asked, account }: PluginRun): number[] =>
  asked.filter(asking => asking.waiting && asking.accepted).map(({ at }) => (at - account.backAt) / 1_000)

/** So many attempts, each an interval after the answer to the one before. */
const hourly = (count: number): number[] => Array.from({ length: count }, (_none, index) => (index + 1) * (3_600 + LATENCY))
/** What follows a hint that does not hold: the look at it, and two more. */
const looks = (hint: number): number[] => [hint + 5, hint + 5 + LATENCY + 120, hint + 5 + 2 * LATENCY + 120 + 510]

/** Why a session's last planned attempt before some moment was planned for its time, as its log says. */
function causeOf({ sessions }: PluginRun, session: number, at: number): string {
  const records = sessions.get(session)!.events.filter(({ type, time }) => type === 'llm/retry' && time <= at)
  const policy = readPolicyKey(records.at(-1)?.data.policyKey)
  return policy?.kind === 'wait' ? policy.cause : 'none'
}

interface Expected {
  /** Refused requests, in s from the first refusal. */
  readonly before: readonly number[]
  /** The accepted request, in s from the return. */
  readonly after: number
  /** The same where the balance can be read. */
  readonly read: number
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  'rolling 5 h window': { before: hourly(2), after: 5, read: 5 },
  'daily at midnight, New York': { before: hourly(12), after: 5, read: 5 },
  // A hint never delays an attempt: a reset that is days away is asked for each hour all the same.
  'weekly plan': { before: hourly(65), after: 5, read: 5 },
  'balance, topped up by a person': { before: hourly(6), after: 7 * (3_600 + LATENCY) - 24_600, read: 46.85 },
  'ten minutes behind its own reset': { before: [...hourly(2), ...looks(9_300).slice(0, 2)], after: looks(9_300)[2]! - 9_900, read: 21.15 },
  // Shown as written, never scheduled on.
  'a time without a zone': { before: hourly(2), after: 3 * (3_600 + LATENCY) - 10_200, read: 25.4 },
  'hint 15 to 75 minutes too early': { before: [...hourly(3), ...looks(11_700)], after: looks(11_700)[2]! + LATENCY + 3_600 - 14_400, read: 24.05 },
  'hint 10 minutes to 3 hours too late': { before: hourly(2), after: 3 * (3_600 + LATENCY) - 10_800, read: 5.25 },
}

describe.each(WORLDS.map(({ name }) => name))('in the world "%s"', (name) => {
  const expected = EXPECTED[name]!

  it('one session asks at exactly these times', async () => {
    const alone = await run(name, [0])
    expect(refused(alone)).toEqual(expected.before)
    expect(accepted(alone)).toEqual([expected.after])
  })

  it('one session that can read its balance asks no more often before, and soon after', async () => {
    const alone = await run(name, [0], { balance: true })
    expect(refused(alone)).toEqual(expected.before)
    expect(accepted(alone)).toEqual([expected.read])
  })

  it('four sessions ask as often as one, taking turns, and then follow one after another', async () => {
    const four = await run(name, [0, 2, 4, 6])
    expect(refused(four)).toEqual(expected.before)
    const order = four.asked.filter(({ waiting }) => waiting).map(({ session }) => session)
    expect(order).toEqual(order.map((_session, index) => index % 4))
    const steps = accepted(four)
    expect(steps.map(at => Math.round((at - steps[0]!) * 1_000))).toEqual([0, 1_955, 2_160, 2_365])
    expect(steps[0]).toBe(expected.after)
  })

  it.each([false, true])('twenty sessions never ask before their time without a reason in the log; balance: %s', async (balance) => {
    const plans = Array.from({ length: 20 }, (_none, index) => index * 0.4)
    const many = await run(name, plans, { balance })
    const attempts = many.asked.filter(({ waiting }) => waiting)
    for (const [index, { at, session }] of attempts.entries()) {
      const before = index === 0 ? many.firstAt : attempts[index - 1]!.at
      if (at - before >= INTERVAL_MS) continue
      const own = causeOf(many, session, at)
      // One that was told of the time by another's refusal: the reason stands in the log of that other.
      const cause = own === 'shared' ? causeOf(many, attempts[index - 1]!.session, at) : own
      expect(cause).toMatch(/^(hint|second-try|reading|ramp)$/)
    }
    expect(many.deadMs.every(Number.isFinite)).toBe(true)
    expect(peakOf(many)).toBeLessThanOrEqual(5)
  })
})

describe('a daily reset', () => {
  it.each([
    ['23 hours', 0, '2026-03-09T04:00:00.000Z'], ['25 hours', 0.4, '2026-11-02T05:00:00.000Z'], ['24 hours', 0.9, '2026-06-11T04:00:00.000Z'],
  ])('at midnight in New York is met after a day of %s', async (_hours, pick, midnight) => {
    const account = worldOf('daily at midnight, New York').account(0, () => pick)
    expect(new Date(account.backAt).toISOString()).toBe(midnight)
    expect(accepted(await run('', [0], { account }))).toEqual([5])
  })
})

describe('answers that were on their way when the allowance was spent', () => {
  it('send nobody to ask', async () => {
    // Each of these answers ends after others were refused; what it proves is older than that.
    const many = await run('rolling 5 h window', [0, 1, 2, 3, 4, 5, 6, 7])
    expect(refused(many)).toEqual(hourly(2))
  })

  it('do not take back what the provider said of a provider with a balance', async () => {
    const many = await run('balance, topped up by a person', [0, 1, 2, 3, 4, 5, 6, 7], { balance: true })
    expect(refused(many)).toEqual(hourly(6))
  })
})

describe('five hundred sessions', () => {
  it('cost their route what one costs, and return at five a second', async () => {
    const minutes = Array.from({ length: 500 }, (_none, index) => index / 50)
    const many = await run('rolling 5 h window', minutes)
    expect(refused(many)).toEqual(hourly(2))
    expect(peakOf(many)).toBe(5)
    // The last one follows after 499 steps.
    expect(Math.max(...accepted(many))).toBeCloseTo(5 + LATENCY + 499 * 0.205)
  })
})

it('a balance is read each refreshMs while somebody waits, and not after', async () => {
  const alone = await run('rolling 5 h window', [0], { balance: true })
  // Each look follows the end of the one before, so that nothing stale is taken for fresh.
  const looksExpected = Math.ceil((alone.account.backAt + 5_000 - (alone.firstAt + 1_750)) / (60_000 + 850))
  expect(alone.reads).toBe(looksExpected)
})
