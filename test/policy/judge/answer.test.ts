import { describe, expect, it } from 'vitest'
import { bareText } from '../../../src/events/answer.ts'
import { provesAllowance } from '../../../src/policy/judge/answer.ts'

const message = (content: unknown, usage?: unknown) => ({ type: 'assistant/message', seq: 1, time: 1, data: { turn: 1, step: 1, message: { role: 'assistant', content }, ...usage === undefined ? {} : { usage } } })
const text = (said: string) => [{ type: 'text', text: said }]
const proves = (event: unknown): boolean => provesAllowance(bareText(event), 'a', 0)

describe('an answer without tokens and with nothing but a refusal\'s text', () => {
  it.each([
    'You\'ve hit your session limit · resets 3pm', 'You\'ve hit your session limit', 'Insufficient balance. Please top up your account.',
    'Your quota is exhausted', '429: rate limit exceeded, retry in 20 seconds',
  ])('proves nothing: %s', (said) => {
    expect(proves(message(text(said)))).toBe(false)
    expect(proves(message(text(said), { inputTokens: 0, outputTokens: 0 }))).toBe(false)
  })

  it('proves that the route answers where the provider counted tokens, or where it says anything else', () => {
    expect(proves(message(text('You\'ve hit your session limit'), { inputTokens: 10, outputTokens: 5 }))).toBe(true)
    expect(proves(message(text('Done.')))).toBe(true)
    expect(proves(message(text(''))) && proves(message([]))).toBe(true)
    expect(proves(message([...text('You\'ve hit your session limit'), { type: 'tool-call', id: 't', name: 'x', args: {} }]))).toBe(true)
    expect(proves(message(text(`You've hit your session limit. ${'And so on. '.repeat(100)}`)))).toBe(true)
  })

  it.each([null, 7, {}, { type: 'assistant/message' }, { type: 'assistant/message', data: { message: { content: [null] } } }, { type: 'turn/end', data: {} }])('is told from %j', (event) => {
    expect(bareText(event)).toBeUndefined()
  })
})
