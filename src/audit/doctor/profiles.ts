import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { isRecord } from '../../events/json.ts'
import { readData, within } from './files.ts'
import { type Finding, note, ok, wrong } from './finding.ts'

/** Name of this package, and the id of its row. */
export const PACKAGE = 'dsh-llm-quota-retry'
/** Where a person installs from while the newest release of the host cannot be installed. */
const HOST = '@deepseek-ai/dsh'

/** Others that retry, continue or move sessions by themselves: two of them at once ask twice as often. */
const PEERS: ReadonlySet<string> = new Set([
  '@kongfun2018/dsh-llm-fallback', '@m1khal3v/dsh-llm-key-rotation', '@leaf233/dsh-llm-rate-limiter', '@aiwayds/dsh-llm-net-retry', '@visol-456/dsh-llm-fallback',
  '@weibaohui/dsh-continue', '@frog755/dsh-client-auto-retry', '@linxin666/dsh-chat-recovery', 'dsh-llm-fallbacks', 'dsh-unlimited-retry', 'dsh-plugin-auto-retry',
  'dsh-session-retry', 'dsh-client-auto-continue', 'dsh-session-robustness', 'dsh-continue-on-limit-host', 'dsh-session-resilience', 'dsh-llm-rate-limiter',
  'dsh-reconnect', 'dsh-llm-governor', 'dsh-plugin-fallback-continue', 'dsh-auto-continue-429', 'dsh-autoresume', 'dsh-llm-retry-settings', 'dsh-llm-retry-escape',
])

/** A profile of a home. */
export interface Profile {
  readonly name: string
  readonly directory: string
  /** Packages that are installed in it, with what is asked for. */
  readonly packages: Readonly<Record<string, unknown>>
}

/** The profiles of a home. */
export function profilesOf(home: string): Profile[] {
  const directory = join(home, 'profiles')
  if (!existsSync(directory)) return []
  return readdirSync(directory, { withFileTypes: true }).filter(entry => entry.isDirectory()).map(({ name }) => {
    const read = readData(join(directory, name, 'package.json'))
    const packages = 'value' in read ? within(read.value, 'dependencies') : undefined
    return { name, directory: join(directory, name), packages: isRecord(packages) ? packages : {} }
  }).sort((a, b) => a.name < b.name ? -1 : 1)
}

const versionAt = (directory: string): string | undefined => {
  const read = readData(join(directory, 'package.json'))
  const version = 'value' in read ? within(read.value, 'version') : undefined
  return typeof version === 'string' ? version : undefined
}

/** The host that the command `dsh` runs, found by its package above the command; nothing is run. */
export function hostOf(path: string): Finding {
  const command = path.split(delimiter).map(directory => join(directory, 'dsh')).find(file => existsSync(file))
  if (command === undefined) return note('no "dsh" is on the PATH, so that the version of the host is not known', `npm install -g ${HOST}@0.1.0-rc.8, or run this where dsh runs`)
  const beside = join(dirname(command), '..', HOST)
  for (let at = dirname(realpathSync(command)); ; at = dirname(at)) {
    const read = readData(join(at, 'package.json'))
    if ('value' in read && within(read.value, 'name') === HOST) return ok(`host: dsh ${String(within(read.value, 'version'))} (${at})`)
    if (dirname(at) === at) break
  }
  const version = versionAt(beside)
  return version === undefined ? note(`the version of the host that ${command} runs is not known`) : ok(`host: dsh ${version} (${beside})`)
}

/** What is installed in a profile. */
export function checkProfile({ name, directory, packages }: Profile): Finding[] {
  const found: Finding[] = []
  if (PACKAGE in packages) {
    const version = versionAt(join(directory, 'node_modules', PACKAGE))
    found.push(version === undefined
      ? wrong(`profile ${name}: the plugin is named in its package.json and is not there`, `dsh plugin --profile ${name} remove ${PACKAGE}, then add it again; a linked checkout must stay where it is`)
      : ok(`profile ${name}: the plugin is installed, version ${version}`))
    if (version !== undefined && !existsSync(join(directory, 'node_modules', PACKAGE, 'lib', 'index.js'))) {
      found.push(wrong(`profile ${name}: the plugin has no lib/, so that the host cannot load it`, 'run "npx -y pnpm@10.34.9 install" in its checkout, which builds it'))
    }
  } else {
    found.push(note(`profile ${name}: the plugin is not installed`, `dsh plugin --profile ${name} add ${PACKAGE}, if sessions of this profile should outlive a spent allowance`))
  }
  for (const peer of Object.keys(packages).filter(other => PEERS.has(other))) {
    found.push((PACKAGE in packages ? wrong : note)(`profile ${name}: ${peer} also retries, continues or moves sessions`, `keep one of the two: dsh plugin --profile ${name} remove ${peer}`))
  }
  return found
}
