import { describe, expect, it } from 'vitest'
import { RESERVED_POOL_NAMES } from '../../src/events/settings.ts'
import { ConfigError, MAX_DELAY_MS, parseConfig } from '../../src/policy/config.ts'

const route = { provider: 'a', model: 'm' }
const pools = { p: { routes: [route] } }
const balance = { provider: 'a', script: ['node', 'a.mjs'] }

/** The problems of a configuration, one sentence each. */
function problems(input: unknown): readonly string[] {
  try {
    parseConfig(input)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}
const withBalance = (more: object): unknown => ({ pools, balances: [{ ...balance, ...more }] })
const withRoute = (more: object): unknown => ({ pools: { p: { routes: [{ ...route, ...more }] } } })

const TRANSIENT = {
  enabled: true, maxRetries: 3, maxDurationMs: null, initialDelayMs: 1_000, maxDelayMs: 60_000, jitterRatio: 0.2, curve: 'continue',
  codes: [], excludeCodes: [], retryWithoutProviderPolicy: true, moveAfter: null,
}

describe('no configuration', () => {
  it.each([undefined, null, {}])('as %j is every default', (input) => {
    expect(parseConfig(input)).toEqual({
      longTermDelayMs: 3_600_000, defaultEnabled: true, pools: {}, balances: [], failOpen: true, exhaustedCooldownMs: 3_600_000, beforeNativeRetries: false,
      returnToPreferred: 'turn', probe: 'single', transient: TRANSIENT,
      resumeOnStart: true, resumeConcurrency: 4, resumeDelaySeconds: 3, continuation: expect.stringContaining('Continue where you left off'),
    })
  })

  it('leaves the longest wait open', () => {
    expect(parseConfig({})).not.toHaveProperty('maxWaitMs')
  })
})

describe('a whole configuration', () => {
  it('is read as it stands', () => {
    const input = {
      longTermDelayMs: 1_800_000, defaultEnabled: false, maxWaitMs: MAX_DELAY_MS, failOpen: false, exhaustedCooldownMs: 1, beforeNativeRetries: true, returnToPreferred: 'step', probe: 'each',
      resumeOnStart: false, resumeConcurrency: 2, resumeDelaySeconds: 0, continuation: 'Go on.',
      pools: { 'medium-2': { routes: [{ ...route, reasoningEffort: 'high' }, { provider: 'b', model: 'deep/m' }] } },
      balances: [
        { ...balance, apiKeyEnv: 'A_KEY', env: { REGION: 'eu' }, unit: 'percent', minimumRemaining: 5, refreshMs: 60_000, timeoutMs: 5_000 },
        { provider: 'b', preset: 'deepseek', args: ['--json'], minimumRemaining: 0, refreshMs: 60_000, timeoutMs: 5_000 },
      ],
    }
    expect(parseConfig(input)).toEqual({ ...input, transient: TRANSIENT })
  })

  it('fills in what a balance source leaves out', () => {
    expect(parseConfig({ pools, balances: [balance] }).balances[0]).toEqual({ ...balance, minimumRemaining: 0, refreshMs: 60_000, timeoutMs: 5_000 })
  })

  it('hands a script its arguments exactly as they stand', () => {
    const script = ['node', 'a.mjs', '', ' ', '--sep= ']
    expect(parseConfig(withBalance({ script })).balances[0]?.script).toEqual(script)
  })

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(parseConfig({}))).toBe(true)
  })
})

