import { type JournalRecord, readJournalRecord } from '../events/journal.ts'
import type { Medium } from './medium.ts'

/** The records of one subject matter share one stored value, so that a burst of them is one write. */
export type Shelf = 'marks' | 'waiting' | 'moves'

/** Every shelf. */
export const SHELVES: readonly Shelf[] = ['marks', 'waiting', 'moves']

/** @param record - the record whose shelf is asked for. */
export const shelfOf = (record: JournalRecord): Shelf => {
  switch (record.type) {
    case 'providerMarked':
    case 'providerLifted':
    case 'routeMarked':
    case 'routeLifted':
      return 'marks'
    case 'sessionWaiting':
    case 'sessionReleased':
      return 'waiting'
    case 'requestMoved':
      return 'moves'
  }
}

/** What one shelf holds: records of ours, and what a later version or a damaged file put there, kept as it is. */
export interface Contents {
  records: JournalRecord[]
  foreign: unknown[]
}

/** What the journal holds in memory. */
export class Shelves {
  private readonly shelves = new Map<Shelf, Contents>()

  /** @param shelf - the shelf whose contents are asked for, to be written to. */
  of(shelf: Shelf): Contents {
    const contents = this.shelves.get(shelf) ?? { records: [], foreign: [] }
    this.shelves.set(shelf, contents)
    return contents
  }

  /**
   * What is read comes before what is here already, in the order in which it was stored. Answers that came before it
   * was read lift what it holds, and nothing that was marked here since.
   *
   * @param sources - where it is read from.
   * @param answers - what those answers lift.
   */
  load(sources: readonly Medium[], answers: Iterable<JournalRecord>): void {
    for (const shelf of SHELVES) {
      const local = this.of(shelf)
      const read = sources.flatMap(source => source.records(shelf)).map(value => ({ value, record: readJournalRecord(value) }))
      this.shelves.set(shelf, {
        records: [
          ...read.map(({ record }) => record).filter(record => record !== undefined),
          ...shelf === 'marks' && read.length > 0 ? answers : [],
          ...local.records,
        ],
        foreign: [...read.filter(({ record }) => record === undefined).map(({ value }) => value), ...local.foreign],
      })
    }
  }
}
