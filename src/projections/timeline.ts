import type { Fact } from '../events/facts.ts'
import { routeName } from '../events/route.ts'
import { classifyFailure } from '../policy/classify.ts'
import type { Moment, Replay } from './replay.ts'
import { clockText, durationText, oneLine } from './text.ts'

/** One line of a timeline. */
export interface TimelineRow {
  /** Epoch ms. */
  readonly at: number
  readonly what: string
}

function failureText(fact: Extract<Fact, { type: 'requestFailed' }>): string {
  const { failure } = fact
  const verdict = classifyFailure(failure, { now: fact.at })
  return `request refused: ${verdict.kind} by rule ${verdict.rule} (${failure.code}${failure.status === undefined ? '' : ` ${failure.status}`}: ${oneLine(failure.message, 160)})`
}

const CAUSES: Readonly<Record<string, string>> = {
  'interval': 'the interval',
  'hint': 'the reset time that the provider named',
  'second-try': 'a second look after a reset time that did not hold',
  'throttle': 'a throttle of the provider',
  'limit': 'the longest wait allowed',
  'shared': 'another session asked for all',
  'ramp': 'the provider answers again',
}

/** What a fact reads as, or `undefined` for facts that a person does not miss. */
function describe({ fact, state }: Moment, before: Moment | undefined): string | undefined {
  switch (fact.type) {
    case 'sessionOpened':
      return `session ${fact.id}${fact.parent === undefined ? '' : `, child of ${fact.parent}`}`
    case 'routed':
      return `requests go to ${routeName(fact.route)}${fact.reasoningEffort === undefined ? '' : ` (${fact.reasoningEffort})`}`
    case 'requestFailed':
      return failureText(fact)
    case 'waitPlanned':
      return `wait ${state.entries.open?.attempts ?? fact.retry}: next check in ${durationText(fact.delayMs)} (${CAUSES[fact.cause] ?? fact.cause})`
    case 'movePlanned':
      return `moved to ${routeName(fact.to)} (pool ${fact.pool})`
    case 'otherRetryPlanned':
      return `quick retry ${fact.retry} of the harness in ${durationText(fact.delayMs)}`
    case 'attemptStarted':
      return 'asking again'
    case 'answered':
      return `answered${fact.route === undefined ? '' : ` by ${routeName(fact.route)}`}${ended(state, before)}`
    case 'settingRequested':
      return `${fact.change.inherited ? 'inherited' : `${fact.by} asked for`} ${fact.change.setting} ${fact.change.value}`
    case 'commandSettled':
      return before !== undefined && before.state.settings !== state.settings
        ? `setting ${fact.ok ? 'took effect' : 'was refused'}${ended(state, before)}`
        : undefined
    case 'turnEnded':
      return fact.outcome === 'completed' ? undefined : `turn ${fact.turn} ended: ${fact.outcome}`
    case 'turnStarted':
    case 'stepStarted':
    case 'stepEnded':
    case 'seedEnded':
      return undefined
  }
}

function ended(state: Moment['state'], before: Moment | undefined): string {
  const { lastClosed, closed } = state.entries
  if (lastClosed === null || before === undefined || closed === before.state.entries.closed) return ''
  return `; ${lastClosed.reason} after ${durationText(lastClosed.leftAt - lastClosed.enteredAt)} and ${lastClosed.attempts} ${lastClosed.attempts === 1 ? 'wait' : 'waits'}`
}

/**
 * The history of a session as a person reads it.
 *
 * @param history - a replayed session.
 * @returns one row for each fact that matters, in order.
 */
export function timeline(history: Replay): TimelineRow[] {
  const rows: TimelineRow[] = []
  for (const [index, moment] of history.moments.entries()) {
    const what = describe(moment, history.moments[index - 1])
    if (what !== undefined) rows.push({ at: moment.fact.at, what })
  }
  return rows
}

/**
 * A timeline as text, one line a row.
 *
 * @param rows - the rows.
 * @param timeZone - an IANA zone; the host's own when absent.
 */
export function timelineText(rows: readonly TimelineRow[], timeZone?: string): string {
  return rows.map(row => `${clockText(row.at, timeZone)}  ${row.what}`).join('\n')
}
