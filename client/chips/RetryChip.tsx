import type { ReactNode } from 'react'
import type { SessionProps, Translate } from '../browser-host.ts'
import { PROJECTION, type QuotaRetryFacts, readFacts } from '../facts.ts'
import { RetryGlyph } from '../glyphs.tsx'
import type { MenuGroup } from '../menu/Menu.tsx'
import { useTick } from '../tick.ts'
import type { ChipActions } from './actions.ts'
import { Chip } from './Chip.tsx'
import { WaitCard } from './WaitCard.tsx'

function retryGroups(facts: QuotaRetryFacts, t: Translate): MenuGroup[] {
  const { defaultEnabled, enabled, source, wait } = facts
  const stated = source === 'default' ? 'default' : enabled ? 'on' : 'off'
  const entry = (id: string, hint: string) => ({ id, label: t(id), current: id === stated, hint: id === stated && source === 'inherited' ? t('retry.inherited') : hint })
  const rows = [
    entry('on', t('retry.on.hint')), entry('off', t('retry.off.hint')), entry('default', t('retry.default.hint', { value: t(defaultEnabled ? 'on' : 'off') })),
  ]
  const settings: MenuGroup = { title: t('retry.menu'), rows }
  if (wait?.nextAttemptAt == null) return [settings]
  // A run that the end of the host cut off has no turn that could be cancelled: the host is told to leave it.
  const hint = t(wait.pending ? 'retry.stop.hint' : 'retry.stop.stay')
  return [{ rows: [{ id: 'now', label: t('retry.now') }, { id: 'stop', label: t('retry.stop'), hint }] }, settings]
}

/** The switch of a session; while the session waits for its allowance, the wait. */
export function RetryChip({ useProjection, useSession, submit, cancel, viewer, t }: SessionProps & ChipActions): ReactNode {
  const facts = readFacts(useProjection(PROJECTION))
  const running = useSession(conversation => conversation.running === true)
  useTick(facts?.wait?.nextAttemptAt)
  if (facts === undefined) return null
  const { wait } = facts
  const value = t(facts.enabled ? 'on' : 'off')
  const setting = t('retry.chip', { value })
  const at = wait?.nextAttemptAt ?? undefined
  const next = at === undefined ? undefined : viewer.next(at)
  const select = async (id: string): Promise<string | null> => {
    if (id === 'stop' && wait?.pending === true) {
      const reason = await cancel()
      return reason === null ? null : t('failed.stop', { reason })
    }
    const reason = await submit(`/quota-retry ${id}`)
    return reason === null ? null : t('failed.command', { reason })
  }
  return (
    <Chip
      kind="retry"
      glyph={wait === null ? <RetryGlyph /> : <span className="lqr-dot" data-state={next === undefined ? 'open' : 'waiting'} aria-hidden="true" />}
      label={next === undefined ? setting : t('wait.next', { time: next })}
      value={next ?? value}
      menuTitle={t('retry.menu')}
      groups={retryGroups(facts, t)}
      card={wait === null ? undefined : <WaitCard wait={wait} running={running} viewer={viewer} t={t} />}
      status={at === undefined ? '' : `${t('wait.title')}. ${t('wait.next', { time: viewer.time(at) })}`}
      onSelect={select}
    />
  )
}
