import type { Context } from '@deepseek-ai/cordis'
import { agentOf, liveSession } from './harness.ts'
import type { Resume } from './resume.ts'
import type { Waits } from './waits.ts'

/**
 * Stop what a session waits for, as its person does: an open one by the end of its turn, one that nobody has opened by
 * not waking it. What is queued stays.
 *
 * @param ctx - the plugin's context.
 * @param waits - the waits.
 * @param resume - what wakes closed sessions.
 * @param id - the session's id.
 * @returns whether it waited: this is no way to cancel whatever runs.
 */
export function stopWaiting(ctx: Context, waits: Pick<Waits, 'sessions'>, resume: Pick<Resume, 'stop'>, id: string): boolean {
  if (!waits.sessions.includes(id)) return false
  if (resume.stop(id)) return true
  const session = liveSession(ctx, id)
  const agent = session === undefined ? undefined : agentOf(ctx, session)
  agent?.cancel({ kind: 'user' }, { keepInbox: true })
  return agent !== undefined
}
