import { type Found, answersTo, isExactly } from './find.ts'
import { UsageError } from './options.ts'
import { readSession, STDIN } from './reader.ts'

/** Candidates that are named. */
const NAMED = 10

/** The id in the head of a log. */
async function headOf(path: string): Promise<string | undefined> {
  let id: string | undefined
  await readSession(path, {
    step: ({ fact }) => {
      if (fact.type === 'sessionOpened') id = fact.id
      return false
    },
    report() {},
  })
  return id
}

/**
 * Which session is meant by an id, or by its beginning.
 *
 * @param asked - what the person gave.
 * @param logs - the logs in which it may be.
 * @returns the whole id; `undefined` where no log begins with such a session, as standard input may hold it further on.
 * @throws UsageError with the candidates, when several begin like this and none is exactly this.
 */
export async function chooseSession(asked: string, logs: Iterable<Found>): Promise<string | undefined> {
  const ids = new Set<string>()
  for (const { path } of logs) {
    const id = path === STDIN ? undefined : await headOf(path)
    if (id !== undefined && answersTo(id, asked)) ids.add(id)
  }
  const exact = [...ids].find(id => isExactly(id, asked))
  if (exact !== undefined) return exact
  if (ids.size > 1) {
    const named = [...ids].sort().slice(0, NAMED).join(', ')
    throw new UsageError(`--session ${asked}: ${ids.size} sessions begin like this: ${named}${ids.size > NAMED ? ', ...' : ''}; give more of the id`)
  }
  return [...ids][0]
}
