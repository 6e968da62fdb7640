import { describe, expect, it } from 'vitest'
import { moveKey, readPolicyKey, WAIT_CAUSES, waitKey } from '../../src/events/policy-key.ts'

describe('our mark in a retry record', () => {
  it('is for the plain wait exactly what the log promises', () => {
    expect(waitKey({ intervalMs: 3_600_000, cause: 'interval' })).toBe('["llm-quota-retry","wait",3600000]')
    expect(moveKey('p', 'b', 'n')).toBe('["llm-quota-retry","move","p","b","n"]')
  })

  it.each(WAIT_CAUSES)('reads back a wait for %s', (cause) => {
    const wait = { intervalMs: 60_000, cause }
    const elsewhere = { ...wait, on: { provider: 'b', model: 'n' } }
    expect(readPolicyKey(waitKey(wait))).toEqual({ kind: 'wait', ...wait })
    expect(readPolicyKey(waitKey(elsewhere))).toEqual({ kind: 'wait', ...elsewhere })
  })

  it('reads back a move, whatever the names hold', () => {
    expect(readPolicyKey(moveKey('p', 'b"]', '深/n'))).toEqual({ kind: 'move', pool: 'p', provider: 'b"]', model: '深/n' })
  })

  it('takes a cause of a later version as a plain wait', () => {
    expect(readPolicyKey('["llm-quota-retry","wait",5,"moonrise"]')).toEqual({ kind: 'wait', intervalMs: 5, cause: 'interval' })
  })

  it.each([
    undefined, 7, '', 'normal:5', '["other","wait",5]', '["llm-quota-retry","wait",-1]', '["llm-quota-retry","wait","5"]',
    '["llm-quota-retry","move","p","b"]', '["llm-quota-retry","move","p","","n"]', '["llm-quota-retry","wait",5', '["llm-quota-retry",'.repeat(2_000),
  ])('is not %s', (key) => {
    expect(readPolicyKey(key)).toBeUndefined()
  })
})
