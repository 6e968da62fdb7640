import { type ReactNode, useEffect, useState } from 'react'
import type { Translate } from '../browser-host.ts'

/** Time that a copy is confirmed for, in ms. */
const COPIED_MS = 1_500

/** Copies a text; the answer is whether the browser took it. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Foreign words as written, to read and to copy. */
export function Quote({ text, label, t }: { readonly text: string; readonly label: string; readonly t: Translate }): ReactNode {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = window.setTimeout(() => { setCopied(false) }, COPIED_MS)
    return () => { window.clearTimeout(timer) }
  }, [copied])
  return (
    <div className="lqr-quote">
      {/* It may scroll, and so must be within reach of the keyboard. */}
      <pre tabIndex={0} role="region" aria-label={label}>{text}</pre>
      <button type="button" className="lqr-copy" onClick={() => { void copy(text).then(setCopied) }}>{t(copied ? 'line.copied' : 'line.copy')}</button>
      <span className="lqr-sr" role="status">{copied ? t('line.copied') : ''}</span>
    </div>
  )
}
