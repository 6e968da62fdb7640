import type { Failure } from './failure.ts'
import type { MoveCause, WaitCause, WaitPolicy } from './policy-key.ts'
import type { Route } from './route.ts'
import type { MovedWhy } from './route-notes.ts'
import type { SettingAuthor, SettingChange } from './settings.ts'

/** Where in the session's log a fact stands. */
export interface At {
  /** Epoch ms at which the harness appended the event. */
  readonly at: number
  /** Position in the session's log. */
  readonly seq: number
}

/** The step that a request belongs to. */
export interface InStep {
  readonly turn: number
  readonly step: number
}

/** A planned attempt, of whichever policy. */
export interface PlannedRetry extends InStep {
  /** One id for the chain of one policy in one step. */
  readonly retryId: string
  /** 1, 2, 3, ... within the chain. */
  readonly retry: number
  /** Provider of the request that failed. */
  readonly provider: string
  /** Time from the record to the planned attempt, in ms. */
  readonly delayMs: number
  readonly failure: Failure
  readonly policyKey: string
}

/**
 * The few things that can happen in a session as far as its allowance is concerned. Everything this plugin knows of a
 * session is a fold over these; version differences of the log end where they are made (`decode.ts`).
 */
export type Fact =
  /** The log's head: who the session is and whom it descends from. */
  | { readonly type: 'sessionOpened'; readonly id: string; readonly at: number; readonly parent?: string; readonly seedLength?: number }
  /** Everything before came with the session (resumed, forked): whatever was open then is over. */
  | { readonly type: 'seedEnded'; readonly inherited: boolean } & At
  | { readonly type: 'turnStarted'; readonly turn: number } & At
  /** `by` says who cancelled an aborted turn: the person, or the end of the host's life (`disposed`); `failure` what a turn failed on. */
  | { readonly type: 'turnEnded'; readonly turn: number; readonly outcome: string; readonly by?: string; readonly failure?: Failure } & At
  | { readonly type: 'stepStarted' } & InStep & At
  | { readonly type: 'stepEnded' } & InStep & At
  /** The route of the requests from here on. The harness logs it when it changes, not at every request. */
  | { readonly type: 'routed'; readonly route: Route; readonly reasoningEffort?: string } & At
  | { readonly type: 'requestFailed'; readonly failure: Failure } & InStep & At
  /** The model's answer was committed to the conversation. */
  | { readonly type: 'answered'; readonly route?: Route } & InStep & At
  | { readonly type: 'waitPlanned' } & WaitPolicy & PlannedRetry & At
  /** `afterWait` is absent where the move answers a refusal at once. */
  | { readonly type: 'movePlanned'; readonly pool: string; readonly to: Route; readonly afterWait?: MoveCause } & PlannedRetry & At
  /** One more try after a failure that passes. */
  | { readonly type: 'backoffPlanned'; readonly cause: WaitCause } & PlannedRetry & At
  /** A retry of another policy, most often the harness's own quick ones. */
  | { readonly type: 'otherRetryPlanned' } & PlannedRetry & At
  /** A planned attempt began. */
  | { readonly type: 'attemptStarted'; readonly retryId: string; readonly retry: number } & InStep & At
  | { readonly type: 'settingRequested'; readonly commandId: string; readonly change: SettingChange; readonly by: SettingAuthor } & At
  /** A request left its route before it was sent; `base` is what the harness would have used. */
  | { readonly type: 'requestMoved'; readonly base: Route; readonly from: Route; readonly to: Route; readonly pool: string; readonly why: MovedWhy } & At
  /** The person picked a model, whether or not a request went there since. */
  | { readonly type: 'modelPicked'; readonly route: Route; readonly reasoningEffort?: string } & At
  /** The harness goes on using a route that the session was moved off: its person picked it. */
  | { readonly type: 'pickStands'; readonly route: Route } & At
  | { readonly type: 'commandSettled'; readonly commandId: string; readonly ok: boolean } & At

/** The fact of one type. */
export type FactOf<T extends Fact['type']> = Extract<Fact, { type: T }>
