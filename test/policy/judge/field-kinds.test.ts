/** Failures of the kinds that users report most, in many words: each line stands for others like it. */
import { describe, expect, it } from 'vitest'
import { classifyFailure } from '../../../src/policy/judge/classify.ts'
import { NOON } from '../../support/build.ts'

const classify = (failure: object) => classifyFailure(failure, { now: NOON })

describe('a code that the words do not repeat', () => {
  it.each(['SetLimitExceeded', 'CreditsError', 'FreeTierOnly', 'usage_not_included', 'billing_not_active', 'payment_required'])('%s is spent on a 429', (code) => {
    expect(classify({ status: 429, code, message: 'Request denied.' }).kind).toBe('spent-allowance')
    expect(classify({ status: 429, message: JSON.stringify({ error: { code, message: 'Request denied.' } }) }).kind).toBe('spent-allowance')
  })

  it.each(['rate_limit_exceeded', 'rate_limit_error', 'concurrency_limit_exceeded', 'RateLimitExceeded.EndpointRPMExceeded'])('%s is a throttle even on a 402', (code) => {
    expect(classify({ status: 402, code, message: 'Request denied.' }).kind).toBe('rate-limit')
  })
})

describe('a timeout is never spent', () => {
  it.each([
    { code: 'TIMEOUT', message: 'usage limit reached' },
    { code: 'TIMEOUT', message: '额度已用完' },
    { code: 'QUOTA', message: '504: quota exceeded while waiting: upstream request timeout' },
    { code: 'FIRST_TOKEN_TIMEOUT', message: 'no first token for 2 seconds, usage limit unknown' },
    { code: 'ETIMEDOUT', message: 'insufficient balance lookup: connect ETIMEDOUT' },
    { status: 504, code: 'DEADLINE_EXCEEDED', message: 'Deadline exceeded: quota exceeded?' },
    { message: '请求超时，配额服务无响应，额度已用完' },
    { message: 'リクエストがタイムアウトしました。使用量の上限に達しました' },
    { message: '시간 초과: 사용 한도 초과 여부 확인 불가' },
  ])('%j', (failure) => {
    expect(classify(failure).kind).toBe('server')
  })
})

describe('an overload code on a 429 is the server\'s', () => {
  it.each([
    { status: 429, code: 'engine_overloaded_error' }, { status: 429, code: 'ServerOverloaded' }, { status: 429, code: 'MODEL_CAPACITY_EXHAUSTED' },
    { code: 'RATE_LIMIT', message: '429: {"type":"overloaded_error","message":"Overloaded. Upgrade your plan for priority capacity"}' },
    { code: 'RATE_LIMIT', message: '429: {"code":"1312","message":"该模型当前访问量过大"}', provider: 'zai' },
    { code: 'RATE_LIMIT', message: '429: {"code":"2064","message":"cluster overload, insufficient balance of capacity"}', provider: 'minimax' },
    { status: 429, message: 'サーバーが混み合っています。' },
  ])('%j', (failure) => {
    expect(classify(failure).kind).toBe('server')
  })
})

describe('an account suspended for money', () => {
  it.each([
    { status: 412, message: 'account suspended: monthly spending limit reached' },
    { code: 'PI_AI_ERROR', message: '412: account suspended: monthly spending limit reached' },
    { status: 412, message: 'Account acc-1 is suspended, possibly due to a failed recharge.' },
    { status: 412, message: '账户已暂停：已达到每月消费上限' },
  ])('is spent: %j', (failure) => {
    expect(classify(failure).kind).toBe('spent-allowance')
  })

  it.each([{ status: 412, message: 'Precondition Failed' }, { status: 412, message: 'account suspended for a violation of our terms' }])('is not, where nothing speaks of money: %j', (failure) => {
    expect(classify(failure).kind).not.toBe('spent-allowance')
  })
})

describe('a 403 that terminates access', () => {
  it.each([
    ['spent-allowance', 'access_terminated_error', '您已达到本计费周期的使用上限'],
    ['spent-allowance', 'permission_error', 'Usage limit reached for your 5-hour window'],
    ['auth', 'access_terminated_error', 'Your access has been terminated due to a violation of our usage policy.'],
    ['auth', 'access_terminated_error', 'Your account was terminated for abuse. Review the usage limits in our terms.'],
  ])('is %s: %s, %s', (kind, code, message) => {
    expect(classify({ status: 403, code, message }).kind).toBe(kind)
  })
})

