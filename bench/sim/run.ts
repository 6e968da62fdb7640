import { type Figures, measurePlugin, measureRivals, SEEDS } from './measure.ts'
import { table } from '../table.ts'
import { WORLDS } from './worlds.ts'

/** All figures of one world with one number of sessions. */
export interface WorldFigures {
  readonly world: string
  readonly hint: string
  readonly sessions: number
  readonly policies: Readonly<Record<string, Figures>>
}

/** Policies in the order of the table. */
const COLUMNS = ['plugin', 'plugin + balance', 'hourly', 'backoff', 'n^4', 'oracle'] as const

/** A time that a person can take in. */
export function spanText(seconds: number | null): string {
  if (seconds === null) return 'gave up'
  if (seconds < 120) return `${Math.round(seconds)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`
}

const countText = (count: number): string => count >= 100 ? String(Math.round(count)) : String(Math.round(count * 10) / 10)

const cell = ({ medianS, p95S, vainPerRoute, peak }: Figures): string =>
  `${spanText(medianS)} / ${spanText(p95S)} / ${countText(vainPerRoute)} / ${peak}`

async function measureAll(progress: (line: string) => void): Promise<WorldFigures[]> {
  const found: WorldFigures[] = []
  for (const world of WORLDS) {
    for (const sessions of SEEDS.keys()) {
      const policies = {
        'plugin': await measurePlugin(world, sessions, false),
        'plugin + balance': await measurePlugin(world, sessions, true),
        ...measureRivals(world, sessions),
      }
      found.push({ world: world.name, hint: world.hint, sessions, policies })
    }
    progress(`  ${world.name}`)
  }
  return found
}

/** A target of the project, and whether the figures meet it. */
export interface Target {
  readonly target: string
  readonly met: boolean
  /** The cases that miss it. */
  readonly missed: readonly string[]
}

function judge(found: readonly WorldFigures[]): Target[] {
  const check = (target: string, misses: (given: WorldFigures) => readonly (string | false)[]): Target => {
    const missed = found.flatMap(given => misses(given).filter(miss => miss !== false).map(miss => `${given.world}, ${given.sessions}: ${miss}`))
    return { target, met: missed.length === 0, missed }
  }
  const plain = ({ policies }: WorldFigures): Figures => policies['plugin']!
  const read = ({ policies }: WorldFigures): Figures => policies['plugin + balance']!
  const believable = ({ hint }: WorldFigures): boolean => hint === 'right' || hint === 'late'
  const slow = (label: string, { medianS, firstS }: Figures): string | false =>
    (medianS ?? Infinity) > 60 && `${label} ${medianS} s, of which the first one's ${firstS} s`
  return [
    check('median dead time at most 60 s where the hint is right or the balance can be read', given => [
      believable(given) && slow('by the hint', plain(given)), slow('by the balance', read(given)),
    ]),
    check('at most 2 requests a route more than the oracle, beside the one for each interval', given => [
      plain(given).beyondPerRoute > 2 && `${plain(given).beyondPerRoute}`,
      read(given).beyondPerRoute > 2 && `with a balance ${read(given).beyondPerRoute}`,
    ]),
    check('without a hint or a balance no later than the hourly retry (within 10 %), at most 1/N of its requests', given => {
      if (given.hint === 'right' || given.hint === 'late') return []
      const [ours, hourly] = [plain(given), given.policies['hourly']!]
      return [
        (ours.medianS ?? Infinity) > (hourly.medianS ?? 0) * 1.1 && `median ${ours.medianS} s, hourly ${hourly.medianS} s`,
        ours.beyondPerRoute <= 0.5 && ours.vainPerRoute > hourly.vainPerRoute / given.sessions + 0.5 && `${ours.vainPerRoute} requests, hourly ${hourly.vainPerRoute}`,
      ]
    }),
    check('at most 5 requests a second and route at the return', given => [
      plain(given).peak > 5 && `${plain(given).peak}`, read(given).peak > 5 && `with a balance ${read(given).peak}`,
    ]),
  ]
}

/**
 * Run every policy in every world and print what came of it.
 *
 * @param print - prints a line.
 * @returns every figure.
 */
export async function benchSim(print: (line: string) => void): Promise<unknown> {
  const began = performance.now()
  print(`Waiting, simulated: ${WORLDS.length} worlds, ${[...SEEDS].map(([sessions, seeds]) => `${sessions} sessions x ${seeds} seeds`).join(', ')}.`)
  const found = await measureAll(print)
  for (const sessions of SEEDS.keys()) {
    print(`\n${sessions} waiting: median dead time / p95 / refused requests a route / most requests in a second at the return`)
    const rows = found.filter(given => given.sessions === sessions)
      .map(({ world, policies }) => [world, ...COLUMNS.map(column => cell(policies[column]!))])
    print(table([['world', ...COLUMNS], ...rows]))
  }
  print('\nBeyond one request for each interval, a route: the cost of second looks at a hint that did not hold.')
  print(table([['world', ...SEEDS.keys()].map(String), ...WORLDS.map(({ name }) => [name, ...[...SEEDS.keys()]
    .map(sessions => countText(found.find(given => given.world === name && given.sessions === sessions)!.policies['plugin']!.beyondPerRoute))])]))
  const targets = judge(found)
  print('\nTargets')
  for (const { target, met, missed } of targets) {
    print(`  ${met ? 'met   ' : 'MISSED'} ${target}`)
    for (const miss of missed) print(`           ${miss}`)
  }
  print(`\n(${Math.round((performance.now() - began) / 1_000)} s)`)
  return { worlds: found, targets }
}
