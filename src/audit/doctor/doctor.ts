import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { oneLine } from '../../projections/text.ts'
import { checkBalances } from './balances.ts'
import { checkConfig, checkRoutes } from './config.ts'
import { type Finding, wrong } from './finding.ts'
import { checkProfile, hostOf, PACKAGE, profilesOf } from './profiles.ts'
import { checkStorage } from './storage.ts'

/** What the doctor is asked. */
export interface DoctorOptions {
  /** The home to look at; `DSH_HOME`, or `~/.dsh`, when absent. */
  readonly home?: string
  /** Whether balance scripts, which use keys, may be run. */
  readonly runBalances: boolean
}

const MARKS = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' } as const
/** Longest line, in UTF-16 units. */
const LINE = 1_000

async function findingsOf(home: string, { runBalances }: DoctorOptions): Promise<Finding[]> {
  if (!existsSync(home)) return [wrong(`${home}: there is no such home`, 'give it with --home, or set DSH_HOME')]
  const profiles = profilesOf(home)
  const found = [hostOf(process.env['PATH'] ?? ''), ...profiles.flatMap(checkProfile)]
  const mounted = profiles.filter(({ packages }) => PACKAGE in packages)
  if (mounted.length === 0) found.push(wrong('the plugin is mounted in no profile of this home', `dsh plugin --profile web add ${PACKAGE}, and restart the host`))
  for (const profile of mounted) {
    const { findings, config } = checkConfig(home, profile)
    found.push(...findings)
    if (config !== undefined) found.push(...checkRoutes(home, profile.name, config), ...await checkBalances(profile.name, config, runBalances))
  }
  return [...found, ...checkStorage(home)]
}

/**
 * Look at a home and say what is wrong with the plugin in it, and what to do. Nothing is changed.
 *
 * @param options - what is asked.
 * @param print - takes the text.
 * @returns the exit code: 1 when something is wrong.
 */
export async function runDoctor(options: DoctorOptions, print: (text: string) => void): Promise<number> {
  const home = options.home ?? process.env['DSH_HOME'] ?? join(homedir(), '.dsh')
  const findings = await findingsOf(home, options)
  print(`Home: ${oneLine(home, LINE)}\n`)
  for (const { level, what, todo } of findings) {
    print(`${MARKS[level]}  ${oneLine(what, LINE)}\n${todo === undefined ? '' : `       -> ${oneLine(todo, LINE)}\n`}`)
  }
  const count = findings.filter(({ level }) => level === 'wrong').length
  print(count === 0 ? 'Nothing is wrong.\n' : `${count === 1 ? 'One thing is' : `${count} things are`} wrong.\n`)
  return count === 0 ? 0 : 1
}
