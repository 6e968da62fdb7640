import type { Clock } from './clock.ts'

/**
 * Let time pass.
 *
 * @param clock - the clock.
 * @param ms - how long, in ms.
 * @param signal - ends it at once when it aborts.
 */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(end, ms)
    signal.addEventListener('abort', end, { once: true })
  })
}
