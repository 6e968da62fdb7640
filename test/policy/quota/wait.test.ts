import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  HINT_MARGIN_MS, planAttempt, type PlannedWait, type RefusalTiming, SECOND_TRIES_MS, THROTTLE_DELAY_MS, waitLimit,
} from '../../../src/policy/quota/wait.ts'
import { type PlanMemory, remember } from '../../../src/reducers/plans.ts'
import { classifyFailure } from '../../../src/policy/judge/classify.ts'
import { foldSession } from '../../../src/reducers/session.ts'
import { HOUR, log, type Log, MINUTE, NOON, SECOND, waitingLog } from '../../support/build.ts'

const INTERVAL: PlannedWait = { delayMs: HOUR, cause: 'interval' }
const [FIRST = 0, SECOND_LOOK = 0] = SECOND_TRIES_MS
const resetsIn = (ms: number): RefusalTiming => ({ resetsAt: NOON + ms })
const plan = (timing: RefusalTiming, last?: PlanMemory, intervalMs = HOUR): PlannedWait => planAttempt(NOON, last, timing, intervalMs)
/** The plans for refusals that come one after another, each at the time of the attempt before; resets count from then. */
function plans(timings: readonly RefusalTiming[], intervalMs = HOUR): PlannedWait[] {
  let last: PlanMemory | undefined
  return timings.map((timing) => {
    const at = last?.dueAt ?? NOON
    const moved = timing.resetsAt === undefined ? timing : { ...timing, resetsAt: timing.resetsAt + at - NOON }
    const next = planAttempt(at, last, moved, intervalMs)
    last = remember(last, { at, ...next })
    return next
  })
}
const causes = (timings: readonly RefusalTiming[]): string[] => plans(timings).map(({ cause }) => cause)

describe('the next attempt', () => {
  it('is an interval away when the refusal says nothing', () => {
    expect(plan({})).toEqual(INTERVAL)
  })

  it('is at the provider\'s own reset time, a little later', () => {
    expect(plan(resetsIn(10 * MINUTE))).toEqual({ delayMs: 10 * MINUTE + HINT_MARGIN_MS, cause: 'hint' })
  })

  it.each([HOUR - HINT_MARGIN_MS, HOUR, 40 * 24 * HOUR, 1e15])('is never later than the interval: reset in %i ms', (ms) => {
    expect(plan(resetsIn(ms))).toEqual(INTERVAL)
  })

  it.each([-HOUR, -1, 0, 999])('is soon, though no storm, after a reset that is past: %i ms', (ms) => {
    expect(plan(resetsIn(ms))).toEqual({ delayMs: FIRST, cause: 'second-try' })
  })

  it('is a minute away after a throttle, or an interval when that is shorter', () => {
    expect(plan({ throttle: true })).toEqual({ delayMs: THROTTLE_DELAY_MS, cause: 'throttle' })
    expect(plan({ throttle: true, ...resetsIn(5 * SECOND) }).cause).toBe('throttle')
    expect(plan({ throttle: true }, undefined, 50)).toEqual({ delayMs: 50, cause: 'throttle' })
  })
})

describe('after a promised reset that did not hold', () => {
  const promise = resetsIn(MINUTE)

  it('come two short looks, and then the interval', () => {
    expect(plans([promise, {}, {}, {}, {}]).slice(1)).toEqual([
      { delayMs: FIRST, cause: 'second-try' }, { delayMs: SECOND_LOOK, cause: 'second-try' }, INTERVAL, INTERVAL,
    ])
  })

  it('a newer promise counts', () => {
    expect(plans([promise, resetsIn(20 * MINUTE)])[1]).toEqual({ delayMs: 20 * MINUTE + HINT_MARGIN_MS, cause: 'hint' })
  })

  it('a line that still names the old reset buys no further looks', () => {
    const stale = resetsIn(-10 * MINUTE)
    expect(causes([promise, stale, stale, stale, stale])).toEqual(['hint', 'second-try', 'second-try', 'interval', 'interval'])
  })

  it('no look is longer than the interval', () => {
    expect(plans([promise, {}], 90 * SECOND)[1]).toEqual({ delayMs: 90 * SECOND, cause: 'interval' })
  })

  it('a provider that always promises the next second is not asked every few seconds', () => {
    expect(plans(Array.from({ length: 5 }, () => resetsIn(2 * SECOND))).map(({ delayMs }) => delayMs)).toEqual([7 * SECOND, FIRST, SECOND_LOOK, HOUR, HOUR])
  })

  it('nor is one that always names a throttle of the next second', () => {
    const made = plans(Array.from({ length: 9 }, () => ({ throttle: true, ...resetsIn(SECOND) }))).map(({ delayMs }) => delayMs)
    expect(made).toEqual([6 * SECOND, ...[1, 2, 4, 8, 16, 32].map(minutes => minutes * MINUTE), HOUR, HOUR])
  })

  it('one that then names a reset beyond the interval is not looked at before', () => {
    expect(plans([promise, resetsIn(5 * HOUR)])[1]).toEqual(INTERVAL)
  })
})

