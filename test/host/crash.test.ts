/**
 * The real web host, killed without a word at points that a seed chooses; `CRASH_SEED=<number>` chooses others.
 */
import { describe, expect, it } from 'vitest'
import { CrashWorld } from '../support/crash.ts'

const SEED = Number(process.env['CRASH_SEED'] ?? 20)
/** Homes that live side by side, and kills of each. */
const HOMES = 2
const KILLS = Number(process.env['CRASH_KILLS'] ?? 25)

describe(`a host that is killed again and again, seed ${SEED}`, () => {
  it.concurrent.each(Array.from({ length: HOMES }, (_, index) => SEED + index))('loses no run, continues none twice, and keeps every message (home of seed %i)', { timeout: 230_000 }, async (seed) => {
    await using world = await CrashWorld.make(seed)
    const outcome = await world.run(KILLS)
    console.log(`seed ${seed}: ${JSON.stringify(outcome)}`)
    expect(outcome.problems, `seed ${seed}`).toEqual([])
    expect(outcome).toMatchObject({ kills: KILLS })
    // A run in which nobody waited or went on would prove nothing.
    expect(outcome.owed).toBeGreaterThan(0)
    expect(outcome.continued).toBeGreaterThan(0)
  })
})
