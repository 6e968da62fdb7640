import { withinBounds } from './bounds.ts'
import type { Fact } from '../events/facts.ts'
import { isCutOff } from './step.ts'
import type { PoolChoice, RetryChoice, SettingChange } from '../events/settings.ts'

/** Where a stated setting came from: the session itself, or the nearest ancestor, taken over once at its start. */
export type SettingSource = 'session' | 'inherited'

/** A setting that the session states. */
export interface Stated<T> {
  readonly value: T
  readonly source: SettingSource
  /** Epoch ms of the command. */
  readonly at: number
}

/** The settings that the session's own log states; `null` means the deployment's default. */
export interface SettingsState {
  readonly retry: Stated<Exclude<RetryChoice, 'default'>> | null
  /** Whether failures that pass are retried, and a run that ended on one is continued. */
  readonly failures: Stated<Exclude<RetryChoice, 'default'>> | null
  /** `off`, or the name of a pool (which the configuration may have lost since). */
  readonly pool: Stated<PoolChoice> | null
  /** Whether the session was put in a pool and has sent no request since: the next one goes to a route of the pool. */
  readonly assigned: boolean
  /** Whether a step or an attempt began since then: what ends next is a request that knew of the pool. */
  readonly assignedRequest: boolean
  /** Whether any setting command took effect since the session's own history began: a child inherits only once. */
  readonly touched: boolean
  /** Commands that ran and are not settled; a command that fails changes nothing. */
  readonly open: Readonly<Record<string, SettingChange>>
}

/** No setting stated. */
export const initialSettings: SettingsState = { retry: null, failures: null, pool: null, assigned: false, assignedRequest: false, touched: false, open: {} }

function apply(state: SettingsState, change: SettingChange, at: number): SettingsState {
  const source: SettingSource = change.inherited ? 'inherited' : 'session'
  if (change.setting !== 'pool') {
    return { ...state, touched: true, [change.setting]: change.value === 'default' ? null : { value: change.value, source, at } }
  }
  return {
    ...state,
    touched: true,
    pool: change.value === 'default' ? null : { value: change.value, source, at },
    // What a child inherits says where it may move to; the route it was given is left as it is.
    assigned: change.value !== 'default' && change.value !== 'off' && !change.inherited,
    assignedRequest: false,
  }
}

/** Commands that have begun and not settled: one runs at a time, so more are a damaged log. */
const MAX_OPEN = 64

function settle(state: SettingsState, commandId: string, ok: boolean, at: number): SettingsState {
  // Every command of the harness settles with this event: only ours were opened.
  if (!Object.hasOwn(state.open, commandId)) return state
  const { [commandId]: change, ...open } = state.open
  return ok && change !== undefined ? apply({ ...state, open }, change, at) : { ...state, open }
}

/**
 * The settings of a session whose person picked a model after they put it in a pool.
 *
 * @param state - the settings so far.
 */
export const overruledByPick = (state: SettingsState): SettingsState =>
  state.assigned ? { ...state, assigned: false, assignedRequest: false } : state

/**
 * The settings where whoever ran the open commands is gone. Each holds as its person typed it: the answer was on its way
 * at most, for it follows only once the command is on the disk.
 *
 * @param state - the settings so far.
 * @param at - epoch ms.
 * @returns the same reference where no command is open.
 */
export function settledSettings(state: SettingsState, at: number): SettingsState {
  const changes = Object.values(state.open)
  return changes.length === 0 ? state : changes.reduce((settings, change) => apply(settings, change, at), { ...state, open: {} })
}

/**
 * Fold one fact into the settings.
 *
 * @param state - the settings so far.
 * @param fact - what happened.
 * @returns the settings now; the same reference when the fact does not concern them.
 */
export function evolveSettings(state: SettingsState, fact: Fact): SettingsState {
  switch (fact.type) {
    case 'settingRequested':
      return { ...state, open: withinBounds({ ...state.open, [fact.commandId]: fact.change }, MAX_OPEN) }
    case 'commandSettled':
      return settle(state, fact.commandId, fact.ok, fact.at)
    case 'stepStarted':
    case 'attemptStarted':
      return state.assigned && !state.assignedRequest ? { ...state, assignedRequest: true } : state
    case 'answered':
    case 'requestFailed':
      // A request that was on its way when the session was put in the pool is not the one that goes there.
      return state.assignedRequest ? { ...state, assigned: false, assignedRequest: false } : state
    case 'turnEnded':
      // The request that knew of the pool was stopped, and nothing came of it. One that a crash cut off may not have been sent.
      return state.assignedRequest && !isCutOff(fact) ? { ...state, assigned: false, assignedRequest: false } : state
    case 'modelPicked':
    case 'requestMoved':
    case 'movePlanned':
      return state.assigned ? { ...state, assigned: false, assignedRequest: false } : state
    case 'seedEnded':
      return settledSettings(state, fact.at)
    default:
      return state
  }
}
