/** A number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/**
 * A small seeded generator (mulberry32): the same seed gives the same numbers on every machine.
 *
 * @param seed - any integer.
 */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6D2B79F5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * A whole number between two bounds.
 *
 * @param random - where it comes from.
 * @param low - the least.
 * @param high - the most, exclusive unless it is `low`.
 */
export const between = (random: Random, low: number, high: number): number => Math.floor(low + (high - low) * random())
