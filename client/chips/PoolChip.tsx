import type { ReactNode } from 'react'
import type { SessionProps, Translate } from '../browser-host.ts'
import { PROJECTION, type QuotaRetryFacts, readFacts } from '../facts.ts'
import { PoolGlyph } from '../glyphs.tsx'
import type { MenuGroup } from '../menu/Menu.tsx'
import type { Viewer } from '../viewer.ts'
import type { ChipActions } from './actions.ts'
import { Chip } from './Chip.tsx'
import { Fact } from './WaitCard.tsx'

const routeText = ({ provider, model }: { readonly provider: string; readonly model: string }): string => `${provider}/${model}`

/** No pool can be called `off` or `default`: the command answers those words itself. */
function poolGroups({ pool, pools, poolSource }: QuotaRetryFacts, t: Translate): MenuGroup[] {
  const stated = poolSource === 'off' || poolSource === 'default' ? poolSource : pool
  const follow = stated !== 'default' ? t('pool.default.follow') : pool === null ? t('pool.default.none') : t('pool.default.hint', { value: pool })
  const entry = (id: string, label: string, hint?: string) => ({ id, label, current: id === stated, ...hint === undefined ? {} : { hint } })
  return [
    { title: t('pool.menu'), rows: pools.map(name => entry(name, name, poolSource === 'inherited' && name === pool ? t('retry.inherited') : undefined)) },
    { rows: [entry('default', t('default'), follow), entry('off', t('off'), t('pool.off.hint'))] },
  ]
}

function MoveCard({ move, viewer, t }: { readonly move: NonNullable<QuotaRetryFacts['lastMove']>; readonly viewer: Viewer; readonly t: Translate }): ReactNode {
  return (
    <div className="lqr-facts">
      <div className="lqr-card-title">{t('pool.moved.title')}</div>
      {move.from !== null && <Fact name={t('pool.from')}>{routeText(move.from)}</Fact>}
      <Fact name={t('pool.to')}>{routeText(move.to)}</Fact>
      <Fact name={t('pool.pool')}>{move.pool}</Fact>
      <Fact name={t('pool.at')}>{viewer.time(move.at)}</Fact>
      <Fact name={t('wait.reason')}>{t('wait.reason.spent')}</Fact>
    </div>
  )
}

/** The pool of a session; for the turn of a failover, where the session went. */
export function PoolChip({ useProjection, useSession, submit, viewer, t }: SessionProps & ChipActions): ReactNode {
  const facts = readFacts(useProjection(PROJECTION))
  const turn = useSession(conversation => conversation.chat?.timeline?.turnOrder?.at(-1))
  if (facts === undefined || facts.pools.length === 0) return null
  const { lastMove, pool, poolSource } = facts
  // Without a conversation to look at, the last move is taken for that of the last turn.
  const move = lastMove !== null && (turn === undefined || turn === lastMove.turn) ? lastMove : null
  const value = poolSource === 'off' ? t('off') : pool ?? t('pool.none')
  const select = async (id: string): Promise<string | null> => {
    const reason = await submit(`/quota-pool ${id}`)
    return reason === null ? null : t('failed.command', { reason })
  }
  return (
    <Chip
      kind="pool"
      glyph={<PoolGlyph />}
      label={move === null ? t('pool.chip', { value }) : t('pool.moved.short', { route: routeText(move.to) })}
      short={move === null ? value : routeText(move.to)}
      menuTitle={t('pool.menu')}
      groups={poolGroups(facts, t)}
      card={move === null ? undefined : <MoveCard move={move} viewer={viewer} t={t} />}
      status={move === null ? '' : t('pool.moved.short', { route: routeText(move.to) })}
      onSelect={select}
    />
  )
}
