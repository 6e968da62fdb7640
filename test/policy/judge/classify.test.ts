import { describe, expect, test } from 'vitest'
import { classifyFailure, type FailureInput } from '../../../src/classify.ts'
import { RULES } from '../../../src/policy/judge/rules/table.ts'

const now = Date.parse('2026-08-28T10:00:00Z')
const classify = (failure: FailureInput) => classifyFailure(failure, { now })
const kind = (failure: FailureInput) => classify(failure).kind
const at = (iso: string) => Date.parse(iso)

describe('a spent allowance is recognised', () => {
  test('given a 400 of a specified usage limit, then it is spent and the bare date stays a hint', () => {
    const answer = classify({ status: 400, code: 'INVALID_REQUEST', message: '400: You have reached your specified API usage limits. You will regain access on 2026-09-01' })
    expect(answer).toMatchObject({ kind: 'spent-allowance', resetHint: 'You will regain access on 2026-09-01' })
    expect(answer.resetsAt).toBeUndefined()
  })

  test('given the same sentence with an hour and UTC, then it is spent until then', () => {
    expect(classify({ message: 'You have reached your specified API usage limits. You will regain access on 2026-09-01 at 00:00 UTC.' }))
      .toMatchObject({ kind: 'spent-allowance', resetsAt: at('2026-09-01T00:00:00Z') })
  })

  test('given no status and no code at all, then the sentence is enough', () => {
    expect(kind({ message: 'Subscription quota exceeded. You can continue using free models.' })).toBe('spent-allowance')
    expect(kind({ message: 'Weekly/Monthly Limit Exhausted' })).toBe('spent-allowance')
  })

  test('given a 403, then "usage limit" is spent and "review our terms" is auth', () => {
    expect(kind({ status: 403, code: 'access_terminated_error', message: "You've reached your usage limit for this billing cycle" })).toBe('spent-allowance')
    expect(kind({ status: 403, code: 'access_terminated_error', message: 'Access terminated. Review our terms' })).toBe('auth')
  })

  test('given a 402 that covers fewer tokens, then the reason says that a smaller output may pass', () => {
    const answer = classify({ status: 402, message: 'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 30104.' })
    expect(answer).toMatchObject({ kind: 'spent-allowance', rule: 'can-afford-less' })
    expect(answer.reason).toContain('30104')
    expect(answer.reason).toContain('smaller output may pass')
    expect(classify({ status: 402, message: 'You requested up to 32000 tokens, but can only afford 0.' }).reason).not.toContain('may pass')
  })

  test('given a 412 of a suspended account, then it is spent', () => {
    expect(kind({ status: 412, message: 'account suspended: monthly spending limit reached' })).toBe('spent-allowance')
  })

  test('given a spend limit and a rate limit on the same 429, then the code beside the status decides', () => {
    expect(kind({ status: 429, message: '{"error":{"type":"insufficient_quota","message":"See your account."}}' })).toBe('spent-allowance')
    expect(kind({ status: 429, message: '{"error":{"type":"rate_limit_error","message":"See your account."}}' })).toBe('rate-limit')
  })

  test('given a daily quota and a per-minute one in one body, then the daily one keeps the request out', () => {
    const ids = (...names: string[]) => `429 You exceeded your current quota. ${JSON.stringify({ violations: names.map(quotaId => ({ quotaId })) })} {"retryDelay":"47s"}`
    expect(kind({ message: ids('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', 'GenerateRequestsPerDayPerProjectPerModel-FreeTier') })).toBe('spent-allowance')
    expect(kind({ message: ids('GenerateRequestsPerMinutePerProjectPerModel-FreeTier') })).toBe('rate-limit')
  })

  test('given ordinary throttling words but a wait of an hour or more, then it is spent', () => {
    expect(kind({ message: "Sorry, you've hit a rate limit. Please try again in 58 hours." })).toBe('spent-allowance')
    expect(kind({ message: "Sorry, you've hit a rate limit. Please try again in 58 seconds." })).toBe('rate-limit')
    expect(kind({ message: 'Rate limit reached.', providerRetryAfterMs: 86_400_000 })).toBe('spent-allowance')
  })
})

