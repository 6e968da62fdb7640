import { isRecord } from './json.ts'

/**
 * Who a message is from, where that is a plugin. Up to format 3 of the log the source names the plugin, from format 4 on
 * its kind does; the harness rewrites the one to the other, and each of them makes a log of the other kind unusable.
 */

/** First format of the log in which a plugin has a kind of its own. */
const OWN_KINDS_FROM = 4

/**
 * The source of a plugin's message.
 *
 * @param plugin - its name.
 * @param version - format of the session's log, as its head says.
 */
export const sourceOf = (plugin: string, version: unknown): { readonly kind: string; readonly plugin?: string } =>
  typeof version === 'number' && version >= OWN_KINDS_FROM ? { kind: `plugin:${plugin}` } : { kind: 'plugin', plugin }

/**
 * Whether a message is a plugin's, in a log of any format.
 *
 * @param source - the message's source.
 * @param plugin - the plugin's name.
 */
export const isSourceOf = (source: unknown, plugin: string): boolean =>
  isRecord(source) && (source['kind'] === `plugin:${plugin}` || (source['kind'] === 'plugin' && source['plugin'] === plugin))
