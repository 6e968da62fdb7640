/** How often a property met what it speaks of: one that holds because nothing of the kind came up shows nothing. */
import { expect } from 'vitest'

/** Counts subjects over the runs of a property. */
export class Reach<S extends string> {
  private runs = 0
  private readonly counts = new Map<string, number>()
  private readonly least: Readonly<Record<S, number>>

  /** @param least - the smallest share of runs, 0 to 1, in which each subject must occur. */
  constructor(least: Readonly<Record<S, number>>) {
    this.least = least
  }

  /** One run of the property is made of these. */
  run(subjects: Iterable<S>): void {
    this.runs += 1
    for (const subject of new Set(subjects)) this.counts.set(subject, (this.counts.get(subject) ?? 0) + 1)
  }

  /**
   * @throws with the table of all subjects when one of them was met too seldom. `DSH_QUOTA_RETRY_REACH=1` prints the
   *   table of each property.
   */
  check(title = expect.getState().currentTestName ?? ''): void {
    const rows = Object.entries<number>(this.least).map(([subject, least]) => ({ subject, least, share: (this.counts.get(subject) ?? 0) / Math.max(1, this.runs) }))
    const table = [title, ...rows.map(({ subject, least, share }) =>
      `${share < least ? 'SELDOM' : '      '} ${(share * 100).toFixed(1).padStart(5)} % of ${this.runs} runs (at least ${least * 100} %): ${subject}`)].join('\n')
    if (process.env['DSH_QUOTA_RETRY_REACH'] === '1') console.log(table)
    if (rows.some(({ least, share }) => share < least)) throw new Error(table)
  }
}

/**
 * Count what a property is about: `const met = reach({ recovery: 0.3 })`, in each run `met.run([...])`, then `met.check()`.
 *
 * @param least - the smallest share of runs, 0 to 1, in which each subject must occur.
 */
export const reach = <S extends string>(least: Readonly<Record<S, number>>): Reach<S> => new Reach(least)
