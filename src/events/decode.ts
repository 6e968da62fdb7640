import type { At, Fact, InStep, PlannedRetry } from './facts.ts'
import { readFailure } from './failure.ts'
import { isRecord } from './json.ts'
import { readPolicyKey } from './policy-key.ts'
import type { Route } from './route.ts'
import { type RouteNote, readRouteNote } from './route-notes.ts'
import { readSettingAuthor, readSettingCommand } from './settings.ts'

/**
 * One total decoder from a raw session event, of any version of the harness, to our facts.
 *
 * The log is written by other people's code, now and in later releases: an event type that is not known, a field that
 * is missing or of another type and a value that is no event at all are each simply no fact.
 */

type Raw = Readonly<Record<string, unknown>>

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0

/** Farthest point in time that a calendar holds, in ms. Sums of times beyond it would soon be no JSON numbers at all. */
const MAX_TIME = 8.64e15
/** Longest delay that the harness allows in a record, in ms (2^31 - 1). */
const MAX_DELAY = 2_147_483_647

const isTime = (value: unknown): value is number => isNumber(value) && Math.abs(value) <= MAX_TIME
const delayOf = (value: unknown): number => isNumber(value) ? Math.min(Math.max(0, value), MAX_DELAY) : 0

const inStep = (data: Raw): InStep | undefined =>
  isNumber(data['turn']) && isNumber(data['step']) ? { turn: data['turn'], step: data['step'] } : undefined

const route = (value: unknown): Route | undefined =>
  isRecord(value) && isText(value['provider']) && isText(value['model'])
    ? { provider: value['provider'], model: value['model'] }
    : undefined

/** The failure that a stream chunk ends with. A stream that the person stopped (`aborted`) is not a refusal. */
function failureOfChunk(chunk: unknown): unknown {
  if (!isRecord(chunk) || chunk['type'] !== 'finish' || !isRecord(chunk['reason'])) return undefined
  return chunk['reason']['kind'] === 'error' ? chunk['reason']['failure'] ?? {} : undefined
}

/** Up to 0.1.2 a failed attempt ends in a `finish` chunk of its own; later it is one event that holds its stream. */
function failureOfAttempt(stream: unknown): unknown {
  if (!Array.isArray(stream)) return undefined
  for (let index = stream.length - 1; index >= 0; index -= 1) {
    const row: unknown = stream[index]
    const failure = isRecord(row) ? failureOfChunk(row['chunk']) : undefined
    if (failure !== undefined) return failure
  }
  return undefined
}

function requestFailed(data: Raw, failure: unknown, at: At): Fact | undefined {
  const where = inStep(data)
  return failure === undefined || where === undefined
    ? undefined
    : { type: 'requestFailed', ...where, failure: readFailure(failure), ...at }
}

function plannedRetry(data: Raw): PlannedRetry | undefined {
  const where = inStep(data)
  if (where === undefined || !isText(data['retryId']) || !isNumber(data['retry'])
    || !isText(data['provider']) || !isText(data['policyKey'])) return undefined
  return {
    ...where,
    retryId: data['retryId'],
    retry: data['retry'],
    provider: data['provider'],
    policyKey: data['policyKey'],
    delayMs: delayOf(data['delayMs']),
    failure: readFailure(data['failure']),
  }
}

function retryPlanned(data: Raw, at: At): Fact | undefined {
  const planned = plannedRetry(data)
  if (planned === undefined) return undefined
  const ours = readPolicyKey(planned.policyKey)
  switch (ours?.kind) {
    case 'wait':
      return { type: 'waitPlanned', ...planned, intervalMs: ours.intervalMs, cause: ours.cause, ...ours.on === undefined ? {} : { on: ours.on }, ...at }
    case 'backoff':
      return { type: 'backoffPlanned', ...planned, cause: ours.cause, ...at }
    case 'move':
      return { type: 'movePlanned', ...planned, pool: ours.pool, to: { provider: ours.provider, model: ours.model }, ...ours.afterWait === undefined ? {} : { afterWait: ours.afterWait }, ...at }
    default:
      return { type: 'otherRetryPlanned', ...planned, ...at }
  }
}

function noted(note: RouteNote, at: At): Fact {
  switch (note.kind) {
    case 'moved': {
      const { kind: _kind, ...move } = note
      return { type: 'requestMoved', ...move, ...at }
    }
    case 'picked': return { type: 'modelPicked', route: note.route, ...note.reasoningEffort === undefined ? {} : { reasoningEffort: note.reasoningEffort }, ...at }
    case 'stands': return { type: 'pickStands', route: note.route, ...at }
  }
}

function modelPicked(data: Raw, at: At): Fact | undefined {
  const to = route(data)
  const effort = data['reasoningEffort']
  return to === undefined ? undefined : { type: 'modelPicked', route: to, ...isText(effort) ? { reasoningEffort: effort } : {}, ...at }
}

function commandRun(data: Raw, at: At): Fact | undefined {
  const note = readRouteNote(data['commandId'], data['name'], data['args'])
  if (note !== undefined) return noted(note, at)
  const change = readSettingCommand(data['name'], data['args'])
  if (change === undefined || !isText(data['commandId'])) return undefined
  return { type: 'settingRequested', commandId: data['commandId'], change, by: readSettingAuthor(data['args'], data['source']), ...at }
}

