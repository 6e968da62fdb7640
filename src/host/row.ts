import type { Context } from '@deepseek-ai/cordis'
import type { Warn } from './voice.ts'

/** What a host reads of a row itself; all else of ours belongs under `config`. */
const ROW_KEYS: ReadonlySet<string> = new Set(['id', 'name', 'config', 'disabled', 'group', 'inject', 'intercept', 'isolate', 'label'])

/**
 * The keys of the plugin's row that stand beside its `config`. The host passes them over without a word.
 *
 * @param ctx - the plugin's context.
 * @returns their names; none where the host does not show its row.
 */
export function strayKeys(ctx: Context): string[] {
  const { entry } = (ctx.fiber ?? {}) as unknown as { entry?: { options?: unknown } }
  const options = entry?.options
  return typeof options === 'object' && options !== null ? Object.keys(options).filter(key => !ROW_KEYS.has(key)) : []
}

/**
 * Say which keys of the row nobody reads.
 *
 * @param ctx - the plugin's context.
 * @param warn - told of them.
 */
export function checkRow(ctx: Context, warn: Warn): void {
  const stray = strayKeys(ctx)
  if (stray.length === 0) return
  const keys = stray.map(key => `"${key}"`).join(', ')
  warn('row', `${keys} of the row ${stray.length === 1 ? 'stands' : 'stand'} beside "config:", where nothing reads ${stray.length === 1 ? 'it' : 'them'}: settings go under "config:".`)
}
