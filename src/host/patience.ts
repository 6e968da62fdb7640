import type { Clock } from './clock.ts'

/**
 * Wait for something, but no longer than a signal allows. Whatever it comes to later is nobody's business any more.
 *
 * @param work - what is waited for.
 * @param signal - ends the waiting.
 * @throws what `work` throws, or an error once the signal aborts.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // A promise that loses the race must not end the host when it fails.
  work.catch(() => {})
  let onAbort = (): void => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => { reject(new Error('nobody waits for it any more')) }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/**
 * Wait for something, but only so long.
 *
 * @param clock - counts the time.
 * @param work - what is waited for; may fail.
 * @param ms - the patience, in ms.
 * @returns whether it came about in time.
 */
export async function within(clock: Clock, work: Promise<unknown>, ms: number): Promise<boolean> {
  let cancel = (): void => {}
  const late = new Promise<boolean>((resolve) => { cancel = clock.after(() => { resolve(false) }, ms) })
  const done = work.then(() => true, () => false)
  return Promise.race([done, late]).finally(() => { cancel() })
}
