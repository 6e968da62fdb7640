import { uptime } from 'node:os'
import { z } from 'zod'

/** The process that writes a journal. */
const Owner = z.looseObject({
  type: z.literal('hostStarted'),
  pid: z.number().int().positive(),
  /** Epoch ms. */
  at: z.number().nonnegative(),
})

/** The process that writes a journal. */
export type Owner = z.infer<typeof Owner>

/**
 * This process, as the owner of a journal.
 *
 * @param now - epoch ms.
 */
export const thisOwner = (now: number): Owner => ({ type: 'hostStarted', pid: process.pid, at: now })

/**
 * The other process that writes a journal, if there is one and it lives.
 *
 * @param stored - what the journal says of its owner.
 * @param now - epoch ms.
 * @returns its id; `undefined` when the journal is free, or was this very process's.
 */
export function otherOwner(stored: unknown, now: number): number | undefined {
  const owner = Owner.safeParse(stored)
  if (!owner.success || owner.data.pid === process.pid) return undefined
  const { pid, at } = owner.data
  // Numbers of processes begin anew when the machine does.
  const machineStartedAt = now - uptime() * 1_000
  return at >= machineStartedAt && isAlive(pid) ? pid : undefined
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Of a process of another user nothing is known but that it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
