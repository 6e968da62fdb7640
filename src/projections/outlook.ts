import type { PoolReport } from './routes.ts'

/**
 * What choosing a route of a pool comes to now: a route that has allowance (`usable`), one that is asked although it has
 * none (`spent`), or nothing, for the host has none of them (`none`).
 *
 * @param pool - the pool.
 */
export function outlookOf({ chosen, routes }: PoolReport): 'usable' | 'spent' | 'none' {
  const grade = routes[chosen]?.grade
  return grade === undefined ? 'none' : grade === 'marked' || grade === 'empty' ? 'spent' : 'usable'
}
