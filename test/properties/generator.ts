/** Logs for properties: plausible ones, and events that nobody knows. */
import fc from 'fast-check'
import { longest, walk } from './walk.ts'

/** The log of one session of a walk. */
export const rows: fc.Arbitrary<readonly any[]> = walk.map(world => longest(world).rows)

/** An event that no version of this plugin knows, and some that only look as if. */
export const unknownEvent: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({ type: fc.constantFrom('moon/phase', 'user/message', 'constructor', 'providerMarked', 'turn', ''), seq: fc.integer(), time: fc.integer(), data: fc.jsonValue() }),
  fc.record({ type: fc.constantFrom('turn/start', 'llm/retry', 'assistant/message', 'command/done'), data: fc.constantFrom(null, [], 'x', {}, { turn: 'x' }) }),
  fc.jsonValue().filter(value => typeof value !== 'object' || value === null || !('type' in value)),
)
