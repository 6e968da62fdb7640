import { join } from 'node:path'
import { isRecord } from '../../events/json.ts'
import { type Config, ConfigError, parseConfig } from '../../policy/config.ts'
import { readData, within } from './files.ts'
import { type Finding, note, ok, wrong } from './finding.ts'
import type { Profile } from './profiles.ts'

const ROW = 'llm-quota-retry'
const PATCH = 'cordis.patch.yml'
const SAYS_SO = `put it under a row of its own: - id: ${ROW}, and below it config: with the keys of the README`

/** The row of the plugin as one file has it. */
interface Row {
  readonly file: string
  readonly row: Readonly<Record<string, unknown>>
}

/** The configuration that holds in a profile, and what is wrong with it. */
export interface Checked {
  readonly findings: readonly Finding[]
  readonly config?: Config
}

function rowsIn(file: string, findings: Finding[]): Row[] {
  const read = readData(file)
  if ('missing' in read) return []
  if ('error' in read) {
    findings.push(wrong(`${file}: ${read.error}`, 'mend the file: the host refuses to start with it'))
    return []
  }
  if (read.value === null) return []
  if (!Array.isArray(read.value)) {
    findings.push(wrong(`${file} is no list of rows`, SAYS_SO))
    return []
  }
  const rows = (read.value as unknown[]).filter(isRecord)
  for (const { id } of rows) if (typeof id === 'string' && id !== ROW && /quota.?retry/i.test(id)) findings.push(wrong(`${file}: a row has the id "${id}", which nothing reads`, `its id must be ${ROW}`))
  return rows.filter(row => row['id'] === ROW).map(row => ({ file, row }))
}

/**
 * The plugin's row in a profile, read as the host reads it: the file for all profiles wins over the profile's own, and a
 * later row over an earlier one.
 */
export function checkConfig(home: string, { name, directory }: Profile): Checked {
  const findings: Finding[] = []
  const rows = [...rowsIn(join(directory, PATCH), findings), ...rowsIn(join(home, PATCH), findings)]
  if (rows.some(({ row }) => row['disabled'] === true)) findings.push(note(`profile ${name}: the row is disabled, so that the plugin is not mounted`, 'take "disabled: true" out, if that is not meant'))
  const last = rows.filter(({ row }) => row['config'] !== undefined).at(-1)
  try {
    const config = parseConfig(last?.row['config'] ?? {})
    findings.push(ok(`profile ${name}: the configuration is valid (${last === undefined ? 'none is given, so that every key has its default' : last.file})`))
    return { findings, config }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    findings.push(...error.problems.map(problem => wrong(`profile ${name}: ${last?.file ?? ''}: ${problem}`, 'mend the key; the host does not start with it')))
    return { findings }
  }
}

/** Whether the routes of the pools are ones that the settings of the host know. */
export function checkRoutes(home: string, profile: string, { pools }: Config): Finding[] {
  const routes = [...new Map(Object.values(pools).flatMap(pool => pool.routes).map(route => [`${route.provider}/${route.model}`, route])).values()]
  if (routes.length === 0) return []
  const file = join(home, 'settings.yaml')
  const read = readData(file)
  if ('error' in read) return [wrong(`${file}: ${read.error}`, 'mend the file')]
  const providers = 'value' in read ? within(read.value, 'llm-pi-ai', 'providers') : undefined
  return routes.map(({ provider, model }) => {
    const known = isRecord(providers) ? providers[provider] : undefined
    if (!isRecord(known)) return note(`profile ${profile}: route ${provider}/${model}: no such provider under llm-pi-ai.providers of ${file}`, 'add it there, or mend its name, unless another adapter of the host serves it')
    const models = known['models']
    if (!Array.isArray(models) || models.length === 0) return ok(`profile ${profile}: route ${provider}/${model}: the provider is configured`)
    const has = (models as unknown[]).some(entry => entry === model || within(entry, 'id') === model)
    return has ? ok(`profile ${profile}: route ${provider}/${model} is configured`)
      : wrong(`profile ${profile}: route ${provider}/${model}: the provider lists no such model in ${file}`, 'add the model there, or mend its name in the pool')
  })
}
