import { type ReactNode, useMemo } from 'react'
import type { RoutesReport } from '../../src/projections/routes.ts'
import type { SessionProps, Translate } from '../browser-host.ts'
import { PROJECTION, type QuotaRetryFacts, readFacts } from '../facts.ts'
import { PoolGlyph } from '../glyphs.tsx'
import type { MenuGroup } from '../menu/Menu.tsx'
import { routeText, standText } from '../routes.ts'
import type { Viewer } from '../viewer.ts'
import type { ChipActions } from './actions.ts'
import { Chip } from './Chip.tsx'
import { type CurrentRoute, poolAhead, useCurrent, usePools } from './use-pools.ts'
import { Fact } from './WaitCard.tsx'

/** Ids of the rows that stand for routes; no pool is called so. */
const ROUTE_ROW = 'route:'

/** The settings. No pool can be called `off` or `default`: the command answers those words itself. */
function settingsGroup({ pools, poolSource, ...facts }: QuotaRetryFacts, pool: string | null, blank: boolean, t: Translate): MenuGroup {
  const stated = poolSource === 'off' || poolSource === 'default' ? poolSource : facts.pool
  const follow = stated !== 'default' || (pool === null && blank) ? t('pool.default.follow') : pool === null ? t('pool.default.none') : t('pool.default.hint', { value: pool })
  const entry = (id: string, label: string, hint?: string) => ({ id, label, current: id === stated, ...hint === undefined ? {} : { hint } })
  return {
    title: t('pool.menu'),
    rows: [
      ...pools.map(name => entry(name, name, poolSource === 'inherited' && name === facts.pool ? t('retry.inherited') : undefined)),
      entry('default', t('default'), follow), entry('off', t('off'), t('pool.off.hint')),
    ],
  }
}

/** The routes of a pool as they stand, the one in use marked. */
function routesGroup(report: RoutesReport | undefined, pool: string | null, current: CurrentRoute | undefined, viewer: Viewer, t: Translate): MenuGroup[] {
  const routes = report?.pools.find(found => found.pool === pool)?.routes
  if (pool === null || routes === undefined) return []
  const rows = routes.map(route => ({
    id: ROUTE_ROW + routeText(route), label: routeText(route), hint: route.grade === 'marked' ? t('pool.marked', { stand: standText(route, viewer, t) }) : standText(route, viewer, t), disabled: route.grade === 'absent',
    current: route.provider === current?.provider && route.model === current.model,
  }))
  return [{ title: t('pool.routes', { pool }), rows }]
}

/** Why a session was moved; a host half from before says nothing, and knew refusals alone. */
function reasonText({ from, to, why }: NonNullable<QuotaRetryFacts['lastMove']>, t: Translate): string {
  if (why === 'assigned') return t('pool.assigned')
  if (why === 'preferred') return t('pool.preferred', { route: routeText(to) })
  return from === null ? t('wait.title') : t('pool.spent', { route: routeText(from) })
}

function MoveCard({ move, viewer, t }: { readonly move: NonNullable<QuotaRetryFacts['lastMove']>; readonly viewer: Viewer; readonly t: Translate }): ReactNode {
  return (
    <div className="lqr-facts">
      <div className="lqr-card-title">{t('pool.moved.title')}</div>
      {move.from !== null && <Fact name={t('pool.from')}>{routeText(move.from)}</Fact>}
      <Fact name={t('pool.to')}>{routeText(move.to)}</Fact>
      <Fact name={t('pool.pool')}>{move.pool}</Fact>
      <Fact name={t('pool.at')}>{viewer.time(move.at)}</Fact>
      <Fact name={t('pool.reason')}>{reasonText(move, t)}</Fact>
    </div>
  )
}

/** The pool of a session; for the turn of a failover, where the session went. */
export function PoolChip({ useProjection, useSession, sessionId, submit, pools, models, viewer, t }: SessionProps & ChipActions): ReactNode {
  const facts = readFacts(useProjection(PROJECTION))
  const turn = useSession(conversation => conversation.chat?.timeline?.turnOrder?.at(-1))
  const blank = useSession(conversation => conversation.chat?.timeline?.turnOrder?.length === 0)
  const directory = useMemo(models, [sessionId])
  const current = useCurrent(directory)
  const ahead = blank && facts?.pool === null && facts.poolSource === 'default'
  const { report, ask } = usePools(pools, ahead)
  if (facts === undefined || facts.pools.length === 0) return null
  const { lastMove, poolSource } = facts
  const pool = ahead ? poolAhead(report, current) ?? null : facts.pool
  // Without a conversation to look at, the last move is taken for that of the last turn.
  const move = lastMove !== null && (turn === undefined || turn === lastMove.turn) ? lastMove : null
  const value = poolSource === 'off' ? t('off') : pool ?? t(ahead ? 'pool.auto' : 'pool.none')
  const select = async (id: string): Promise<string | null> => {
    const route = report?.pools.flatMap(({ routes }) => routes).find(found => ROUTE_ROW + routeText(found) === id)
    if (route !== undefined) {
      const { grade, model, provider, reasoningEffort } = route
      // A request would be moved off it again before it is sent.
      if (grade === 'marked') await submit(`/quota-routes clear ${routeText(route)}`)
      const taken = await directory?.select({ provider, model, ...reasoningEffort === undefined ? {} : { reasoningEffort } }).then(() => true, () => false)
      return taken === true ? null : t('failed.route')
    }
    const reason = await submit(`/quota-pool ${id}`)
    return reason === null ? null : t('failed.command', { reason })
  }
  const moved = move === null ? undefined : routeText(move.to)
  return (
    <Chip
      kind="pool"
      glyph={<PoolGlyph />}
      label={moved === undefined ? t('pool.chip', { value }) : t('pool.moved.short', { route: moved })}
      value={moved ?? value}
      menuTitle={t('pool.menu')}
      groups={[...routesGroup(directory === undefined ? undefined : report, pool, current, viewer, t), settingsGroup(facts, pool, blank, t)]}
      card={move === null ? undefined : <MoveCard move={move} viewer={viewer} t={t} />}
      status={moved === undefined ? '' : t('pool.moved.short', { route: moved })}
      onOpen={ask}
      onSelect={select}
    />
  )
}
