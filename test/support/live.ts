/** A session as the router sees it: a log that grows by what is decided, and nothing that is remembered besides. */
import type { Route } from '../../src/events/route.ts'
import { sameRoute } from '../../src/events/route.ts'
import { noteId, type RouteNote, writeRouteNote } from '../../src/events/route-notes.ts'
import type { Config } from '../../src/policy/config.ts'
import type { World } from '../../src/policy/pool/choose.ts'
import { decideRequest, type RequestDecision, type Target } from '../../src/policy/pool/request.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { deepFreeze, log, type Log } from './build.ts'

/** Write a note to a log, as the host does. */
export function notes(given: Log, note: RouteNote): void {
  const { name, args } = writeRouteNote(note)
  const commandId = noteId(`n${given.rows.length}`)
  given.event('command/run', { commandId, name, args, source: { kind: 'user' } })
  given.event('command/done', { commandId, kind: 'success', text: '' })
}

/** A live session. */
export class Live {
  readonly log: Log
  private sent: Target | undefined

  constructor(given: Log = log()) {
    this.log = given
    const config = given.rows.findLast(row => row.type === 'request/header')?.data.header.config
    if (config !== undefined) this.sent = config
  }

  /** The request that the harness is about to send to `base`: decided, noted and logged as the host does it. */
  sends(base: Target, world: World, config: Config, unfit: readonly Route[] = []): RequestDecision {
    if (!this.log.inStep) this.log.step()
    const decision = decideRequest(deepFreeze({ base, state: foldSession(this.log.rows), world, unfit }), config)
    for (const note of decision.notes) notes(this.log, note)
    const { route } = decision
    const effort = sameRoute(base, route) ? route.reasoningEffort ?? base.reasoningEffort : route.reasoningEffort
    this.log.provider = route.provider
    this.log.model = route.model
    if (!sameRoute(this.sent, route) || this.sent?.reasoningEffort !== effort) this.log.asks(route.provider, route.model, effort)
    this.sent = { ...route, ...effort === undefined ? {} : { reasoningEffort: effort } }
    return decision
  }

  /** The route that the harness uses by itself where nobody picked one: the last that was logged. */
  get logged(): Target | undefined {
    return this.sent
  }
}
