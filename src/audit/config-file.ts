import { readFileSync } from 'node:fs'
import { isRecord } from '../events/json.ts'
import { ConfigError, parseConfig } from '../policy/config.ts'
import { WhatIf } from '../projections/audit/what-if.ts'
import { UsageError } from './options.ts'

/** Row id of this plugin in a patch file. */
const ROW = 'llm-quota-retry'

async function parseText(file: string, text: string): Promise<unknown> {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    if (/\.json$/i.test(file)) throw new UsageError(`--what-if: ${file} is not JSON (${error instanceof Error ? error.message : String(error)})`)
  }
  const yaml = await import('yaml')
  try {
    return yaml.parse(text) as unknown
  } catch (error) {
    throw new UsageError(`--what-if: ${file} is neither JSON nor YAML (${error instanceof Error ? error.message.split('\n')[0] ?? '' : String(error)})`)
  }
}

/** The configuration in what people have at hand: the configuration itself, its row, or a patch file that holds the row. */
function configIn(document: unknown): unknown {
  if (Array.isArray(document)) {
    const row: unknown = document.find(entry => isRecord(entry) && entry['id'] === ROW)
    if (!isRecord(row)) throw new UsageError(`--what-if: the file is a list without a row {id: ${ROW}, config: ...}`)
    return row['config'] ?? {}
  }
  return isRecord(document) && document['id'] === ROW ? document['config'] ?? {} : document
}

/**
 * Read the configuration to replay against.
 *
 * @param file - JSON, or YAML.
 * @returns the replay, ready to be fed.
 * @throws UsageError with the file's name and every key that is wrong.
 */
export async function loadWhatIf(file: string): Promise<WhatIf> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--what-if: ${file} cannot be read (${(error as { code?: string }).code ?? 'unknown'})`)
  }
  try {
    return new WhatIf(parseConfig(configIn(await parseText(file, text))))
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(`--what-if: ${file}: ${error.problems.join('; ')}`) : error
  }
}
