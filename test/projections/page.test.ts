import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/policy/config.ts'
import { configRows } from '../../src/projections/page.ts'

const defaults = parseConfig({})

describe('the configuration on the settings page', () => {
  it('says what is set and what is a default', () => {
    const rows = configRows(parseConfig({ longTermDelayMs: 5_000, probe: 'each' }), defaults)
    expect(rows.filter(({ set }) => set)).toEqual([
      { key: 'longTermDelayMs', value: 5_000, set: true }, { key: 'probe', value: 'each', set: true },
    ])
    expect(rows).toContainEqual({ key: 'maxWaitMs', value: null, set: false })
    expect(rows).toContainEqual({ key: 'defaultEnabled', value: true, set: false })
  })

  it('leaves no key of the configuration out, and says none twice', () => {
    const keys = configRows(defaults, defaults).map(({ key }) => key.split('.')[0])
    const expected = [...Object.keys(defaults), 'maxWaitMs'].filter(key => key !== 'pools' && key !== 'balances')
    expect(new Set(keys)).toEqual(new Set(expected))
    const rows = configRows(parseConfig({ maxWaitMs: 1_000 }), defaults).map(({ key }) => key)
    expect(rows).toHaveLength(new Set(rows).size)
  })

  it('lists pools in their order', () => {
    const pools = { medium: { routes: [{ provider: 'a', model: 'm', reasoningEffort: 'high' }, { provider: 'b', model: 'n' }] } }
    expect(configRows(parseConfig({ pools }), defaults).at(-1)).toEqual({ key: 'pools.medium', value: 'a/m (high), b/n', set: true })
  })

  it('names balance sources without anything that may be secret', () => {
    const pools = { p: { routes: [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' }] } }
    const balances = [
      { provider: 'a', script: ['node', 'a.mjs', '--token', 'hush'] as [string, ...string[]], apiKeyEnv: 'A_KEY', env: { REGION: 'hidden', PROXY: 'too' }, unit: 'usd' },
      { provider: 'b', preset: 'openrouter', args: ['hush'] },
    ]
    const rows = configRows(parseConfig({ pools, balances }), defaults).filter(({ key }) => key.startsWith('balances.'))
    const usual = [{ key: 'minimumRemaining', value: 0 }, { key: 'refreshMs', value: 60_000 }, { key: 'timeoutMs', value: 5_000 }]
    expect(rows.map(({ value }) => value)).toEqual([
      [{ key: 'script', value: 'node a.mjs' }, { key: 'more', value: 2 }, { key: 'apiKeyEnv', value: 'A_KEY' }, { key: 'env', value: 'REGION PROXY' }, { key: 'unit', value: 'usd' }, ...usual],
      [{ key: 'preset', value: 'openrouter' }, { key: 'more', value: 1 }, ...usual],
    ])
    expect(JSON.stringify(rows)).not.toMatch(/hush|hidden|too/)
  })
})
