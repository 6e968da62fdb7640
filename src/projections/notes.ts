import { routeName } from '../events/route.ts'
import type { MovedWhy, RouteNote } from '../events/route-notes.ts'
import type { SessionState } from '../reducers/session.ts'
import { oneLine } from './text.ts'

const shown = (route: { readonly provider: string; readonly model: string }): string => oneLine(routeName(route), 120)

/**
 * Why requests left their route before they were sent, for a person.
 *
 * @param why - the reason.
 * @param move - the route they left, the one they go to, and the pool.
 */
export function movedReason(why: MovedWhy, { pool, to }: { readonly to: { readonly provider: string; readonly model: string }; readonly pool: string }): string {
  switch (why) {
    case 'marked': return 'its provider reported the allowance spent'
    case 'assigned': return `the session was put in pool ${oneLine(pool, 120)}`
    case 'preferred': return `pool ${oneLine(pool, 120)} prefers ${shown(to)}, and it is usable again`
  }
}

/**
 * What the transcript says of a note.
 *
 * @param note - the note.
 * @param state - the session before it.
 */
export function noteText(note: RouteNote, state: SessionState): string {
  switch (note.kind) {
    case 'picked': return `Requests go to ${shown(note.route)}, which you picked.`
    case 'moved': return note.why === 'marked'
      ? `Requests go to ${shown(note.to)} (pool ${note.pool}): ${shown(note.from)} is out of allowance.`
      : `Requests go to ${shown(note.to)}: ${movedReason(note.why, note)}.`
    case 'stands': {
      const to = state.picks.to === null ? 'another route' : shown(state.picks.to)
      return state.picks.overruled
        ? `Requests go to ${to}: this session was put in a pool after ${shown(note.route)} was picked.`
        : `${shown(note.route)}, which you picked, is out of allowance: requests go to ${to} until it can be asked again.`
    }
  }
}