describe('whatever a provider says', () => {
  const timing: fc.Arbitrary<RefusalTiming> = fc.oneof(
    fc.constant({}), fc.record({ throttle: fc.constant(true) }),
    fc.integer({ min: -2 * HOUR, max: 3 * HOUR }).map(resetsIn), fc.integer({ min: -5 * SECOND, max: 30 * SECOND }).map(resetsIn),
    fc.constantFrom(0, -1e15, 1e15, 8.64e15).map(resetsAt => ({ resetsAt })),
  )

  it('an attempt is neither at once nor later than the interval', () => {
    fc.assert(fc.property(fc.array(timing, { maxLength: 20 }), fc.integer({ min: 1, max: 2 ** 31 - 1 }), (timings, intervalMs) => {
      for (const { delayMs } of plans(timings, intervalMs)) expect(delayMs >= 1 && delayMs <= intervalMs).toBe(true)
    }), { numRuns: 300 })
  })

  it('two attempts in a row are never both close', () => {
    fc.assert(fc.property(fc.array(timing, { minLength: 2, maxLength: 20 }), (timings) => {
      const made = plans(timings)
      for (const [index, { delayMs }] of made.entries()) {
        const before = made[index - 1]
        if (before !== undefined) expect(before.delayMs + delayMs).toBeGreaterThanOrEqual(THROTTLE_DELAY_MS)
      }
    }), { numRuns: 300 })
  })
})

describe('the longest wait', () => {
  const entry = (given: Log) => foldSession(given.rows).entries.open
  const maxWaitMs = 90 * MINUTE

  it('has no end where none is set', () => {
    expect(waitLimit(NOON, 1, entry(waitingLog()), undefined)).toBeUndefined()
  })

  it('counts from now before the first wait', () => {
    expect(waitLimit(NOON + MINUTE, 1, entry(log()), maxWaitMs)).toBe(NOON + MINUTE + maxWaitMs)
  })

  it('counts from the first wait of the turn, not from the last', () => {
    const given = waitingLog(MINUTE).after(80 * MINUTE).starts().refused().waits().after(5 * MINUTE).starts().refused()
    expect(waitLimit(NOON + 85 * MINUTE, 1, entry(given), maxWaitMs)).toBe(NOON + maxWaitMs)
  })

  it('is each turn\'s own: a new message is tried', () => {
    const given = waitingLog().after(2 * HOUR).cancels().turn().step()
    expect(waitLimit(NOON + 2 * HOUR, 2, entry(given), maxWaitMs)).toBe(NOON + 2 * HOUR + maxWaitMs)
  })
})

describe('whatever a provider answers for a day', () => {
  const WORDS = [
    'Insufficient Balance', 'Usage limit reached. Try again in 2 seconds', 'Usage limit reached. Try again in 2 minutes', 'Usage limit reached. Try again in 20 minutes',
    'Too many requests per minute, retry in 2s', 'quota exceeded for requests per minute', 'Weekly limit reached. Resets in 3 days', 'You have hit your limit',
    'Usage limit reached. Resets at 2020-01-01T00:00:00Z', 'Payment Required',
  ]
  const refusal = fc.record({
    code: fc.constantFrom('QUOTA', 'RATE_LIMIT', 'PI_AI_ERROR'), message: fc.constantFrom(...WORDS), status: fc.constantFrom(402, 429, 403),
    after: fc.oneof(fc.constant(undefined), fc.constantFrom(1, 2_000, 120_000, 1_200_000, 7_200_000)),
  })

  it('it is asked no more than seven times in the first hour, and less than one and a half times an hour after that', () => {
    let busiest = 0
    fc.assert(fc.property(fc.array(refusal, { minLength: 5, maxLength: 60, size: 'max' }), (refusals) => {
      let last: PlanMemory | undefined
      const looks: number[] = []
      for (let at = NOON, index = 0; at < NOON + 24 * HOUR; index += 1) {
        const { after, ...failure } = refusals[index % refusals.length]!
        const verdict = classifyFailure({ ...failure, ...after === undefined ? {} : { providerRetryAfterMs: after } }, { now: at })
        const next = planAttempt(at, last, verdict.kind === 'spent-allowance' ? verdict : {}, HOUR)
        last = remember(last, { at, ...next })
        at += next.delayMs
        looks.push(at - NOON)
      }
      const within = (from: number): number => looks.filter(look => look >= from && look < from + HOUR).length
      busiest = Math.max(busiest, within(0))
      expect(within(0)).toBeLessThanOrEqual(7)
      // Looks that an earlier hour did not use come together at worst: those after a promise that did not hold.
      expect(looks.filter(look => look >= HOUR && look < 24 * HOUR).length).toBeLessThanOrEqual(1.5 * 23)
    }), { numRuns: 300 })
    // Otherwise nothing here ever tried.
    expect(busiest).toBeGreaterThanOrEqual(5)
  })
})
