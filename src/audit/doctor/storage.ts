import { accessSync, constants, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../events/json.ts'
import { within } from './files.ts'
import { type Finding, note, ok, wrong } from './finding.ts'

const NAME = 'llm_quota_retry'

/** Whether a process of this machine has this id. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The record of the host that writes a journal. */
function ownerIn(table: Readonly<Record<string, unknown>>): { readonly pid: number; readonly at: number } | undefined {
  for (const shelf of Object.values(table)) {
    const records = within(shelf, 'records')
    for (const record of Array.isArray(records) ? records as unknown[] : []) {
      const [pid, at] = [within(record, 'pid'), within(record, 'at')]
      if (within(record, 'type') === 'hostStarted' && typeof pid === 'number' && typeof at === 'number') return { pid, at }
    }
  }
  return undefined
}

function journal(file: string): Finding[] {
  const aside = 'stop the host, move the file away, and start it again: marks and moves before sending are lost, sessions are not'
  let table: unknown
  try {
    table = within(JSON.parse(readFileSync(file, 'utf8')), 'tables', 'journal')
  } catch (error) {
    const code = (error as { code?: string }).code
    if (code === 'ENOENT') return []
    return [wrong(`${file}: the journal ${code === undefined ? 'is damaged' : `cannot be read (${code})`}`, code === undefined ? aside : 'give the user of the host the right to read and write it')]
  }
  if (!isRecord(table)) return [wrong(`${file}: this is no journal`, aside)]
  const found: Finding[] = [ok(`${file}: the journal is readable`)]
  try {
    accessSync(file, constants.W_OK)
  } catch {
    found.push(wrong(`${file}: this user may not write the journal`, 'run this as the user of the host, or give it the right'))
  }
  const owner = ownerIn(table)
  if (owner !== undefined) {
    const since = new Date(owner.at)
    const when = Number.isNaN(since.getTime()) ? '' : ` since ${since.toISOString()}`
    found.push(ok(`it belongs to the host with process ${owner.pid}${when}, ${isAlive(owner.pid) ? 'and a process with this id runs here' : 'which does not run here: the next host takes it over'}`))
  }
  return found
}

/** What stands in the storage of a home. */
export function checkStorage(home: string): Finding[] {
  const main = journal(join(home, 'storages', `${NAME}.json`))
  const spare = journal(join(home, 'storages', `${NAME}_spare.json`))
  if (main.length === 0 && spare.length === 0) return [note('there is no journal yet: the plugin has not had anything to keep in this home')]
  return [...main, ...spare]
}
