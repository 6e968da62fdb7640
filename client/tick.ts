import { useEffect, useState } from 'react'
import { SOON_MS } from './time.ts'

/**
 * Has a component shown again as a time comes near: each second of the last two minutes, and when those begin.
 *
 * @param at - epoch ms; nothing for a component that shows no such time.
 */
export function useTick(at: number | null | undefined): void {
  const [beat, setBeat] = useState(0)
  useEffect(() => {
    if (at == null) return
    const left = at - Date.now()
    if (left < -SOON_MS) return
    // A timer of the browser cannot be set for longer than 24 days.
    const timer = window.setTimeout(() => { setBeat(number => number + 1) }, left > SOON_MS ? Math.min(left - SOON_MS, 3_600_000) : 1_000)
    return () => { window.clearTimeout(timer) }
  }, [at, beat])
}
