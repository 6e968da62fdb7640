/**
 * Replay a session log: the live plugin's own reducers, without a host.
 *
 * @module dsh-llm-quota-retry/replay
 */
export type { Fact } from './events/facts.ts'
export type { Failure } from './events/failure.ts'
export type { Route } from './events/route.ts'
export { decodeEvent } from './events/decode.ts'
export type { ClosedEntry, Entry, LeaveReason } from './reducers/quota.ts'
export type { Failover } from './reducers/pool.ts'
export type { JournalState } from './reducers/journal.ts'
export type { SessionState } from './reducers/session.ts'
export type { SettingsState } from './reducers/settings.ts'
export type { Moment, Replay } from './projections/replay.ts'
export { replay } from './projections/replay.ts'
export type { TimelineRow } from './projections/timeline.ts'
export { timeline, timelineText } from './projections/timeline.ts'
