import type { FactOf } from '../../events/facts.ts'
import type { MoveCause } from '../../events/policy-key.ts'
import { type Route, routeName } from '../../events/route.ts'
import { type Classification, classifyFailure, PASSING } from '../../policy/judge/classify.ts'
import type { SessionState } from '../../reducers/session.ts'
import { refusedRoute } from '../../reducers/step.ts'
import { movedReason } from '../notes.ts'
import { durationText, oneLine } from '../text.ts'
import { type Advance, continuationOf, isCutOff, sameAttempt } from './advance.ts'

/** Longest provider message in one line of a timeline, in UTF-16 units. */
const MESSAGE = 160
/** Longest foreign name in one line, in UTF-16 units. */
const NAME = 120

const CAUSES: Readonly<Record<MoveCause, string>> = {
  'interval': 'the interval',
  'backoff': 'the backoff',
  'uncertain': 'the refusal may mean something else',
  'outage': 'the route is not back yet',
  'budget': 'the retry budget of the provider is used up',
  'hint': 'the reset time that the provider named',
  'second-try': 'a second look after a reset time that did not hold',
  'throttle': 'a throttle of the provider',
  'limit': 'the longest wait allowed',
  'other-route': 'another route of the pool may be asked',
  'due': 'the time of the route came',
  'shared': 'another session asked for all',
  'ramp': 'the provider answers again',
  'asked': 'the person asked for it now',
  'message': 'the person sent a message',
  'reading': 'a balance reading shows allowance',
  'answer': 'the provider answered on another model',
  'relay': 'the session that asked for all ended without an answer',
  'restated': 'written again as it was',
}

/** A route as a line shows it: its names come from a file. */
export const shownRoute = (route: Route): string => oneLine(routeName(route), NAME)

interface Verdict { readonly at: number; readonly timeless: boolean; readonly verdict: Classification }
/** Verdicts by refusal: one is asked about by its line, its record, and the move or wait that follows; and most repeat. */
const verdicts = new Map<string, Verdict>()
const MOST_VERDICTS = 64

/**
 * What a refusal was about, by the rules of the live plugin at the time of the refusal.
 *
 * @param fact - the refusal, or a record that carries one.
 * @param provider - the provider that refused, when the log names it.
 */
export function verdictOf({ failure, at }: Pick<FactOf<'requestFailed'>, 'failure' | 'at'>, provider: string | undefined): Classification {
  const { code, message, status, providerRetryAfterMs } = failure
  const key = JSON.stringify([provider, code, message, status, providerRetryAfterMs])
  const known = verdicts.get(key)
  if (known !== undefined && (known.at === at || known.timeless)) return known.verdict
  const verdict = classifyFailure({ ...failure, provider }, { now: at })
  // Of these kinds a verdict tells every time that the text names, so that one without any holds at any time.
  const timeless = PASSING.includes(verdict.kind) && verdict.resetsAt === undefined && verdict.resetHint === undefined
  if (verdicts.size >= MOST_VERDICTS) verdicts.clear()
  verdicts.set(key, { at, timeless, verdict })
  return verdict
}

function refused(fact: FactOf<'requestFailed'>, before: SessionState): string {
  const { failure } = fact
  const { route } = before.step
  const verdict = verdictOf(fact, route?.provider)
  const code = `${oneLine(failure.code, NAME)}${failure.status === undefined ? '' : ` ${failure.status}`}`
  return `request refused${route === null ? '' : ` by ${shownRoute(route)}`}: ${verdict.kind} by rule ${verdict.rule} `
    + `(${code}: ${oneLine(failure.message, MESSAGE)})`
}

/**
 * Why a session was moved.
 *
 * @param fact - the move.
 */
export const moveReason = (fact: FactOf<'movePlanned'>): string =>
  fact.afterWait === undefined ? `of rule ${verdictOf(fact, fact.provider).rule}` : `the wait was over: ${CAUSES[fact.afterWait]}`

function moved(fact: FactOf<'movePlanned'>, before: SessionState): string {
  const route = refusedRoute(before.step, fact.provider)
  const from = route === null ? oneLine(fact.provider, NAME) : shownRoute(route)
  return `moved from ${from} to ${shownRoute(fact.to)} (pool ${oneLine(fact.pool, NAME)}) because ${moveReason(fact)}`
}

/** How an entry that this step ended is told of. */
function entryEnd({ before, after }: Advance): string {
  const { lastClosed, closed } = after.entries
  if (lastClosed === null || closed === before.entries.closed) return ''
  return `; ${lastClosed.reason} after ${durationText(lastClosed.leftAt - lastClosed.enteredAt)} and ${counted(lastClosed.attempts, 'wait')}`
}

