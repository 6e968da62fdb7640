import type { Mark } from '../../reducers/marks.ts'
import { markKey } from '../../reducers/marks.ts'
import type { Clock } from '../clock.ts'
import type { Journal } from '../journal-store.ts'

/** A route, or a whole provider. */
export interface ClearTarget {
  readonly provider: string
  readonly model?: string | undefined
}

/**
 * Read what a person typed: the provider ends at the first slash, for models have slashes of their own.
 *
 * @param text - `<provider>` or `<provider>/<model>`.
 */
export function readTarget(text: string): ClearTarget {
  const slash = text.indexOf('/')
  return slash < 0 ? { provider: text } : { provider: text.slice(0, slash), model: text.slice(slash + 1) }
}

/** Whether a mark keeps requests from a target: its own, its provider's, or of a whole provider that of any model. */
const concerns = (mark: Mark, { model, provider }: ClearTarget): boolean =>
  mark.provider === provider && (model === undefined || mark.model === undefined || mark.model === model)

/**
 * End the marks that keep requests from a route, or from a provider: a person knows better than what was refused before.
 *
 * @param journal - the journal.
 * @param clock - the time.
 * @param target - the route or the provider.
 * @returns the names of what was marked, once it is stored that it is no more; none where nothing was.
 */
export async function clearMarks(journal: Journal, clock: Clock, target: ClearTarget): Promise<string[]> {
  const at = clock.now()
  const found = Object.values(journal.marks).filter(mark => concerns(mark, target))
  journal.append(...found.map(({ model, provider }) => {
    const lift = { provider, at, by: 'person' as const, heardAt: at }
    return model === undefined ? { type: 'providerLifted' as const, ...lift } : { type: 'routeLifted' as const, ...lift, model }
  }))
  await journal.settled()
  const still = journal.marks
  return found.filter(mark => !Object.hasOwn(still, markKey(mark))).map(nameOf)
}

const nameOf = ({ model, provider }: Mark): string => model === undefined ? provider : `${provider}/${model}`

/**
 * What is marked now.
 *
 * @param journal - the journal.
 * @param now - epoch ms.
 */
export const markedNames = (journal: Pick<Journal, 'marks'>, now: number): string[] =>
  Object.values(journal.marks).filter(({ until }) => now < until).map(nameOf)
