import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/policy/config.ts'
import { resolvePool, resolveSwitch } from '../../src/policy/settings.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { log } from '../support/build.ts'

const settings = (...lines: string[]) => lines.reduce((given, line) => given.command(line), log()).rows
const after = (...lines: string[]) => foldSession(settings(...lines)).settings
const A = { provider: 'a', model: 'm' }
const B = { provider: 'b', model: 'm' }
const config = parseConfig({ pools: { one: { routes: [A, B] }, two: { routes: [B, { provider: 'c', model: 'm' }] }, spare: { routes: [{ provider: 'd', model: 'm' }] } } })

describe('the switch of a session', () => {
  it('is the deployment\'s while the session states none', () => {
    expect(resolveSwitch(after(), { defaultEnabled: true })).toEqual({ enabled: true, source: 'default' })
    expect(resolveSwitch(after('/quota-retry off', '/quota-retry default'), { defaultEnabled: false })).toEqual({ enabled: false, source: 'default' })
  })

  it('is the session\'s own, against the deployment', () => {
    expect(resolveSwitch(after('/quota-retry off'), { defaultEnabled: true })).toEqual({ enabled: false, source: 'session' })
    expect(resolveSwitch(after('/quota-retry inherit on'), { defaultEnabled: false })).toEqual({ enabled: true, source: 'inherited' })
  })
})

describe('the pool of a session', () => {
  it('is the one it states, on whatever route it is', () => {
    expect(resolvePool(after('/quota-pool spare'), A, config)).toEqual({ pool: 'spare', source: 'session' })
    expect(resolvePool(after('/quota-pool inherit spare'), null, config)).toEqual({ pool: 'spare', source: 'inherited' })
  })

  it('is none when it states off', () => {
    expect(resolvePool(after('/quota-pool off'), A, config)).toEqual({ pool: null, source: 'off' })
  })

  it('is otherwise the one pool that holds its route', () => {
    expect(resolvePool(after(), A, config)).toEqual({ pool: 'one', source: 'default' })
    expect(resolvePool(after('/quota-pool spare', '/quota-pool default'), A, config)).toEqual({ pool: 'one', source: 'default' })
  })

  it('is never a guess', () => {
    for (const route of [B, null, { provider: 'a', model: 'other' }]) expect(resolvePool(after(), route, config)).toEqual({ pool: null, source: 'default' })
  })

  it.each(['gone', 'constructor'])('is none, and says so, when the configuration has no %s', (name) => {
    expect(resolvePool(after(`/quota-pool ${name}`), A, config)).toEqual({ pool: null, source: 'session', missing: name })
  })
})
