import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { z } from 'zod'

/**
 * Which process something is, so that another process can tell whether it lives. Numbers of processes are used again,
 * begin anew with the machine, and mean something else in each container: without all of these a number says nothing.
 */
export const ProcessIdentity = z.looseObject({
  host: z.string(),
  pid: z.number().int().positive(),
  /** Of this start of the machine. */
  boot: z.string().optional(),
  /** In which the number counts. */
  pidNamespace: z.string().optional(),
  /** When the process began, in ticks of the machine. */
  pidStart: z.string().optional(),
})

/** Which process something is. */
export type ProcessIdentity = z.infer<typeof ProcessIdentity>

/** Only where the numbers in `/proc` are those that this process knows itself by. */
const hasProc = (): boolean => attempt(() => readlinkSync('/proc/self')) === String(process.pid)

/** This process, with as much as the platform tells. */
export function thisProcess(): ProcessIdentity {
  const { pid } = process
  const named = { host: hostname(), pid }
  if (!hasProc()) return named
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const pidNamespace = attempt(() => readlinkSync('/proc/self/ns/pid'))
  const pidStart = statOf(pid)?.start
  return boot === undefined || pidNamespace === undefined || pidStart === undefined ? named : { ...named, boot, pidNamespace, pidStart }
}

/**
 * Whether a process lives, as far as this one can see.
 *
 * @param known - the process.
 * @param self - this process.
 * @returns `unknown` of a process of another machine or container, and where the platform tells too little.
 */
export function fateOf(known: ProcessIdentity, self: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  const { boot, pidNamespace, pidStart } = known
  const isNear = boot !== undefined && pidNamespace !== undefined && pidStart !== undefined && boot === self.boot && pidNamespace === self.pidNamespace
  if (!isNear) return 'unknown'
  const found = statOf(known.pid)
  if (found !== undefined) return found.start === pidStart && !found.ended ? 'alive' : 'dead'
  return isThere(known.pid) ? 'unknown' : 'dead'
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Of a process of another user nothing is known but that it is there.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** What the kernel says of a process. Its name stands in parentheses and may hold anything. */
function statOf(pid: number): { readonly start: string; readonly ended: boolean } | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, start] = [fields?.[0], fields?.[19]]
  // One that ended and whose parent has not asked for it yet still has its place.
  return state === undefined || start === undefined ? undefined : { start, ended: state === 'Z' || state === 'X' }
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