/** How a wait that this step ended is told of, with the time it was really kept. */
function waitEnd(step: Advance): string {
  const { fact, before, after } = step
  const wait = before.entries.open?.wait
  if (wait === null || wait === undefined || after.entries.open?.wait === wait) return ''
  const kept = fact.at - wait.plannedAt
  const early = wait.nextAttemptAt - fact.at
  if (isCutOff(step)) return `; the host ended in the wait (noted ${durationText(kept)} after it began)`
  if (fact.type !== 'attemptStarted') return `; the wait was given up after ${durationText(kept)}`
  return ` after ${durationText(kept)}${early >= 1_000 ? `, ${durationText(early)} earlier than planned` : ''}`
}

/** How a run that the end of its host cut off is told to go on. */
function goesOn(step: Advance): string | undefined {
  const carried = continuationOf(step)
  if (carried === undefined) return undefined
  const late = step.fact.at - carried.dueAt
  const when = Math.abs(late) < 1_000 ? 'at the time' : `${durationText(Math.abs(late))} ${late < 0 ? 'before' : 'after'} the time`
  return `the run of turn ${carried.ofTurn} goes on in turn ${carried.turn}, ${when} it waited for when the host ended`
}

/** A wait that nothing in the log ended, and that a later start of the host shows to be over. */
function startedAgain(step: Advance): string | undefined {
  const end = waitEnd(step)
  return end === '' ? undefined : `the host was started again${end}`
}

/**
 * A number of things.
 *
 * @param count - how many.
 * @param noun - one of them.
 */
export const counted = (count: number, noun: string): string =>
  `${count} ${count === 1 ? noun : noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`}`

/**
 * What a step reads as.
 *
 * @param step - the step.
 * @returns one line, or `undefined` for steps that a person does not miss.
 */
export function describe(step: Advance): string | undefined {
  const { fact, before, after } = step
  switch (fact.type) {
    case 'sessionOpened':
      return `session ${oneLine(fact.id, NAME)}${fact.parent === undefined ? '' : `, child of ${oneLine(fact.parent, NAME)}`}`
    case 'routed':
      return `requests go to ${shownRoute(fact.route)}${fact.reasoningEffort === undefined ? '' : ` (${oneLine(fact.reasoningEffort, NAME)})`}`
    case 'requestFailed':
      return refused(fact, before)
    case 'waitPlanned':
      return `wait ${after.entries.open?.attempts ?? fact.retry}${sameAttempt(step) ? fact.cause === 'restated' ? ' stands' : ' brought forward' : ''}: next check ${fact.on === undefined ? '' : `on ${shownRoute(fact.on)} `}in ${durationText(fact.delayMs)} (${CAUSES[fact.cause]})`
    case 'movePlanned':
      return moved(fact, before)
    case 'requestMoved':
      return `moved before sending from ${shownRoute(fact.from)} to ${shownRoute(fact.to)} (pool ${oneLine(fact.pool, NAME)}): ${movedReason(fact.why, fact)}`
    case 'modelPicked':
      return before.picks === after.picks ? undefined : `the person picked ${shownRoute(fact.route)}`
    case 'pickStands':
      return `the pick of ${shownRoute(fact.route)} stands, and is used again when its provider is`
    case 'backoffPlanned':
      return `try ${(after.transient.ladder?.tries ?? 0) + 1} of this step after the harness gave up (${oneLine(fact.failure.code, NAME)}) `
        + `in ${durationText(fact.delayMs)} (${CAUSES[fact.cause]})`
    case 'otherRetryPlanned':
      return `quick retry ${fact.retry} of the harness in ${durationText(fact.delayMs)}`
    case 'attemptStarted':
      return `asking again${waitEnd(step)}`
    case 'answered':
      return `answered${fact.route === undefined ? '' : ` by ${shownRoute(fact.route)}`}${entryEnd(step)}`
    case 'settingRequested':
      return `${fact.change.inherited ? 'inherited' : `${fact.by} asked for`} ${fact.change.setting} ${fact.change.value}`
    case 'commandSettled':
      return before.settings === after.settings ? undefined : `setting ${fact.ok ? 'took effect' : 'was refused'}${entryEnd(step)}`
    case 'turnEnded':
      if (isCutOff(step) && waitEnd(step) === '') return `turn ${fact.turn} ended: ${oneLine(fact.outcome, NAME)}; the host ended while it asked again`
      return fact.outcome === 'completed' ? undefined : `turn ${fact.turn} ended: ${oneLine(fact.outcome, NAME)}${waitEnd(step)}`
    case 'turnStarted':
      return goesOn(step) ?? startedAgain(step)
    case 'stepStarted':
    case 'stepEnded':
    case 'seedEnded':
      return startedAgain(step)
  }
}
