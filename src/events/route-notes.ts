import type { Route } from './route.ts'
import { POOL_COMMAND } from './settings.ts'

/**
 * Notes on where requests go, for what the harness's log does not say by itself: that a request left its route before it
 * was sent, and what a person's pick is.
 *
 * A retry record needs a refusal, and here no request was refused. So a note is the pair of a command, which nobody typed:
 * the only other harness event that every release loads, and that a transcript shows. Its id says that it is ours.
 */

/** Why a request left its route before it was sent. */
export const MOVED_WHYS = ['marked', 'assigned', 'preferred'] as const
/** Why a request left its route before it was sent: its provider is marked, a person chose the pool, or the pool prefers it. */
export type MovedWhy = typeof MOVED_WHYS[number]

/** One note. */
export type RouteNote =
  /** Requests go from one route to another of a pool; `base` is what the harness would use. */
  | { readonly kind: 'moved'; readonly base: Route; readonly from: Route; readonly to: Route; readonly pool: string; readonly why: MovedWhy }
  /** The person picked a model; no request has gone there yet. */
  | { readonly kind: 'picked'; readonly route: Route; readonly reasoningEffort?: string }
  /** The harness goes on using a route that the session was moved off: it is what the person picked. */
  | { readonly kind: 'stands'; readonly route: Route }

const OWN_ID = 'llm-quota-retry-'

/**
 * The id of a note's command, which tells it from a line that a person typed.
 *
 * @param unique - a random part.
 */
export const noteId = (unique: string): string => `${OWN_ID}${unique}`

/** A name as one word: what would end it is written as in an address. */
const word = (name: string): string => name.replaceAll(/[\s%]/gu, encodeURIComponent)
const routeWord = ({ provider, model }: Route): string => `${word(provider).replaceAll('/', '%2F')}/${word(model)}`

function nameOf(text: string | undefined): string | undefined {
  try {
    return text === undefined || text === '' ? undefined : decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function routeOf(text: string | undefined): Route | undefined {
  const slash = text?.indexOf('/') ?? -1
  const provider = nameOf(text?.slice(0, Math.max(0, slash)))
  const model = nameOf(text?.slice(slash + 1))
  return provider === undefined || model === undefined ? undefined : { provider, model }
}

/**
 * Write a note as a command; {@link readRouteNote} reads it back.
 *
 * @param note - the note.
 * @returns the command's name and its arguments, with the separator that a typed line has.
 */
export function writeRouteNote(note: RouteNote): { name: string; args: string } {
  const words = (): string[] => {
    switch (note.kind) {
      case 'moved': return [routeWord(note.to), 'from', routeWord(note.from), 'pool', word(note.pool), 'because', note.why, 'over', routeWord(note.base)]
      case 'picked': return [routeWord(note.route), ...note.reasoningEffort === undefined ? [] : [word(note.reasoningEffort)]]
      case 'stands': return [routeWord(note.route)]
    }
  }
  return { name: POOL_COMMAND, args: ` ${[note.kind, ...words()].join(' ')}` }
}

function readMoved([to, from, fromRoute, inPool, pool, because, why, over, base]: readonly string[]): RouteNote | undefined {
  const routes = { to: routeOf(to), from: routeOf(fromRoute), base: routeOf(base) }
  const known = MOVED_WHYS.find(name => name === why)
  const name = nameOf(pool)
  if (from !== 'from' || inPool !== 'pool' || because !== 'because' || over !== 'over' || known === undefined || name === undefined) return undefined
  const { to: target, from: source, base: own } = routes
  return target === undefined || source === undefined || own === undefined ? undefined : { kind: 'moved', base: own, from: source, to: target, pool: name, why: known }
}

/**
 * Read a note out of a logged command.
 *
 * @param commandId - the command's id.
 * @param name - the command's name.
 * @param args - everything after the name, as logged.
 * @returns the note, or `undefined` for every command that is none of ours, typed ones included.
 */
export function readRouteNote(commandId: unknown, name: unknown, args: unknown): RouteNote | undefined {
  if (name !== POOL_COMMAND || typeof commandId !== 'string' || !commandId.startsWith(OWN_ID)) return undefined
  if (typeof args !== 'string' || args.length > 10_000) return undefined
  const [kind, ...words] = args.trim().split(' ')
  const route = routeOf(words[0])
  if (kind === 'moved') return readMoved(words)
  if (route === undefined) return undefined
  if (kind === 'stands') return { kind, route }
  const effort = nameOf(words[1])
  return kind === 'picked' ? { kind, route, ...effort === undefined ? {} : { reasoningEffort: effort } } : undefined
}
