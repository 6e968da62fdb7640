/**
 * The event types of session logs, as far as reading them goes.
 *
 * A log of the pinned harness holds some forty types, of which a dozen concern the allowance. The rest is listed too,
 * so that a type that nobody has heard of can be told from one that is merely of no interest.
 */

/** Types that the decoder reads (`src/events/decode.ts`; a test holds the two together). */
export const READ_TYPES: readonly string[] = [
  'session', 'assistant/chunk', 'assistant/attempt', 'assistant/message', 'llm/retry', 'llm/retry-started', 'request/header',
  'turn/start', 'turn/end', 'step/start', 'step/end', 'command/run', 'command/done', 'session/end-seed', 'model/selection',
]

/** Packed runs of stream chunks: never a finish, so never a fact. */
const PACKED_TYPES: readonly string[] = ['text-chunks', 'reasoning-chunks', 'tool-call-chunks']

/** Known to the harness, 0.1.0-rc.8 and later, and of no interest here. */
const OTHER_TYPES: readonly string[] = [
  'agent-preset/selected', 'agent/inbox/spliced', 'approval/asked', 'approval/decided', 'approval/policy', 'approval/request',
  'compaction/end', 'compaction/prune', 'compaction/start', 'compaction/summary', 'feedback/record', 'goal/change', 'goal/changed',
  'hook/invoked', 'hook/result', 'permission/preset', 'plan/mode', 'request/context', 'sandbox/mode', 'schedule/change',
  'session/title', 'session/title-llm-request', 'subagent/descriptor', 'subagent/end', 'subagent/start', 'team/member', 'team/task',
  'todo/write', 'tool-workflow/agent-end', 'tool-workflow/agent-start', 'tool-workflow/run-end', 'tool-workflow/run-start',
  'tool/call', 'tool/code-dispatch', 'tool/code-dispatch-start', 'tool/result', 'user/message', 'web/deepseek-search-llm-request',
]

/** Every type that is known. */
export const KNOWN_TYPES: readonly string[] = [...READ_TYPES, ...PACKED_TYPES, ...OTHER_TYPES]

const READ = new Set(READ_TYPES)
const KNOWN = new Set(KNOWN_TYPES)

/** Whether a row of this type can hold a fact. A type that is not known is looked at, and is none. */
export const isRead = (type: string): boolean => READ.has(type)
/** Whether the type is known at all. */
export const isKnown = (type: string): boolean => KNOWN.has(type)
