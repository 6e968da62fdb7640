import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/events/failure.ts'
import type { Route } from '../../src/events/route.ts'
import type { World } from '../../src/policy/pool/choose.ts'
import { type ConfigInput, parseConfig } from '../../src/policy/config.ts'
import { respond } from '../../src/policy/respond.ts'
import { HINT_MARGIN_MS } from '../../src/policy/quota/wait.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { deepFreeze, HOUR, log, type Log, MINUTE, NOON, refusedLog, SPENT, THROTTLED, SECOND } from '../support/build.ts'
import { A, ALONE, B, C, world } from '../support/world.ts'

const script: [string, ...string[]] = ['node', 'x.mjs']
const pools = { medium: { routes: [A, B, C] } }
const balances = [{ provider: 'b', script, minimumRemaining: 5 }]

/** A failure that tells of a conversation meeting a route it does not fit. */
const MISFIT: Failure = { code: 'INVALID_REQUEST', message: '400: Invalid `signature` in `thinking` block', status: 400 }
const WRONG_KEY: Failure = { code: 'AUTH', message: '401: invalid api key', status: 401 }
const SHORT_THROTTLE: Failure = { code: 'QUOTA', message: '429: quota exceeded for requests per minute, retry in 20 s', status: 429 }

interface More { failure?: Failure; known?: World; input?: ConfigInput; unfit?: readonly Route[] }

/** The answer to the last failure of a log. */
const answer = (given: Log, { failure = SPENT, known = world(), input = {}, unfit = [] }: More = {}) => respond(deepFreeze({
  state: foldSession(given.rows), failure, provider: given.provider, turn: given.turnNo, step: given.stepNo, unfit, world: known, ...ALONE,
}), parseConfig({ pools, balances, ...input }))
const where = (given: Log, more?: More): string => {
  const response = answer(given, more)
  return response.kind === 'move' ? `${response.choice.route.provider} ${response.choice.grade}` : response.kind
}
/** The session was moved from a spent `a` to `b`, and `b` failed. */
const movedTo = (failure: Failure): Log => refusedLog().moves('medium', 'b', 'n').starts().asks('b', 'n').refused(failure)

describe('a refusal in a session whose pool has another route', () => {
  it('marks its provider and goes to the first that clears its threshold, at once', () => {
    expect(answer(refusedLog())).toMatchObject({
      kind: 'move', choice: { pool: 'medium', route: B, grade: 'usable', standings: [{ grade: 'marked' }, { grade: 'usable' }, { grade: 'usable' }] },
      mark: { type: 'providerMarked', provider: 'a', at: NOON, until: NOON + HOUR, message: SPENT.message }, verdict: { kind: 'spent-allowance' },
    })
    expect(where(refusedLog(), { known: world({ left: { b: 1 } }) })).toBe('c usable')
  })

  it('goes to one with little left when none clears its threshold', () => {
    expect(where(refusedLog(), { known: world({ left: { b: 1 }, marked: ['c'] }) })).toBe('b low')
  })

  it('waits when no other has allowance', () => {
    expect(where(refusedLog(), { known: world({ marked: ['b', 'c'] }) })).toBe('wait')
    expect(where(refusedLog(), { known: world({ left: { b: 0, c: 0 } }) })).toBe('wait')
  })

  it('goes neither to a route that is not fit nor to another model of the provider that refused', () => {
    expect(where(refusedLog(), { unfit: [B] })).toBe('c usable')
    expect(where(refusedLog(), { unfit: [B, C] })).toBe('wait')
    expect(where(refusedLog(), { input: { pools: { medium: { routes: [A, { provider: 'a', model: 'other' }] } }, balances: [] } })).toBe('wait')
  })

  it('goes to no route twice in a step, although its mark is gone', () => {
    const both = movedTo(SPENT)
    expect(where(both)).toBe('c usable')
    expect(where(both, { known: world({ marked: ['c'] }) })).toBe('wait')
  })

  it('marks both when two refuse in one step', () => {
    expect(answer(movedTo(SPENT), { known: world({ marked: ['a', 'c'] }) })).toMatchObject({ kind: 'wait', mark: { provider: 'b' } })
  })

  it('may go to every route once more after a wait', () => {
    expect(where(movedTo(SPENT).waits().starts().refused())).toBe('a usable')
  })

  it('moves a session of a stated pool from a route outside it', () => {
    expect(where(log().command('/quota-pool medium').turn().asks('z', 'z').refused())).toBe('a usable')
    expect(where(log().turn().asks('z', 'z').refused())).toBe('wait')
  })

  it('moves nobody who stated off, nor on a guess between two pools', () => {
    expect(where(log().command('/quota-pool off').turn().asks('a', 'm').refused())).toBe('wait')
    expect(where(refusedLog(), { input: { pools: { ...pools, other: { routes: [A, B] } } } })).toBe('wait')
  })

  it('neither moves nor waits for a session that is switched off, but what it learnt serves the others', () => {
    expect(answer(refusedLog().command('/quota-retry off'))).toMatchObject({ kind: 'delegate', why: 'switched-off', mark: { provider: 'a' } })
  })

  it('moves although the longest wait is used up, for a move is no wait', () => {
    const waited = refusedLog().waits().after(HOUR).starts().refused()
    const later = world({ now: NOON + HOUR })
    expect(where(waited, { known: later, input: { maxWaitMs: HOUR } })).toBe('b usable')
    expect(answer(waited, { known: world({ now: NOON + HOUR, marks: [], left: { b: 0, c: 0 } }), input: { maxWaitMs: HOUR } }))
      .toMatchObject({ kind: 'delegate', why: 'longest-wait-reached', mark: { provider: 'a' } })
  })

  it('that clearly is a throttle by the minute marks and moves nobody', () => {
    const response = answer(refusedLog(), { failure: SHORT_THROTTLE })
    expect(response).toMatchObject({ kind: 'wait', verdict: { throttle: true } })
    expect(response).not.toHaveProperty('mark')
  })
})

