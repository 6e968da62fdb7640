import { type ReactNode, useState } from 'react'
import type { SessionProps } from '../browser-host.ts'
import type { Viewer } from '../viewer.ts'
import { chineseAnswer } from './answers.ts'

/** A command of the transcript, as the page hands it to the row. */
interface CommandNode {
  readonly name?: string | null
  readonly args?: string | null
  readonly outcome?: { readonly kind?: string; readonly text?: string } | null
}

/** A note on where requests go stands in the log as a command that nobody typed; what it says is all there is to it. */
const NOTE = /^ *(?:moved|picked|stands) \S*\//

/** One of our commands in one line: what was asked for, and what came of it. */
export function CommandRow({ node, viewer, t }: SessionProps & { readonly node: CommandNode; readonly viewer: Viewer }): ReactNode {
  const [open, setOpen] = useState(false)
  const outcome = node.outcome ?? null
  const state = outcome === null ? 'running' : outcome.kind === 'error' ? 'error' : 'done'
  const said = outcome?.text
  const answer = said === undefined || viewer.language() !== 'zh' ? said : chineseAnswer(said)
  const text = outcome === null ? t('command.running') : answer ?? t(state === 'error' ? 'command.failed' : 'command.done')
  const [first = '', ...more] = text.split('\n')
  return (
    <div className="lqr-command" data-state={state} data-lqr="command">
      <div className="lqr-command-head">
        {!NOTE.test(node.args ?? '') && <span className="lqr-command-name">/{node.name}{node.args?.trimEnd()}</span>}
        <span className="lqr-command-text" title={first}>{first}</span>
        {more.length > 0 && (
          <button type="button" className="lqr-disclose" aria-expanded={open} onClick={() => { setOpen(!open) }}>{t('command.more')}</button>
        )}
      </div>
      {open && <div className="lqr-quote"><pre tabIndex={0} role="region" aria-label={`/${node.name ?? ''}`}>{text}</pre></div>}
    </div>
  )
}
