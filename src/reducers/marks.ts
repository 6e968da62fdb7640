import type { JournalRecord, JournalRecordOf } from '../events/journal.ts'
import type { Route } from '../events/route.ts'

/** What a refusal leaves: with a model it is the mark of that route alone, without one it is the whole provider's. */
export interface Mark extends Omit<JournalRecordOf<'providerMarked'>, 'type'> {
  readonly model?: string
}

/** A record that marks. */
export type MarkRecord = JournalRecordOf<'providerMarked' | 'routeMarked'>
/** A record that lifts a mark. */
export type LiftRecord = JournalRecordOf<'providerLifted' | 'routeLifted'>

/**
 * The last mark of each provider and of each route that was not lifted since, by {@link markKey}. A lapsed one is still
 * here: time is asked of the reader.
 */
export type MarksState = Readonly<Record<string, Mark>>

/** Nothing is marked. */
export const initialMarks: MarksState = {}

/** A mark that was made this much later than now, in ms, was made by a clock that has been set back since. */
const AHEAD_MS = 60_000

/**
 * Under which key a mark stands: the provider's name, or the route as JSON.
 *
 * @param owner - a provider, or with a model a route.
 */
export const markKey = ({ provider, model }: { readonly provider: string; readonly model?: string }): string =>
  model === undefined ? provider : JSON.stringify([provider, model])

/** The mark under a key, if it is the owner's: a provider could bear the name that is the key of a route. */
function held(marks: MarksState, owner: { readonly provider: string; readonly model?: string }): Mark | undefined {
  const key = markKey(owner)
  const mark = Object.hasOwn(marks, key) ? marks[key] : undefined
  return mark?.provider === owner.provider && mark.model === owner.model ? mark : undefined
}

/**
 * Whether a lift ends a mark. An answer that was on its way when the refusal came says nothing about the time after it;
 * but one that was heard before the mark was made was heard by a clock that is right by now.
 *
 * @param mark - epoch ms at which the mark was made.
 * @param lift - what was heard, and when.
 */
export const lifts = (mark: Pick<Mark, 'at'>, { at, heardAt }: Pick<LiftRecord, 'at' | 'heardAt'>): boolean =>
  at >= mark.at || (heardAt !== undefined && heardAt < mark.at)

/**
 * Fold one journal record into the marks.
 *
 * @param state - the marks so far.
 * @param record - what happened.
 * @returns the marks now; the same reference when the record does not concern them.
 */
export function evolveMarks(state: MarksState, record: JournalRecord): MarksState {
  switch (record.type) {
    case 'providerMarked':
    case 'routeMarked': {
      const { type: _type, ...mark } = record
      return { ...state, [markKey(record)]: mark }
    }
    case 'providerLifted':
    case 'routeLifted': {
      const mark = held(state, record)
      if (mark === undefined || !lifts(mark, record)) return state
      const { [markKey(record)]: _lifted, ...rest } = state
      return rest
    }
    default:
      return state
  }
}

/** Whether a mark holds: it has not lapsed, and the clock that made it is still the present one. */
const holds = (mark: Mark | undefined, now: number): mark is Mark => mark !== undefined && now < mark.until && mark.at <= now + AHEAD_MS

/**
 * The marks of a route and of its provider that no longer hold, and that nothing lifted: nobody was answered since.
 *
 * @param marks - the folded marks.
 * @param route - the route.
 * @param now - epoch ms.
 */
export const lapsedMarks = (marks: MarksState, { provider, model }: Route, now: number): Mark[] =>
  [held(marks, { provider }), held(marks, { provider, model })].filter(mark => mark !== undefined && !holds(mark, now)) as Mark[]

/**
 * The mark that holds for a provider as a whole.
 *
 * @param marks - the folded marks.
 * @param provider - the provider.
 * @param now - epoch ms.
 * @returns the mark, or `undefined` when there is none or it lapsed.
 */
export function providerMarkOf(marks: MarksState, provider: string, now: number): Mark | undefined {
  const mark = held(marks, { provider })
  return holds(mark, now) ? mark : undefined
}

/**
 * The mark that keeps requests from a route: its own or its provider's, whichever lasts longer.
 *
 * @param marks - the folded marks.
 * @param route - the route.
 * @param now - epoch ms.
 * @returns the mark, or `undefined` when there is none or it lapsed.
 */
export function markOf(marks: MarksState, { provider, model }: Route, now: number): Mark | undefined {
  const whole = providerMarkOf(marks, provider, now)
  const own = held(marks, { provider, model })
  if (!holds(own, now)) return whole
  return whole === undefined || own.until > whole.until ? own : whole
}
