import { isRecord } from './json.ts'

/** Longest text, in UTF-16 units, that may be a refusal and nothing else. */
export const MAX_BARE_TEXT = 400

const usedNothing = (usage: unknown): boolean => !isRecord(usage) || usage['outputTokens'] === 0 || usage['outputTokens'] === undefined

/**
 * The text of an answer that may be none: the provider counted no tokens for it, and there is nothing in it but a short
 * text. Total.
 *
 * @param event - an event of a session.
 * @returns the text; `undefined` for every other answer and every other event.
 */
export function bareText(event: unknown): string | undefined {
  if (!isRecord(event) || event['type'] !== 'assistant/message' || !isRecord(event['data'])) return undefined
  const { message, usage } = event['data']
  const content: unknown = isRecord(message) ? message['content'] : undefined
  if (!usedNothing(usage) || !Array.isArray(content)) return undefined
  const texts = content.map((block: unknown) => isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string' ? block['text'] : undefined)
  if (texts.some(text => text === undefined)) return undefined
  const text = texts.join('\n')
  return text.length <= MAX_BARE_TEXT ? text : undefined
}
