/**
 * Several hosts on one home, on the real host: `pnpm bench hosts`; `HOSTS_TRIALS` is how many of each arrangement.
 */
import { ARRANGEMENTS, hasNamespaces, type Trial, trial } from '../test/support/hosts.ts'
import { table } from './table.ts'

/**
 * Make the trials.
 *
 * @param print - takes lines for people.
 */
export async function benchHosts(print: (line: string) => void): Promise<unknown> {
  const count = Number(process.env['HOSTS_TRIALS'] ?? 20)
  const only = process.env['HOSTS_ONLY']
  const rows: string[][] = []
  for (const arrangement of ARRANGEMENTS.filter(name => only === undefined || name.includes(only))) {
    if (arrangement === 'two pid namespaces' && !hasNamespaces()) {
      rows.push([arrangement, 'not seen: this machine refuses unshare', '', '', ''])
      continue
    }
    const trials: Trial[] = []
    for (let number = 0; number < count; number += 1) trials.push(await trial(arrangement, (number + 0.5) / count))
    const slowest = Math.max(...trials.map(({ tookMs }) => tookMs))
    rows.push([arrangement, String(count), String(trials.filter(({ loads }) => loads).length), String(trials.filter(({ continued, completed }) => continued === 1 && completed).length), `${(slowest / 1_000).toFixed(1)} s`])
  }
  print(table([['arrangement', 'trials', 'log loads', 'went on once', 'slowest'], ...rows]))
  return rows
}
