import { describe, expect, it } from 'vitest'
import { readFacts } from '../../client/facts.ts'
import { parseConfig } from '../../src/policy/config.ts'
import { quotaRetryFacts } from '../../src/projections/facts.ts'
import { initialState } from '../../src/reducers/session.ts'

const facts = quotaRetryFacts(initialState, parseConfig({}))
const wait = { since: 1, nextAttemptAt: 2, pending: true, attempts: 1, provider: 'a', model: 'm', reason: 'no more', resetsAt: null }
const lastMove = { from: null, to: { provider: 'b', model: 'n' }, pool: 'p', at: 1, turn: 0 }

describe('the facts of a session', () => {
  it('are taken as the host half gives them', () => {
    expect(readFacts(facts)).toBe(facts)
    expect(readFacts({ ...facts, wait, lastMove })).toMatchObject({ wait, lastMove })
  })

  it.each([
    ['nothing', undefined], ['no object', 'on'], ['another version', { ...facts, version: 2 }], ['no version', { ...facts, version: undefined }],
    ['no switch', { ...facts, enabled: 'yes' }], ['no pools', { ...facts, pools: undefined }], ['pools that are none', { ...facts, pools: [1] }],
    ['a wait without a provider', { ...facts, wait: { ...wait, provider: 7 } }], ['no wait at all', { ...facts, wait: undefined }],
    ['a wait for no time', { ...facts, wait: { ...wait, nextAttemptAt: 'soon' } }], ['a move to nowhere', { ...facts, lastMove: { ...lastMove, to: null } }],
  ])('leave the page alone where they are %s', (_what, value) => {
    expect(readFacts(value)).toBeUndefined()
  })
})