describe('a refusal for the allowance of one model', () => {
  const BIG = { provider: 'a', model: 'm' }
  const SMALL = { provider: 'a', model: 'small' }
  const failure: Failure = { code: 'RATE_LIMIT', message: "429: You've hit your usage limit for GPT-5.5-Codex. Switch to another model now", status: 429 }
  const input: ConfigInput = { pools: { medium: { routes: [BIG, SMALL, C] } }, balances: [] }

  it('marks the route, and the next model of the provider is asked', () => {
    const response = answer(refusedLog(), { failure, input })
    expect(response).toMatchObject({ kind: 'move', choice: { route: SMALL }, mark: { type: 'routeMarked', ...BIG, at: NOON, until: NOON + HOUR } })
    expect(answer(refusedLog(), { failure: SPENT, input })).toMatchObject({ kind: 'move', choice: { route: C }, mark: { type: 'providerMarked' } })
  })

  it('leaves a provider that is marked already where it is', () => {
    expect(where(refusedLog(), { failure, input, known: world({ marked: ['a'] }) })).toBe('c usable')
  })
})

describe('the mark of a refusal', () => {
  const until = (message: string, input: ConfigInput = {}): number | undefined => answer(refusedLog(), { failure: { ...SPENT, message: `402: Insufficient Balance. ${message}` }, input }).mark?.until

  it('holds for the cooldown, or until the provider\'s own reset where that comes first', () => {
    expect(until('')).toBe(NOON + HOUR)
    expect(until('', { exhaustedCooldownMs: MINUTE })).toBe(NOON + MINUTE)
    expect(until(`Resets at ${new Date(NOON + 10 * MINUTE).toISOString()}`)).toBe(NOON + 10 * MINUTE + HINT_MARGIN_MS)
    expect(until(`Resets at ${new Date(NOON + 10 * HOUR).toISOString()}`)).toBe(NOON + HOUR)
  })

  it('holds for the cooldown when the reset is past', () => {
    expect(until(`Resets at ${new Date(NOON - 10 * MINUTE).toISOString()}`)).toBe(NOON + HOUR)
  })

  it('holds a text of bounded length', () => {
    expect(until('x'.repeat(100_000))).toBe(NOON + HOUR)
    expect(answer(refusedLog(), { failure: { ...SPENT, message: 'x'.repeat(100_000) } }).mark?.message.length).toBeLessThanOrEqual(2_000)
  })
})

