import { readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
import { isRecord } from '../../events/json.ts'

/** A file as data; `missing` where there is none. */
export type Read = { readonly value: unknown } | { readonly missing: true } | { readonly error: string }

/**
 * Read a file of the host: YAML, which JSON is too. Tags of the host's own, such as `!!js`, are read as plain text.
 *
 * @param file - its path.
 */
export function readData(file: string): Read {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const code = (error as { code?: string }).code ?? 'unknown'
    return code === 'ENOENT' ? { missing: true } : { error: `it cannot be read (${code})` }
  }
  const document = parseDocument(text, { logLevel: 'silent' })
  const first = document.errors[0]
  return first === undefined ? { value: document.toJS() as unknown } : { error: `it is no YAML (${first.message.split('\n')[0] ?? ''})` }
}

/**
 * A member of what may be an object.
 *
 * @param value - anything.
 * @param keys - the way down.
 */
export const within = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((inner, key) => isRecord(inner) ? inner[key] : undefined, value)
