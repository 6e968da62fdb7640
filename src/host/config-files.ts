import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from '@deepseek-ai/cordis'
import type { ConfigFiles } from '../projections/page.ts'

/** Name of the file in which a person sets the rows of a profile, and of the one for all profiles. */
const PATCH_FILE = 'cordis.patch.yml'

/** The row with its id, in YAML and in the JSON that is YAML too. */
const rowPattern = (id: string): RegExp => new RegExp(`["']?\\bid["']?\\s*:\\s*["']?${id.replace(/[^\w-]/g, '\\$&')}(?![\\w-])["']?`, 'g')

/**
 * What a patch file says of a row. The file is looked through and not parsed: the host has done that, and has told
 * whoever wrote it of any mistake.
 *
 * @param text - the file.
 * @param id - the row.
 * @returns whether it configures the row, only names it, or neither.
 */
export function mentions(text: string, id: string): 'config' | 'name' | 'no' {
  const plain = text.replace(/^\s*#.*$/gm, '')
  const places = [...plain.matchAll(rowPattern(id))]
  if (places.length === 0) return 'no'
  const configured = places.some(({ 0: found, index }) => {
    const rest = plain.slice(index + found.length)
    // Up to the next row: a list item that begins with an id, or an id in another object.
    const end = rest.search(/["']?\bid["']?\s*:/)
    return /["']?\bconfig["']?\s*:/.test(end === -1 ? rest : rest.slice(0, end))
  })
  return configured ? 'config' : 'name'
}

const dshHome = (): string => process.env['DSH_HOME'] ?? join(homedir(), '.dsh')

function overlays(argv: readonly string[]): string[] {
  return argv.flatMap((word, index) => word === '--patch' ? argv.slice(index + 1, index + 2) : word.startsWith('--patch=') ? [word.slice(8)] : [])
}

/** Files that may set the row, the one whose word holds first. */
function candidates(ctx: Context): string[] {
  const base = (ctx as { baseUrl?: unknown }).baseUrl
  const profile = typeof base === 'string' && base.startsWith('file:') ? [join(fileURLToPath(base), PATCH_FILE)] : []
  return [...overlays(process.argv).reverse().map(file => resolve(file)), join(dshHome(), PATCH_FILE), ...profile]
}

/**
 * Which files of the host set the plugin's row.
 *
 * @param ctx - the plugin's context.
 * @param id - the row.
 */
export function configFiles(ctx: Context, id: string): ConfigFiles {
  const found = candidates(ctx).flatMap((file) => {
    try {
      return [{ file, says: mentions(readFileSync(file, 'utf8'), id) }]
    } catch {
      // Most of them do not exist.
      return []
    }
  }).filter(({ says }) => says !== 'no')
  const used = found.find(({ says }) => says === 'config')?.file ?? null
  return { used, others: [...new Set(found.map(({ file }) => file))].filter(file => file !== used) }
}
