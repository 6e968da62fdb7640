/** Numbers that a seed decides. */
export interface Seeded {
  /** From 0 up to 1. */
  next(): number
  /** A whole number from 0 up to below `limit`. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T
}

/**
 * A small generator (mulberry32): the same seed, the same numbers.
 *
 * @param seed - any whole number.
 */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6D2B79F5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next, below,
    chance: probability => next() < probability,
    pick: from => from[below(from.length)]!,
  }
}
