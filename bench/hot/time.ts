/** Settled figures on a machine that others use too: parts take turns, and of each the best round counts. */

/**
 * Time of one call of each of some functions.
 *
 * @param parts - what to run; each gets how often, and runs its body that often.
 * @param count - calls in a round.
 * @param rounds - rounds, the first of which only warms up.
 * @returns ns for one call of each, from its best round.
 */
export function nsPerCall<K extends string>(parts: Readonly<Record<K, (count: number) => void>>, count: number, rounds: number): Record<K, number> {
  const names = Object.keys(parts) as K[]
  const best = Object.fromEntries(names.map(name => [name, Number.POSITIVE_INFINITY])) as Record<K, number>
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const began = performance.now()
      parts[name](count)
      const ns = (performance.now() - began) * 1e6 / count
      if (round > 0) best[name] = Math.min(best[name], ns)
    }
  }
  return best
}

/**
 * A number with as many digits as it is worth.
 *
 * @param value - the number.
 */
export const sig = (value: number): number => Number(value.toPrecision(3))
