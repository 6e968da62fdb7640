import { type ReactNode, useState } from 'react'
import type { Translate } from '../browser-host.ts'
import type { Call } from './use-page.ts'

/** Ends the mark of a route, once the person was told what that may cost. */
export function ClearMark({ route, call, t }: { readonly route: { readonly provider: string; readonly model: string }; readonly call: Call; readonly t: Translate }): ReactNode {
  const [asked, setAsked] = useState(false)
  const { model, provider } = route
  const name = `${provider}/${model}`
  // What comes of it arrives with the next state.
  const clear = (): void => {
    setAsked(false)
    call('clear', { provider, model }).catch(() => undefined)
  }
  if (!asked) return <button type="button" className="lqr-button lqr-small" aria-label={t('mark.clearOf', { route: name })} onClick={() => { setAsked(true) }}>{t('mark.clear')}</button>
  return (
    <span className="lqr-confirm" role="group" aria-label={t('mark.clearOf', { route: name })}>
      <span>{t('mark.cost')}</span>
      <button type="button" className="lqr-button lqr-small" autoFocus onClick={clear}>{t('mark.sure')}</button>
      <button type="button" className="lqr-button lqr-small" onClick={() => { setAsked(false) }}>{t('mark.keep')}</button>
    </span>
  )
}