describe('nothing else is called spent', () => {
  test.each([
    ['server', { code: 'TIMEOUT', message: 'No first token within 2000 ms' }],
    ['server', { code: 'TIMEOUT', message: 'usage limit check timed out' }],
    ['server', { status: 429, code: 'overloaded_error', message: 'Overloaded' }],
    ['server', { status: 429, provider: 'zai', code: '1305', message: 'The model is receiving many visits' }],
    ['other', { code: 'EDQUOT', message: 'Disk quota exceeded' }],
    ['other', { code: 'QUOTA', message: 'write failed: Disk quota exceeded' }],
    ['other', { status: 403, message: 'Your account has exhausted its file storage quota.' }],
    ['other', { message: 'Your credit card was declined.' }],
    ['rate-limit', { status: 429, message: 'Concurrency limit reached for requests' }],
    ['rate-limit', { status: 429, message: 'TPM limit reached' }],
    ['rate-limit', { status: 429, message: 'Too Many Requests. Please upgrade your plan for higher rate limits.' }],
    ['rate-limit', { status: 429, message: 'Too many requests. If this lasts for more than 24 hours, contact support.' }],
    ['rate-limit', { status: 429, message: 'Rate limited (not your usage limit)' }],
    ['context', { status: 400, code: 'QUOTA', message: "This model's maximum context length is 8192 tokens" }],
    ['auth', { status: 402, message: 'unable to verify your membership benefits' }],
    ['auth', { status: 401, message: 'Incorrect API key provided' }],
  ] as [string, FailureInput][])('then it is %s: %j', (expected, failure) => {
    expect(kind(failure)).toBe(expected)
  })
})

describe("the harness's own codes", () => {
  test.each(['QUOTA', 'ACCOUNT_QUOTA', 'INSUFFICIENT_QUOTA'])('given %s, then it counts with any text or none', code => {
    for (const message of [undefined, null, '', 'Request failed', 'please come back'])
      expect(classify({ code, message })).toMatchObject({ kind: 'spent-allowance' })
  })

  test('given QUOTA whose text names a per-minute throttle, then it is marked as one', () => {
    expect(classify({ code: 'QUOTA', message: 'Quota exceeded for generate_content_requests_per_minute_per_project' })).toMatchObject({ kind: 'spent-allowance', throttle: true })
    expect(classify({ code: 'QUOTA', message: '429 Allocated quota exceeded, please increase your quota limit.' })).toMatchObject({ kind: 'spent-allowance', throttle: true })
    expect(classify({ code: 'QUOTA', message: 'week allocated quota exceeded' }).throttle).toBeUndefined()
    expect(classify({ code: 'QUOTA', message: '402: Insufficient Balance' }).throttle).toBeUndefined()
  })

  test('given AUTH, RATE_LIMIT, INVALID_REQUEST or SERVER, then the text decides', () => {
    expect(kind({ code: 'RATE_LIMIT', message: '429 已达到 Token Plan 用量上限' })).toBe('spent-allowance')
    expect(kind({ code: 'RATE_LIMIT', message: '429 余额不足或无可用资源包,请充值。' })).toBe('spent-allowance')
    expect(kind({ code: 'AUTH', message: "403: You've reached your usage limit for this billing cycle." })).toBe('spent-allowance')
    expect(kind({ code: 'INVALID_REQUEST', message: '400: Your credit balance is too low to access the Anthropic API.' })).toBe('spent-allowance')
    expect(kind({ code: 'SERVER', message: '500: insufficient balance (1008)' })).toBe('spent-allowance')
    expect(kind({ code: 'AUTH', message: '403: forbidden' })).toBe('auth')
  })

  test('given only a status, bare or as text, then 402 is spent and 429 a weak rate limit', () => {
    expect(kind({ code: 'HTTP_402', message: 'HTTP 402' })).toBe('spent-allowance')
    expect(kind({ status: 402 })).toBe('spent-allowance')
    expect(classify({ code: 'RATE_LIMIT', message: '429' })).toMatchObject({ kind: 'rate-limit', confidence: 'weak' })
  })
})

describe('codes inside the text', () => {
  test.each([
    'Error code: 429 - {"error": {"code": "1113", "message": "-"}}',
    '429 {"error":{"code":1113,"message":"-"}}',
    'request refused (1113)',
    'request refused [1308]',
    'HTTP 500: {"base_resp":{"status_code":1008}}',
  ])('given %j from nobody known, then it is spent', message => {
    expect(kind({ message })).toBe('spent-allowance')
  })

  test('given the same number from two providers, then each means its own', () => {
    expect(kind({ provider: 'minimax', code: '1002' })).toBe('rate-limit')
    expect(kind({ provider: 'zhipu', code: '1002' })).toBe('auth')
  })
})

describe('the rule table', () => {
  test('every rule has its own kebab-case id and a condition', () => {
    const ids = RULES.map(rule => rule.id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id, kind: _kind, confidence: _confidence, why, throttle: _throttle, ...conditions } of RULES) {
      expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
      expect(why).not.toBe('')
      expect(Object.keys(conditions), id).not.toHaveLength(0)
    }
  })

  test('no pattern keeps state between calls', () => {
    for (const rule of RULES)
      for (const value of Object.values(rule))
        if (value instanceof RegExp) expect(value.global || value.sticky, rule.id).toBe(false)
  })
})
