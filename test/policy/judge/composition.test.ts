/** What a refusal means, each kind in several wordings of its own. */
import { describe, expect, it } from 'vitest'
import { classifyFailure } from '../../../src/classify.ts'

const now = Date.parse('2026-09-30T12:00:00Z')
const read = (failure: object) => classifyFailure(failure, { now })
const kindOf = (message: string, more: object = {}) => read({ message, ...more }).kind

describe('an allowance of any name, used up by any verb, in either order', () => {
  it.each([
    'The AI quota for this account has been used up.', 'Quota for model X exhausted.', "You've reached your Fable limit.", 'Your wallet is empty, so nothing can be sent.', 'All of your weekly prompts are used up',
    'There are no credits left on this workspace', 'The team budget was exceeded by this request', 'You have run out of your monthly allowance', 'We drained the prepaid balance', '{"reasons":["not-enough-credits"]}',
    'subscription:free-usage-exhausted', 'permission error: Outstanding invoices. Please update your payment information.', 'Ihr Kontingent ist für heute verbraucht', 'Se ha agotado su saldo', 'Il credito è esaurito', 'Kredi bakiyeniz yetersiz', 'Kuota harian Anda sudah habis',
  ])('is spent: %s', (message) => {
    expect(kindOf(message)).toBe('spent-allowance')
  })

  it.each([
    ['Internal error. No credits were deducted.', { code: 'SERVER', status: 500 }, 'server'], ['Upstream failed; your quota has not been charged.', { status: 502 }, 'server'],
    ['Model gpt-5 is not available on the free tier. Upgrade your plan', { status: 403 }, 'auth'], ['Gemini free tier is not available in your country', { status: 400 }, 'auth'],
    ['This request would exceed your credits given requests in flight', { status: 402 }, 'rate-limit'], ['A prior charge is being reconciled', { status: 402 }, 'rate-limit'], ['Please retry in 5 seconds', { status: 402 }, 'rate-limit'],
  ])('is not: %s', (message, more, kind) => {
    expect(kindOf(message, more)).toBe(kind)
  })
})

describe('whose a limit is', () => {
  it.each(["You've hit your usage limit for GPT-5.5-Codex. Switch to another model now", 'Quota exceeded: GenerateRequestsPerDayPerProjectPerModel', 'You have used up the daily quota of this model', "You've hit your Opus limit"])('of one model: %s', (message) => {
    expect(read({ status: 429, message })).toMatchObject({ kind: 'spent-allowance', scope: 'route' })
  })

  it.each(['Insufficient Balance', 'Your monthly usage limit is reached', 'You exceeded your current quota, please check your plan and billing details.'])('of the account: %s', (message) => {
    expect(read({ status: 429, message }).scope).toBe('provider')
  })
})

describe('what passes', () => {
  it.each([
    ['STREAM_CLOSED', 'stream closed before the end', 'transport'], ['PI_AI_ERROR', 'unexpected EOF', 'transport'], ['PI_AI_ERROR', 'network_error', 'transport'], ['EMPTY_RESPONSE', 'nothing came', 'empty-answer'],
    ['PI_AI_ERROR', 'Provider returned error', 'server'], ['PI_AI_ERROR', '400 status code (no body)', 'server'], ['TIMEOUT', 'too slow', 'timeout'], ['PI_AI_ERROR', '429: We are at maximum capacity', 'server'],
    ['PI_AI_ERROR', '503: out of capacity', 'server'], ['RATE_LIMIT', '429: Too many requests', 'rate-limit'], ['QUOTA', '429: {"code":"Throttling.AllocationQuota","message":"You exceeded your current quota"}', 'rate-limit'],
    ['QUOTA', '429: insufficient_quota, see https://help.aliyun.com/zh/model-studio/error-code#token-limit', 'rate-limit'],
  ])('%s, %s: %s', (code, message, passes) => {
    expect(read({ code, message }).passes).toBe(passes)
  })

  it.each([[403, 'Content violates usage guidelines'], [500, 'The prompt was flagged by our moderation system'], [400, '输入内容包含敏感信息']])('never does what a policy refuses, under %d: %s', (status, message) => {
    const verdict = read({ status, message })
    expect(verdict.kind).toBe('refused-content')
    expect(verdict).not.toHaveProperty('passes')
  })
})

describe('a day beside a clock time', () => {
  it.each([
    ['The quota will reset at 10-09 09:25:00 UTC', '2026-10-09T09:25:00Z'], ['Resets Monday at 9am (Europe/Berlin)', '2026-10-05T07:00:00Z'], ['resets tomorrow at 3pm UTC', '2026-10-01T15:00:00Z'],
    ['resets October 12 at midnight UTC', '2026-10-12T00:00:00Z'], ['resets at 5am (Etc/GMT+5)', '2026-10-01T10:00:00Z'], ['replenished in 07:01:20', '2026-09-30T19:01:20Z'], ['in cooldown, remaining=96h32m3s', '2026-10-04T12:32:03Z'], ['Resets in: 30m0s', '2026-09-30T12:30:00Z'],
  ])('%s', (message, at) => {
    expect(new Date(read({ status: 429, message: `Quota exhausted. ${message}` }).resetsAt ?? 0).getTime()).toBe(Date.parse(at))
  })

  it('that could be two days is a hint only, and so is a time beyond all dates', () => {
    expect(read({ message: 'Quota exhausted. Resets at 12/10/2026 at 09:00 UTC' })).not.toHaveProperty('resetsAt')
    expect(read({ message: 'Quota exhausted.', providerRetryAfterMs: 1e300 })).not.toHaveProperty('resetsAt')
  })

  it('in the nights in which the clocks change is the instant that they show', () => {
    const at = (message: string, from: string): string => new Date(classifyFailure({ message: `Quota exhausted, ${message}` }, { now: Date.parse(from) }).resetsAt ?? 0).toISOString()
    expect(at('resets 2:30am (Europe/Berlin)', '2026-03-28T20:00:00Z')).toBe('2026-03-29T01:30:00.000Z')
    expect(at('resets 1:30am (America/New_York)', '2026-11-01T04:00:00Z')).toBe('2026-11-01T05:30:00.000Z')
    expect(at('resets 1:30am (America/New_York)', '2026-11-01T05:45:00Z')).toBe('2026-11-01T06:30:00.000Z')
  })
})