describe('a route that we moved to and that does not fit the conversation', () => {
  it.each([MISFIT, WRONG_KEY])('is left for the next, without a mark: $message', (failure) => {
    const response = answer(movedTo(failure), { failure, known: world({ marked: ['a'] }) })
    expect(response).toMatchObject({ kind: 'move', choice: { route: C }, unfit: B })
    expect(response).not.toHaveProperty('mark')
  })

  it('leaves the wait for the route that ran out, for its own reason', () => {
    expect(answer(movedTo(MISFIT), { failure: MISFIT, known: world({ marked: ['a', 'c'] }) }))
      .toMatchObject({ kind: 'wait', on: A, failure: SPENT, unfit: B, verdict: { kind: 'spent-allowance' } })
  })

  it('leaves the wait for the newest reason of that route, whatever it said before', () => {
    const given = log().turn().asks('a', 'm').refused(THROTTLED).retries().starts().refused(SPENT).moves('medium', 'b', 'n').starts().asks('b', 'n').refused(MISFIT)
    expect(answer(given, { failure: MISFIT, known: world({ marked: ['a', 'c'] }) })).toMatchObject({ kind: 'wait', on: A, failure: SPENT, verdict: { kind: 'spent-allowance' } })
  })

  it('is an ordinary failure where the session was not moved in this step, or is switched off', () => {
    const delegated = { kind: 'delegate', why: 'does-not-pass' }
    expect(answer(refusedLog(), { failure: MISFIT })).toMatchObject(delegated)
    expect(answer(refusedLog().moves('medium', 'b', 'n').starts().asks('b', 'n').answers().step().asks('b', 'n').refused(MISFIT), { failure: MISFIT })).toMatchObject(delegated)
    expect(answer(movedTo(MISFIT).command('/quota-retry off'), { failure: MISFIT })).toMatchObject(delegated)
  })

  it.each<Failure>([THROTTLED, { code: 'SERVER', message: '503: overloaded', status: 503 }, { code: 'TIMEOUT', message: 'no first token within 2 s' }])(
    'and is only throttled, overloaded or slow gives way to the next, or is looked at again soon: $code', (failure) => {
      expect(answer(movedTo(failure), { failure })).toMatchObject({ kind: 'move', why: 'outage', choice: { route: C } })
      const waits = answer(movedTo(failure), { failure, known: world({ marked: ['a', 'c'] }), input: { transient: { enabled: false } } })
      expect(waits).toMatchObject({ kind: 'wait', why: 'outage', on: A, failure: SPENT, plan: { first: { at: NOON + 10 * SECOND, cause: 'outage' } } })
      expect(waits).not.toHaveProperty('unfit')
      expect(answer(movedTo(failure).command('/quota-retry off'), { failure }).kind).toBe('retry')
    })

  it('leaves the wait for the route that ran out before the last wait, too', () => {
    // b ran out and was waited for, then a did not fit: what is out of allowance is still b.
    const given = movedTo(SPENT).waits().after(HOUR).starts().moves('medium', 'a', 'm').starts().asks('a', 'm').refused(MISFIT)
    expect(answer(given, { failure: MISFIT, known: world({ marked: ['b', 'c'], now: NOON + HOUR - MINUTE }) }))
      .toMatchObject({ kind: 'wait', on: B, failure: SPENT, unfit: A, verdict: { kind: 'spent-allowance' } })
  })

  it('leaves the wait for a route that ran out, not for one that was only throttled in the same step', () => {
    // While a was throttled another session found it spent, so the quick retry went to b.
    const given = log().turn().asks('a', 'm').refused(THROTTLED).retries().starts().asks('b', 'n').refused(SPENT).moves('medium', 'c', 'o').starts().asks('c', 'o').refused(MISFIT)
    expect(answer(given, { failure: MISFIT, known: world({ marked: ['a', 'b'] }) })).toMatchObject({ kind: 'wait', on: B, failure: SPENT, unfit: C, verdict: { kind: 'spent-allowance' } })
  })
})
