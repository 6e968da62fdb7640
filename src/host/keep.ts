import type { Session } from '@deepseek-ai/dsh-session'
import type { Clock } from './clock.ts'
import type { Journal } from './journal-store.ts'
import { within } from './patience.ts'

/** How long an answer to a person waits for the disk at most, in ms. */
const PATIENCE_MS = 2_000

/**
 * Has what a person did be on the disk, to be waited for before they are told that it is done.
 *
 * @param session - the session, where one is open: its log.
 * @returns whether it is; a disk that hangs or fails is not waited for.
 */
export type Keep = (session?: Session) => Promise<boolean>

/**
 * @param clock - counts the patience.
 * @param journal - the journal.
 * @param flush - has the host write a session's log to its disk.
 */
export const createKeep = (clock: Clock, journal: Pick<Journal, 'isBehind' | 'settled'>, flush: (session: Session) => Promise<void>): Keep =>
  async session => await within(clock, Promise.all([session === undefined ? undefined : flush(session), journal.settled()]), PATIENCE_MS) && !journal.isBehind
