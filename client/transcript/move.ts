import type { OurPolicy } from '../../src/events/policy-key.ts'
import { type LineText, type LogEvent, nameOf, policyOf, retryOf, saidIn, untilOf } from './chain.ts'

/** A move to another route, with the refusal that it answers. */
export interface Move {
  readonly kind: 'move'
  readonly to: Extract<OurPolicy, { kind: 'move' }>
  readonly provider: string
  /** Model of the route that refused, where the log names it before. */
  readonly model: string | null
  /** Where it stands in the log. */
  readonly seq: number
  readonly said: string
  readonly until: number | null
}

/**
 * The move that an event begins. One that ends a wait is part of that wait, and so is one that is made again in it.
 *
 * @param event - any event of the log.
 * @returns its place; `null` for any other.
 */
export function movePlace(event: LogEvent): { id: string; role: 'start' } | null {
  const policy = policyOf(event)
  const { provider, retry, retryId } = retryOf(event)
  if (policy?.kind !== 'move' || policy.afterWait !== undefined || retry !== 1 || typeof provider !== 'string') return null
  return typeof retryId === 'string' && retryId !== '' ? { id: retryId, role: 'start' } : null
}

/**
 * Read a move.
 *
 * @param event - an event that has a place.
 * @param before - route of the last request before: a refusal does not name its model.
 */
export function readMove(event: LogEvent, before: { readonly provider: unknown; readonly model: unknown }): Move {
  const retry = retryOf(event)
  const model = before.provider === retry.provider && typeof before.model === 'string' ? before.model : null
  const to = policyOf(event) as Move['to']
  return { kind: 'move', to, provider: String(retry.provider), model, seq: event.seq, said: saidIn(retry), until: untilOf(retry, event.time) }
}

/**
 * What the line of a move says.
 *
 * @param move - the move.
 */
export const moveText = (move: Move): LineText => ({
  key: 'line.moved', values: { from: nameOf(move), to: nameOf(move.to), pool: move.to.pool }, until: move.until,
})