function answered(data: Raw, at: At): Fact | undefined {
  const where = inStep(data)
  // An interrupted prefix is what a cancelled stream left behind, not an answer.
  if (where === undefined || data['interrupted'] === true) return undefined
  const message = data['message']
  const from = isRecord(message) ? route(message['source']) : undefined
  const fact = { type: 'answered', turn: where.turn, step: where.step, at: at.at, seq: at.seq } as const
  return from === undefined ? fact : { ...fact, route: from }
}

function routed(data: Raw, at: At): Fact | undefined {
  const header = data['header']
  const config = isRecord(header) ? header['config'] : undefined
  const to = route(config)
  if (to === undefined || !isRecord(config)) return undefined
  const effort = config['reasoningEffort']
  return { type: 'routed', route: to, ...isText(effort) ? { reasoningEffort: effort } : {}, ...at }
}

function turnEnded(data: Raw, at: At): Fact | undefined {
  if (!isNumber(data['turn'])) return undefined
  const reason = data['reason']
  const outcome = isRecord(reason) && isText(reason['kind']) ? reason['kind'] : 'unknown'
  const cause = isRecord(reason) ? reason['reason'] : undefined
  const by = isRecord(cause) && isText(cause['kind']) ? { by: cause['kind'] } : {}
  const failed = outcome === 'error' && isRecord(reason) ? reason['error'] ?? reason['failure'] : undefined
  return { type: 'turnEnded', turn: data['turn'], outcome, ...by, ...failed === undefined ? {} : { failure: readFailure(failed) }, ...at }
}

/** The decoder of one event type. */
type Decoder = (data: Raw, at: At) => Fact | undefined

const stepFact = (type: 'stepStarted' | 'stepEnded'): Decoder => (data, at) => {
  const where = inStep(data)
  // Spelled out, here and for answers: after the stream chunks these are what a log is made of.
  return where === undefined ? undefined : { type, turn: where.turn, step: where.step, at: at.at, seq: at.seq }
}

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['assistant/chunk', (data, at) => requestFailed(data, failureOfChunk(data['chunk']), at)],
  ['assistant/attempt', (data, at) => requestFailed(data, failureOfAttempt(data['stream']), at)],
  ['assistant/message', answered],
  ['llm/retry', retryPlanned],
  ['llm/retry-started', (data, at) => {
    const where = inStep(data)
    return where === undefined || !isText(data['retryId']) || !isNumber(data['retry'])
      ? undefined
      : { type: 'attemptStarted', ...where, retryId: data['retryId'], retry: data['retry'], ...at }
  }],
  ['request/header', routed],
  ['turn/start', (data, at) => isNumber(data['turn']) ? { type: 'turnStarted', turn: data['turn'], ...at } : undefined],
  ['turn/end', turnEnded],
  ['step/start', stepFact('stepStarted')],
  ['step/end', stepFact('stepEnded')],
  ['command/run', commandRun],
  ['model/selection', modelPicked],
  ['command/done', (data, at) => isText(data['commandId'])
    ? { type: 'commandSettled', commandId: data['commandId'], ok: data['kind'] === 'success', ...at }
    : undefined],
  ['session/end-seed', (data, at) => ({ type: 'seedEnded', inherited: data['inherited'] === true, ...at })],
])

function sessionOpened(event: Raw): Fact | undefined {
  if (!isText(event['id']) || !isTime(event['createdAt'])) return undefined
  return {
    type: 'sessionOpened',
    id: event['id'],
    at: event['createdAt'],
    ...isText(event['parentSession']) ? { parent: event['parentSession'] } : {},
    ...isNumber(event['seedLength']) ? { seedLength: event['seedLength'] } : {},
  }
}

/** Most events are stream chunks that say nothing here; they are told apart by one property before anything is built. */
const isPlainChunk = (event: Raw): boolean =>
  event['type'] === 'assistant/chunk'
  && (event['data'] as { readonly chunk?: { readonly type?: unknown } | null } | null | undefined)?.chunk?.type !== 'finish'

/**
 * Read one row of a session log.
 *
 * @param event - an event as the harness holds or stores it, a log's head line, or anything else.
 * @returns the fact it states, or `undefined` when it concerns the allowance in no way. Never throws.
 */
export function decodeEvent(event: unknown): Fact | undefined {
  if (typeof event !== 'object' || event === null || isPlainChunk(event as Raw) || !isRecord(event)) return undefined
  const type = event['type']
  if (type === 'session') return sessionOpened(event)
  const decode = typeof type === 'string' ? DECODERS.get(type) : undefined
  if (decode === undefined || !isRecord(event['data'])) return undefined
  const at: At = { at: isTime(event['time']) ? event['time'] : 0, seq: isNumber(event['seq']) ? event['seq'] : -1 }
  return decode(event['data'], at)
}

/**
 * The head of a live session as the fact its log would start with.
 *
 * @param header - the harness's session header.
 */
export function decodeHeader(header: unknown): Fact | undefined {
  return isRecord(header) ? sessionOpened(header) : undefined
}
