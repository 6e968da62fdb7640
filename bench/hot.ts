import { benchDecide } from './hot/decide.ts'
import { benchEvolve } from './hot/evolve.ts'
import { benchMemory } from './hot/memory.ts'
import { benchProjection } from './hot/projection.ts'
import { table } from './table.ts'

/**
 * The paths that every request and every event of every session takes.
 *
 * @param print - prints a line.
 * @returns every figure.
 */
export async function benchHot(print: (line: string) => void): Promise<unknown> {
  const memory = await benchMemory()
  const decide = benchDecide()
  const evolve = benchEvolve()
  const projection = await benchProjection()
  print('Hot paths; ratios are of one run, in which the parts took turns')
  print(table([
    ['path', 'ours', 'beside it', 'ratio', 'aim'],
    ['decision of a request: 8 pools x 16 routes, 64 marked, 10,000 sessions', `${decide['largeNs']} ns`, `${decide['smallNs']} ns with 1 route, 1 session`, `${decide['ratio']}`, ''],
    ['fold of an event that does not concern it', `${evolve['oursNs']} ns`, `${evolve['plainNs']} ns, a unit that returns its state`, `${evolve['ratio']}`, 'at most 3'],
    ['append to a real session, projection registered', `${projection['oursUs']} us`, `${projection['plainUs']} us with a plain unit, ${projection['noneUs']} us with none`, `${projection['oursOverPlain']}`, `about ${projection['plainOverPlain']}, a plain unit again`],
    ['what a wait holds, each of 10,000', `${memory['waitBytes']} B`, `${memory['recordBytes']} B its record, ${memory['foldBytes']} B its folded log`, '', 'under 4096 B'],
    ['timers for 10,000 waiting sessions', `${memory['timers']}`, '', '', '1'],
  ]))
  return { decide, evolve, projection, memory }
}
