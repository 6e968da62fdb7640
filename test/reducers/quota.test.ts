import { describe, expect, it } from 'vitest'
import { foldSession } from '../../src/reducers/session.ts'
import { HOUR, log, type Log, MINUTE, NOON, refusedLog, SPENT, THROTTLED, waitingLog } from '../support/build.ts'

const entries = (given: Log) => foldSession(given.rows).entries
const open = (given: Log) => entries(given).open

describe('an entry opens', () => {
  it('with the first wait, not with the refusal', () => {
    expect(open(refusedLog())).toBeNull()
    expect(open(waitingLog())).toMatchObject({
      enteredAt: NOON, attempts: 1, provider: 'a', model: 'm', turn: 1, step: 1, since: NOON, failure: SPENT,
      wait: { plannedAt: NOON, nextAttemptAt: NOON + HOUR, retry: 1, cause: 'interval', intervalMs: HOUR },
    })
  })

  it('not with a quick retry of the harness, and not with a move', () => {
    expect(open(refusedLog().retries())).toBeNull()
    expect(open(refusedLog().moves('p', 'b', 'n'))).toBeNull()
  })

  it('without a model when the log does not say which', () => {
    expect(open(log().turn().step().refused().waits())).toMatchObject({ provider: 'a', model: null })
  })
})

describe('a wait for another route than the one that failed last', () => {
  it('stands under the route that is waited for', () => {
    expect(open(refusedLog().asks('b', 'n').refused().waits(HOUR, { on: { provider: 'a', model: 'm' } }))).toMatchObject({ provider: 'a', model: 'm', attempts: 1 })
  })
})

describe('an entry goes on', () => {
  it('counts each wait, and keeps when it began', () => {
    expect(open(waitingLog().after(HOUR).starts().refused().waits()))
      .toMatchObject({ enteredAt: NOON, attempts: 2, since: NOON, wait: { retry: 2, nextAttemptAt: NOON + 2 * HOUR } })
  })

  it('counts an attempt that came before its time once', () => {
    const asked = waitingLog().after(5 * MINUTE).waits(0, { cause: 'asked' })
    expect(open(asked)).toMatchObject({ attempts: 1, wait: { cause: 'asked', nextAttemptAt: NOON + 5 * MINUTE } })
    expect(open(asked.starts().refused().waits())).toMatchObject({ attempts: 2 })
  })

  it('counts an attempt that another session makes for all', () => {
    expect(open(waitingLog().after(HOUR).waits(HOUR, { cause: 'shared' }))).toMatchObject({ attempts: 2, wait: { nextAttemptAt: NOON + 2 * HOUR } })
  })

  it('has nothing armed while an attempt runs', () => {
    expect(open(waitingLog().after(HOUR).starts())).toMatchObject({ attempts: 1, wait: null })
  })

  it('stays when the turn is cancelled, and the next refusal arms it again', () => {
    const cancelled = waitingLog().after(MINUTE).cancels()
    expect(open(cancelled)).toMatchObject({ enteredAt: NOON, attempts: 1, wait: null })
    expect(open(cancelled.after(MINUTE).turn().step().refused().waits()))
      .toMatchObject({ enteredAt: NOON, attempts: 2, turn: 2, since: NOON + 2 * MINUTE, wait: { nextAttemptAt: NOON + 2 * MINUTE + HOUR } })
  })

  it('stays through a crash', () => {
    expect(open(waitingLog().crashes())).toMatchObject({ attempts: 1, wait: null })
  })

  it('stays through an ordinary failure and the prefix of a cancelled stream', () => {
    expect(open(waitingLog().starts().refused(THROTTLED).retries().starts().interrupted().cancels())).toMatchObject({ attempts: 1 })
  })

  it('shows the newest refusal and the route that gave it', () => {
    expect(open(waitingLog().starts().asks('b', 'n').refused().waits(HOUR, { failure: { code: 'AUTH', message: 'x'.repeat(5_000) } })))
      .toMatchObject({ provider: 'b', model: 'n', failure: { code: 'AUTH', message: expect.stringMatching(/^x{1999}…$/) } })
  })
})

describe('a wait that was given up without a word', () => {
  it.each([
    ['the harness retries by itself', (given: Log) => given.retries()],
    ['a request fails', (given: Log) => given.refused()],
    ['the request is moved', (given: Log) => given.moves('p', 'b', 'n')],
    ['the turn ends', (given: Log) => given.endTurn('error')],
    ['a turn begins without the end of the last', (given: Log) => given.event('turn/start', { turn: 2 })],
  ])('is not armed any more when %s', (_name, then) => {
    expect(open(then(waitingLog()))).toMatchObject({ attempts: 1, wait: null })
  })

  it('was never armed when its record stands in no open turn', () => {
    const [planned] = waitingLog().rows.slice(-1)
    expect(foldSession([planned]).entries.open).toMatchObject({ attempts: 1, wait: null })
  })
})

describe('an entry closes', () => {
  it('recovered, with the next answer', () => {
    const given = waitingLog().after(HOUR).starts().after(MINUTE).answers()
    expect(entries(given)).toMatchObject({
      open: null, closed: 1,
      lastClosed: { reason: 'recovered', enteredAt: NOON, leftAt: NOON + HOUR + MINUTE, attempts: 1, provider: 'a', turn: 1, step: 1 },
    })
  })

  it('disabled, when the switch goes off, though not before the command succeeded', () => {
    expect(open(waitingLog().runs('/quota-retry off'))).not.toBeNull()
    expect(open(waitingLog().runs('/quota-retry off').settles('error'))).not.toBeNull()
    expect(entries(waitingLog().command('/quota-retry off'))).toMatchObject({ open: null, lastClosed: { reason: 'disabled' } })
  })

  it('not with other settings', () => {
    expect(open(waitingLog().command('/quota-retry on').command('/quota-retry default').command('/quota-pool off'))).not.toBeNull()
  })

  it('once, and a later wait is a new entry', () => {
    const given = waitingLog().starts().answers().answers().after(HOUR).refused().waits()
    expect(entries(given)).toMatchObject({ closed: 1, open: { enteredAt: NOON + HOUR, attempts: 1 } })
  })
})

describe('an attempt', () => {
  it('pairs its own wait only', () => {
    const given = waitingLog()
    const { retryId } = open(given)!.wait!
    for (const foreign of [{ retryId: 'other', retry: 1 }, { retryId, retry: 2 }]) given.event('llm/retry-started', { ...foreign, turn: 1, step: 1 })
    expect(open(given)).toHaveProperty('wait.retry', 1)
    expect(open(given.event('llm/retry-started', { retryId, retry: 1, turn: 1, step: 1 }))).toMatchObject({ wait: null })
  })
})
