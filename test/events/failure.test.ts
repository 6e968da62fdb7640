import { describe, expect, it } from 'vitest'
import { boundFailure, cutText, MAX_FAILURE_TEXT, readFailure } from '../../src/events/failure.ts'
import { SPENT } from '../support/build.ts'

const NOTHING = { code: 'UNKNOWN', message: 'the provider gave no message' }

describe('reading a failure', () => {
  it('keeps every field that makes sense', () => {
    const failure = { ...SPENT, providerRetryAfterMs: 5, requestId: 'q' }
    expect(readFailure({ ...failure, more: 1 })).toEqual(failure)
  })

  it.each([undefined, null, 'text', 7, [], [SPENT], {}, { code: '', message: '' }, { code: 5, message: {} }])('makes %j a failure that says nothing', (value) => {
    expect(readFailure(value)).toEqual(NOTHING)
  })

  it.each([0, 99, 600, 402.5, '402', Number.NaN, null])('drops the status %s', (status) => {
    expect(readFailure({ ...SPENT, status })).not.toHaveProperty('status')
  })

  it.each([0, -1, Number.POSITIVE_INFINITY, Number.NaN, '60'])('drops the delay %s, so that no storm follows', (providerRetryAfterMs) => {
    expect(readFailure({ ...SPENT, providerRetryAfterMs })).not.toHaveProperty('providerRetryAfterMs')
  })
})

describe('a long failure text', () => {
  it('is cut, and shows that it is', () => {
    const { message } = boundFailure({ code: 'QUOTA', message: 'x'.repeat(5_000) })
    expect(message).toHaveLength(MAX_FAILURE_TEXT)
    expect(message.endsWith('x…')).toBe(true)
  })

  it('is not cut within a character', () => {
    expect(cutText('ab😀cd', 4)).toBe('ab…')
    expect(cutText('ab😀cd', 5)).toBe('ab😀…')
  })

  it('keeps a failure that is short enough as the same object', () => {
    const failure = { code: 'QUOTA', message: 'x'.repeat(MAX_FAILURE_TEXT) }
    expect(boundFailure(failure)).toBe(failure)
  })
})
