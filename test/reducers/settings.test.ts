import { describe, expect, it } from 'vitest'
import { foldSession } from '../../src/reducers/session.ts'
import { log, type Log, MINUTE, NOON } from '../support/build.ts'

const settings = (given: Log) => foldSession(given.rows).settings

describe('a setting', () => {
  it('is what the last command that succeeded says', () => {
    expect(settings(log().command('/quota-retry off').after(MINUTE).command('/quota-retry on')))
      .toMatchObject({ retry: { value: 'on', source: 'session', at: NOON + MINUTE }, touched: true })
  })

  it('does not change while the command runs, nor when it fails', () => {
    expect(settings(log().runs('/quota-retry off')).retry).toBeNull()
    expect(settings(log().runs('/quota-retry off').settles('error'))).toEqual(settings(log()))
  })

  it('goes back to the deployment with default, which is a word of its own', () => {
    expect(settings(log().command('/quota-retry off').command('/quota-retry default'))).toMatchObject({ retry: null, touched: true })
  })

  it('of the pool is kept apart, whatever its name', () => {
    expect(settings(log().command('/quota-pool medium').command('/quota-retry off')))
      .toMatchObject({ pool: { value: 'medium' }, retry: { value: 'off' } })
    expect(settings(log().command('/quota-pool none')).pool).toMatchObject({ value: 'off' })
  })

  it('that was taken over says so', () => {
    expect(settings(log().records('/quota-retry inherit off')).retry).toMatchObject({ value: 'off', source: 'inherited' })
  })
})

describe('a session that was put in a pool', () => {
  const assigned = (given: Log): boolean => settings(given).assigned

  it('is due for a route of it until it has sent a request', () => {
    expect(assigned(log().command('/quota-pool medium').turn().asks())).toBe(true)
    expect(assigned(log().command('/quota-pool medium').turn().asks().answers())).toBe(false)
    expect(assigned(log().command('/quota-pool medium').turn().asks().refused())).toBe(false)
  })

  it('is still due when a request ends that did not know of the pool', () => {
    const given = log().turn().asks().command('/quota-pool medium').refused()
    expect(assigned(given)).toBe(true)
    expect(assigned(given.waits().starts().refused())).toBe(false)
  })

  it('is not due any more once it was moved', () => {
    expect(assigned(log().turn().asks().command('/quota-pool medium').refused().moves('medium', 'b', 'n'))).toBe(false)
  })

  it.each(['/quota-pool off', '/quota-pool default', '/quota-pool inherit medium', '/quota-retry on'])('is not one by %s', (line) => {
    expect(assigned(log().command(line))).toBe(false)
  })
})

describe('two commands at once', () => {
  it('take effect in the order in which they settle', () => {
    const given = log().runs('/quota-retry off').runs('/quota-retry on')
    given.event('command/done', { commandId: 'c2', kind: 'success' }).event('command/done', { commandId: 'c1', kind: 'success' })
    expect(settings(given)).toMatchObject({ retry: { value: 'off' }, open: {} })
  })
})

describe('a command that the process did not live to settle', () => {
  it('holds as its person typed it, and settles no second time', () => {
    const cut = (): ReturnType<typeof log> => log().runs('/quota-retry off').crashes()
    expect(settings(cut())).toMatchObject({ retry: { value: 'off', source: 'session' }, open: {}, touched: true })
    expect(settings(cut().runs('/quota-retry on').settles()).retry).toMatchObject({ value: 'on' })
    expect(settings(log().runs('/quota-pool medium').crashes())).toMatchObject({ pool: { value: 'medium' }, assigned: true })
  })
})

describe('a hostile command id', () => {
  it.each(['__proto__', 'constructor', 'hasOwnProperty'])('%s is a name like another', (commandId) => {
    const given = log().event('command/run', { commandId, name: 'quota-retry', args: ' off' })
    expect(settings(given).retry).toBeNull()
    expect(settings(given.event('command/done', { commandId, kind: 'success' })).retry).toMatchObject({ value: 'off' })
    expect(settings(log().event('command/done', { commandId, kind: 'success' })).retry).toBeNull()
  })
})