describe('a bad value is named with its key, itself and what is allowed', () => {
  const delay = `a number of milliseconds above 0 and up to ${MAX_DELAY_MS}`
  const delays = ['longTermDelayMs', 'exhaustedCooldownMs', 'maxWaitMs'].flatMap(key =>
    [0, -1, MAX_DELAY_MS + 1, '1h', Number.POSITIVE_INFINITY, Number.NaN, null, true].map((value): [string, unknown, string] => [key, value, delay]))
  const flags = ['defaultEnabled', 'failOpen', 'beforeNativeRetries'].flatMap(key =>
    ['yes', 0, null].map((value): [string, unknown, string] => [key, value, 'true or false']))
  it.each<[string, unknown, string]>([
    ...delays, ...flags, ['probe', 'all', 'single or each'], ['returnToPreferred', 'soon', 'never, turn or step'], ['pools', 'medium', 'a map from pool names to {routes: [...]}'], ['balances', 7, 'a list of balance sources'],
  ])('%s: %s', (key, value, allowed) => {
    const shown = typeof value === 'string' ? `"${value}"` : String(value)
    expect(problems({ [key]: value })).toEqual([`"${key}" must be ${allowed}, got ${shown}`])
  })

  it.each([
    ['pools.p', { pools: { p: null } }, 'a pool {routes: [...]}, got null'],
    ['pools.p.routes', { pools: { p: { routes: [] } } }, 'at least one route {provider, model, reasoningEffort?}, got []'],
    ['pools.p.routes', { pools: { p: {} } }, 'a list of routes {provider, model, reasoningEffort?}, got nothing'],
    ['pools.p.routes[0]', { pools: { p: { routes: ['a/m'] } } }, 'a route {provider, model, reasoningEffort?}, got "a/m"'],
    ['pools.p.routes[0].provider', withRoute({ provider: ' ' }), 'a provider id as the harness has it, got " "'],
    ['pools.p.routes[0].model', withRoute({ model: 5 }), 'a model id of that provider, got 5'],
    ['pools.p.routes[0].reasoningEffort', withRoute({ reasoningEffort: '' }), 'a reasoning effort of that model, got ""'],
    ['balances[0].provider', { pools, balances: [{ script: ['x'] }] }, 'the provider that the script reports on, got nothing'],
    ['balances[0].script', withBalance({ script: 'node a.mjs' }), 'a command as a list, never a shell line: [executable, argument, ...], got a string'],
    ['balances[0].script[0]', withBalance({ script: [''] }), 'the executable, got a string'],
    ['balances[0].script[1]', withBalance({ script: ['node', 5] }), 'one argument of the command, as text, got 5'],
    ['balances[0].preset', { pools, balances: [{ provider: 'a', preset: '' }] }, 'the name of a script that ships with the plugin, got ""'],
    ['balances[0].unit', withBalance({ unit: 5 }), 'what the reading counts, for a person: percent, usd, ..., got 5'],
    ['balances[0].minimumRemaining', withBalance({ minimumRemaining: -1 }), 'a number in the unit of the reading, 0 or more, got -1'],
    ['balances[0].refreshMs', withBalance({ refreshMs: 5 }), `a number of milliseconds from 1000 to ${MAX_DELAY_MS}, got 5`],
    ['balances[0].timeoutMs', withBalance({ timeoutMs: '5s' }), `a number of milliseconds from 100 to ${MAX_DELAY_MS}, got "5s"`],
  ])('%s', (key, input, rest) => {
    expect(problems(input)).toEqual([`"${key}" must be ${rest}`])
  })

  it.each(['x', 7, [], true])('%j as a whole', (input) => {
    expect(problems(input)).toEqual([`config must be a map of settings, got ${JSON.stringify(input)}`])
  })
})

describe('an unknown key is named with its place and the keys that exist', () => {
  it.each([
    ['longTermDelay', { longTermDelay: 5 }, /allowed: longTermDelayMs, defaultEnabled, maxWaitMs, pools, balances, failOpen/],
    ['pools.p.route', { pools: { p: { routes: [route], route } } }, /allowed: routes$/],
    ['pools.p.routes[0].effort', withRoute({ effort: 'high' }), /allowed: provider, model, reasoningEffort$/],
    ['balances[0].refresh', withBalance({ refresh: 5 }), /allowed: provider, script, preset, args, apiKeyEnv, env, unit, minimumRemaining, refreshMs, timeoutMs$/],
    ['__proto__', JSON.parse('{"__proto__": {"failOpen": false}}'), /allowed: longTermDelayMs/],
  ])('%s', (key, input, allowed) => {
    expect(problems(input)).toEqual([expect.stringContaining(`unknown key "${key}"`)])
    expect(problems(input)[0]).toMatch(allowed)
  })
})

describe('the name of a pool', () => {
  it.each(RESERVED_POOL_NAMES)('is not %s, which the command answers itself', (name) => {
    expect(problems({ pools: { [name]: pools.p } })).toEqual([expect.stringContaining(`"pools.${name}" must not be called "${name}"`)])
  })

  it.each(['Medium', 'a_b', 'a b', '', 'ü'])('is not %j', (name) => {
    expect(problems({ pools: { [name]: pools.p } })).toEqual([expect.stringContaining(`lowercase letters, digits and hyphens, got "${name}"`)])
  })

  it('is not one that would vanish', () => {
    expect(problems(JSON.parse('{"pools": {"__proto__": {"routes": [{"provider": "a", "model": "m"}]}}}'))).toEqual([expect.stringContaining('got "__proto__"')])
  })

  it.each(['a', '7', 'gpt-5--mini', '-a', 'constructor'])('may be %s', (name) => {
    expect(problems({ pools: { [name]: pools.p } })).toEqual([])
  })
})

