import type { ZodType } from 'zod'
import { decodeHeader } from '../events/decode.ts'
import type { Config } from '../policy/config.ts'
import type { LadderSwitch } from '../policy/settings.ts'
import { evolve, evolveEvent, initialState, type SessionState } from '../reducers/session.ts'
import { QuotaRetryFacts, quotaRetryFacts } from './facts.ts'

/** Bumped whenever the folded state changes its shape or meaning; the harness then drops what it cached. */
export const STATE_VERSION = 2

/** Key of the projection. */
export const PROJECTION = 'quotaRetry'

/**
 * A projection unit in the forms of every registry at once: up to 0.1.0 a unit has `schema` and `view`, later
 * `stateSchema` and `wire`, and `init` is given the session's head. Each registry reads the fields that it knows.
 */
export interface ProjectionUnit {
  readonly key: typeof PROJECTION
  readonly stateVersion: number
  readonly schema: ZodType<QuotaRetryFacts>
  readonly stateSchema: { parse(value: unknown): SessionState }
  readonly wire: { readonly viewSchema: ZodType<QuotaRetryFacts>; view(state: SessionState): QuotaRetryFacts }
  init(header?: unknown): SessionState
  apply(state: SessionState, event: unknown): SessionState
  view(state: SessionState): QuotaRetryFacts
}

/** A cached state is our own fold, under our own version number; what it must be is there. */
function parseState(value: unknown): SessionState {
  const keys = typeof value === 'object' && value !== null ? value : {}
  if (!['lineage', 'settings', 'step', 'entries', 'failovers', 'picks'].every(key => key in keys)) {
    throw new Error('llm-quota-retry: a cached projection state is not one of ours')
  }
  return value as SessionState
}

/**
 * The `quotaRetry` projection for one deployment.
 *
 * @param config - the deployment; settings are shown as they hold under it.
 * @returns the unit; `view` never throws and never answers `undefined`, which would break the session's whole page.
 */
export function projectionUnit(config: Pick<Config, 'defaultEnabled' | 'pools' | 'resumeOnStart'> & LadderSwitch): ProjectionUnit {
  const view = (state: SessionState): QuotaRetryFacts => {
    try {
      return quotaRetryFacts(state, config)
    } catch {
      // A cached state that was damaged on disk: the defaults are shown rather than a broken page.
      return quotaRetryFacts(initialState, config)
    }
  }
  return {
    key: PROJECTION,
    stateVersion: STATE_VERSION,
    schema: QuotaRetryFacts,
    stateSchema: { parse: parseState },
    wire: { viewSchema: QuotaRetryFacts, view },
    init(header) {
      const opened = decodeHeader(header)
      return opened === undefined ? initialState : evolve(initialState, opened)
    },
    apply: evolveEvent,
    view,
  }
}