describe('a subscription without status and code', () => {
  it.each([
    'Subscription limit reached. Switch to a free model to continue.', 'SubscriptionQuotaExceeded', 'Subscription quota depleted',
    '订阅额度已用完，您可以继续使用免费模型', 'サブスクリプションの利用枠を使い切りました。', '구독 할당량을 초과했습니다.', 'Cuota de suscripción excedida.',
  ])('is spent: %s', (message) => {
    expect(classify({ message }).kind).toBe('spent-allowance')
  })
})

describe('"monthly limit" in a text that says nothing of the sort', () => {
  it.each([
    { status: 500, message: 'Internal error. See your monthly limit in the console for details.' },
    { status: 400, message: 'Invalid value for field "monthly limit": must be a number' },
    { status: 401, message: 'Invalid API key. The monthly limit of this key cannot be determined.' },
    { status: 404, message: 'The monthly limit report does not exist' },
    { status: 429, message: 'Too many requests, please slow down. This is not related to your monthly limit.' },
  ])('is not spent: %j', (failure) => {
    expect(classify(failure).kind).not.toBe('spent-allowance')
  })
})

describe('what tells of an allowance without saying that it is gone', () => {
  it.each([
    { status: 503, message: 'Service unavailable. Your monthly limit has not been reached.' },
    { status: 429, message: 'Rate limited. You have not exceeded your weekly limit.' },
    { status: 429, message: 'Rate limit reached. This does not count against your monthly limit.' },
    { status: 429, message: 'You have reached 80% of your monthly limit.' },
    { status: 500, message: '{"error":"internal error","quota_exceeded":false}' },
    { status: 500, message: '内部错误（本月额度尚未用完）' },
    { status: 422, message: 'Field \'text\' invalid, input_value=\'You have reached your usage limit\'' },
    { status: 500, message: 'Internal error: your usage limit was not exceeded' },
    { status: 429, message: 'Too many requests. Your monthly limit is not affected.' },
    { status: 500, message: '{"error":"internal error","monthly_limit_exceeded":false}' },
    { status: 500, message: 'Failed to check whether the quota was exceeded' },
    { status: 500, message: 'サーバーエラー。月間上限には達していません。' },
    { status: 500, message: '내부 오류: 월간 한도를 초과하지 않았습니다' },
    { status: 400, message: 'invalid value in text "insufficient balance"' },
    { status: 400, message: 'Tool schema invalid: property "monthly_limit_reached" must be boolean' },
  ])('not spent: %j', (failure) => {
    expect(classify(failure).kind).not.toBe('spent-allowance')
  })
})

describe('a credit that covers a smaller output', () => {
  it.each([
    { code: 'QUOTA', message: '402: Insufficient credits. You requested up to 65536 tokens, but can only afford 30104.' },
    { status: 402, code: 'insufficient_credits', message: 'You requested up to 65536 tokens, but can only afford 30104.' },
    { status: 402, message: 'You can only afford 30,104 tokens' },
  ])('the reason names the tokens: %j', (failure) => {
    expect(classify(failure).reason).toMatch(/30,?104 output tokens; a smaller output may pass/)
  })
})

describe('a limit that is reached, in the languages of the providers', () => {
  it.each([
    "Vous avez atteint les limites d'utilisation de votre forfait", 'Ha alcanzado los límites de uso de su plan', 'Лимит исчерпан', 'Limite settimanale esaurito',
    'Wöchentliches Limit erschöpft', 'aylık limit doldu', '月次上限に到達しました',
  ])('is spent: %s', (message) => {
    expect(classify({ status: 429, message }).kind).toBe('spent-allowance')
  })
})

describe('a code of a throttle or of no room', () => {
  it.each([
    { code: 'QUOTA', message: '429: {"code":"rate_limit_exceeded","message":"Quota exceeded for requests"}' },
    { code: 'QUOTA', message: '429: {"type":"overloaded_error","message":"quota exceeded"}' },
  ])('under the quota of the harness waits shortly and marks nobody: %j', (failure) => {
    expect(classify(failure)).toMatchObject({ kind: 'spent-allowance', throttle: true })
  })

  it('of a day under it is an allowance all the same', () => {
    expect(classify({ code: 'QUOTA', message: '429: {"code":"rate_limit_exceeded","message":"Quota exceeded for requests per day"}' }).throttle).toBeUndefined()
  })

  it('of no room is the server\'s', () => {
    expect(classify({ status: 429, code: 'insufficient_capacity', message: 'Request denied.' }).kind).toBe('server')
  })
})

describe('a retry time that is absurd', () => {
  it('is no evidence of a spent allowance', () => {
    expect(classify({ status: 429, message: 'Too many requests', providerRetryAfterMs: 99_999_999_000 }).kind).toBe('rate-limit')
  })
})