describe('parts that do not fit together', () => {
  it('are a route that its pool lists twice', () => {
    expect(problems({ pools: { p: { routes: [route, { ...route, model: 'n' }, { ...route, reasoningEffort: 'low' }] } } }))
      .toEqual(['"pools.p.routes[2]" must be a route that the pool does not list yet, got a/m again (first at [0])'])
  })

  it('are a source for a provider of no pool', () => {
    expect(problems({ pools, balances: [{ ...balance, provider: 'z' }] })).toEqual(['"balances[0].provider" must be a provider of some pool (a), got "z"'])
  })

  it('are two sources for one provider', () => {
    expect(problems({ pools, balances: [balance, balance] })).toEqual([expect.stringContaining('"balances[1].provider" must have one source only, got "a" again')])
  })

  it('are both a script and a preset, neither, and arguments without a preset', () => {
    expect(problems(withBalance({ preset: 'x' }))).toEqual(['"balances[0]" must have either a "script" or a "preset", got both'])
    expect(problems({ pools, balances: [{ provider: 'a' }] })).toEqual(['"balances[0]" must have either a "script" or a "preset", got neither'])
    expect(problems(withBalance({ args: [] }))).toEqual([expect.stringContaining('"balances[0].args" must stand beside a "preset"')])
  })
})

describe('several problems', () => {
  it('are reported at once, of whatever kind', () => {
    const found = problems({
      longTermDelayMs: 0, failOpen: 'x', colour: 1,
      pools: { off: pools.p, p: { routes: [route, route] } },
      balances: [{ ...balance, script: undefined }, { ...balance, preset: 'x' }],
    })
    expect(found).toHaveLength(8)
    for (const part of ['longTermDelayMs', 'failOpen', 'colour', 'pools.off', 'pools.p.routes[1]', 'neither', 'balances[1].provider', 'both']) {
      expect(found.join('\n')).toContain(part)
    }
  })

  it('are one message that says whose they are', () => {
    expect(() => parseConfig({ failOpen: 1, defaultEnabled: 1 })).toThrow(/^llm-quota-retry: "defaultEnabled".*; "failOpen"/)
  })

  it('do not accuse a source because the pools are broken', () => {
    expect(problems({ pools: 5, balances: [balance] })).toEqual([expect.stringContaining('"pools"')])
  })
})

describe('what may be a secret', () => {
  const SECRET = 'sk-live-1234'
  it.each([
    ['an entry that is no text', withBalance({ env: { KEY: [SECRET] } }), '"balances[0].env.KEY" must be a text, got an object'],
    ['an entry with a bad name', withBalance({ env: { 'bad-name': SECRET } }), '"balances[0].env.bad-name" must be called by a name of letters, digits and _'],
    ['a text for the whole', withBalance({ env: `KEY=${SECRET}` }), '"balances[0].env" must be a map from names to texts, got a string'],
    ['a list for the whole', withBalance({ env: [SECRET] }), '"balances[0].env" must be a map from names to texts, got an object'],
    ['a key in place of its name', withBalance({ apiKeyEnv: SECRET }), '"balances[0].apiKeyEnv" must be the name of a credential: letters, digits and _, got a string'],
    ['a command line in one text', withBalance({ script: `curl -H "Authorization: Bearer ${SECRET}"` }), '"balances[0].script" must be a command as a list, never a shell line: [executable, argument, ...], got a string'],
    ['arguments in one text', { pools, balances: [{ provider: 'a', preset: 'deepseek', args: `--key=${SECRET}` }] }, '"balances[0].args" must be a list of further arguments for the preset, got a string'],
    ['a source in one text', { pools, balances: [SECRET] }, '"balances[0]" must be a balance source {provider, script | preset, ...}, got a string'],
    ['a number that is none', withBalance({ minimumRemaining: SECRET }), '"balances[0].minimumRemaining" must be a number in the unit of the reading, 0 or more, got a string'],
    ['a map in place of the list', { pools, balances: { ...balance, env: { KEY: SECRET } } }, '"balances" must be a list of balance sources, got a map of provider, script, env'],
    ['a whole row at the wrong place', { pools: [{ env: { KEY: SECRET } }] }, '"pools" must be a map from pool names to {routes: [...]}, got a list of 1'],
    ['a row without its script', { pools, balances: [{ provider: 'a', env: { KEY: SECRET } }] }, '"balances[0]" must have either a "script" or a "preset", got neither'],
  ])('is never repeated: %s', (_name, input, message) => {
    expect(problems(input)).toEqual([message])
  })
})

describe('a long value', () => {
  it('is cut', () => {
    expect(problems({ failOpen: 'x'.repeat(500) })[0]!.length).toBeLessThan(140)
  })
})
