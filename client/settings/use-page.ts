import { useCallback, useEffect, useState } from 'react'
import type { QuotaPage } from '../../src/projections/page.ts'
import type { RpcResult } from '../browser-host.ts'
import { pageOf } from '../channel.ts'

/** Calls the host half. */
export type Call = (endpoint: string, payload: unknown, signal?: AbortSignal) => Promise<RpcResult>

/** Pause after a failed call, in ms; doubled with each further one up to the longest. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000
/** Failed calls in a row after which what is shown is called old. */
const PATIENCE = 2

/** What the page knows. */
export interface PageView {
  readonly status: 'loading' | 'ready' | 'gone'
  readonly page: QuotaPage | undefined
  /** Whether the host does not answer any more. */
  readonly stale: boolean
  /** Ask at once. */
  readonly again: () => void
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = window.setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      window.clearTimeout(timer)
      resolve()
    }, { once: true })
  })
}

/**
 * The state of the host, live for as long as the page is open: each call is answered when there is something new.
 *
 * @param call - calls the host half.
 */
export function usePage(call: Call): PageView {
  const [page, setPage] = useState<QuotaPage | undefined>(undefined)
  const [failures, setFailures] = useState(0)
  const [round, setRound] = useState(0)
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    const follow = async (): Promise<void> => {
      let known: string | null = null
      let failed = 0
      while (!signal.aborted) {
        const result: RpcResult | undefined = await call('watch', { known }, signal).catch(() => undefined)
        if (signal.aborted) return
        const answer: ReturnType<typeof pageOf> = result?.ok === true ? pageOf(result.value) : undefined
        if (answer === undefined) {
          failed += 1
          setFailures(failed)
          await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failed - 1)), signal)
          continue
        }
        known = answer.revision
        failed = 0
        setFailures(0)
        if (answer.page !== undefined) setPage(answer.page)
      }
    }
    void follow()
    return () => { ended.abort() }
  }, [call, round])
  const again = useCallback(() => {
    setFailures(0)
    setRound(number => number + 1)
  }, [])
  const status = page !== undefined ? 'ready' : failures > 0 ? 'gone' : 'loading'
  return { status, page, stale: page !== undefined && failures >= PATIENCE, again }
}
