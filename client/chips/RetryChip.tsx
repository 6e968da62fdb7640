import type { ReactNode } from 'react'
import type { SessionProps, Translate } from '../browser-host.ts'
import { PROJECTION, type QuotaRetryFacts, readFacts } from '../facts.ts'
import { RetryGlyph } from '../glyphs.tsx'
import type { MenuGroup } from '../menu/Menu.tsx'
import type { ChipActions } from './actions.ts'
import { Chip } from './Chip.tsx'
import { WaitCard } from './WaitCard.tsx'

/** A time of today at which a clock is at its widest, to keep room for any. */
const widestTime = (): number => new Date().setHours(22, 58)

function retryGroups(facts: QuotaRetryFacts, t: Translate): MenuGroup[] {
  const { defaultEnabled, enabled, source, wait } = facts
  const stated = source === 'default' ? 'default' : enabled ? 'on' : 'off'
  const entry = (id: string, hint: string) => ({ id, label: t(id), current: id === stated, hint: id === stated && source === 'inherited' ? t('retry.inherited') : hint })
  const rows = [
    entry('on', t('retry.on.hint')), entry('off', t('retry.off.hint')), entry('default', t('retry.default.hint', { value: t(defaultEnabled ? 'on' : 'off') })),
  ]
  const settings: MenuGroup = { title: t('retry.menu'), rows }
  if (wait?.nextAttemptAt == null) return [settings]
  const now = { id: 'now', label: t('retry.now') }
  // A run that the end of the host cut off has no turn that could be stopped; switched off it stays.
  const actions = wait.pending ? [now, { id: 'stop', label: t('retry.stop'), hint: t('retry.stop.hint') }] : [now]
  return [{ rows: actions }, settings]
}

/** The switch of a session; while the session waits for its allowance, the wait. */
export function RetryChip({ useProjection, useSession, submit, cancel, viewer, t }: SessionProps & ChipActions): ReactNode {
  const facts = readFacts(useProjection(PROJECTION))
  const running = useSession(conversation => conversation.running === true)
  if (facts === undefined) return null
  const { wait } = facts
  const value = t(facts.enabled ? 'on' : 'off')
  const setting = t('retry.chip', { value })
  const next = wait?.nextAttemptAt != null ? viewer.time(wait.nextAttemptAt) : undefined
  const wide = viewer.time(widestTime())
  const select = async (id: string): Promise<string | null> => {
    if (id === 'stop') {
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
      short={next ?? value}
      reserve={[...['off', 'on'].map(id => t('retry.chip', { value: t(id) })), t('wait.next', { time: wide })]}
      shortReserve={[t('off'), t('on'), wide]}
      menuTitle={t('retry.menu')}
      groups={retryGroups(facts, t)}
      card={wait === null ? undefined : <WaitCard wait={wait} running={running} viewer={viewer} t={t} />}
      status={next === undefined ? '' : `${t('wait.title')}. ${t('wait.next', { time: next })}`}
      onSelect={select}
    />
  )
}
