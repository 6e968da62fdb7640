/**
 * Whether the hosts to come load a log that is written today: it goes through their own migrations, as published, from
 * format 0 to 3. One event that they refuse makes the whole session unloadable.
 */
import { registerHooks } from 'node:module'
import {
  createSessionFormatCatalog, SessionFormatEventCollector, type SessionFormatArtifact, type SessionFormatHeader,
} from '@deepseek-ai/dsh-session-format'
import * as toV1 from '@deepseek-ai/dsh-session-format-v0-to-v1'
import { findLogs, readLog } from './session-log.ts'

registerHooks({
  resolve: (specifier, context, next) => specifier === '@deepseek-ai/dsh-llm' && context.parentURL?.includes('dsh-session-format-v1-to-v2') === true
    ? { url: new URL('assistant-stream.ts', import.meta.url).href, shortCircuit: true }
    : next(specifier, context),
})
const toV2 = await import('@deepseek-ai/dsh-session-format-v1-to-v2')
const toV3 = await import('@deepseek-ai/dsh-session-format-v2-to-v3')

const typesOf = (artifact: SessionFormatArtifact): ReadonlySet<string> => new Set(artifact.events.map(({ type }) => type))
const restored = (artifact: SessionFormatArtifact): SessionFormatArtifact => toV2.restoreReleasedV2Artifact(artifact, typesOf(artifact))

const catalog = createSessionFormatCatalog({
  currentVersion: 2,
  codecs: [toV1.releasedV0SessionFormatCodec, toV1.releasedV1SessionFormatCodec, toV2.releasedV2SessionFormatCodec],
  migrations: [toV1.sessionFormatV0ToV1, toV2.sessionFormatV1ToV2],
  restoreCurrentHeader: (header) => {
    toV2.assertReleasedV2Header(header)
    return header
  },
  restoreCurrent: restored,
  restoreTransformedCurrent: restored,
  currentEncoder: toV2.releasedV2SessionFormatCodec as never,
})

/** The last edge by itself: the published ones are of two releases, and their chain takes only those of one. */
function toFormat3(artifact: SessionFormatArtifact): SessionFormatArtifact {
  const edge = toV3.sessionFormatV2ToV3
  const header: SessionFormatHeader = edge.migrateHeader(artifact.header)
  edge.validateTargetHeader(header)
  const events = new SessionFormatEventCollector()
  const stage = edge.createStage({
    sourceHeader: artifact.header, targetHeader: header, sourceInheritedEventCount: artifact.inheritedEventCount, sourceKind: 'decoded',
  })
  for (const event of artifact.events) stage.transformEvent(event, events)
  const inheritedEventCount = stage.finish(events)
  const migrated = { header, inheritedEventCount, events: events.values }
  return toV3.restoreReleasedV3Artifact(migrated, typesOf(migrated))
}

/**
 * Bring a log of format 0 to the format of newer hosts.
 *
 * @param rows - its rows as stored or as a live session holds them, the head first.
 * @returns the session in format 3.
 * @throws what the migrations say of the first event that they refuse.
 */
export function migrate(rows: readonly unknown[]): SessionFormatArtifact {
  // What a live session holds may be frozen or shared; a host reads it from its own text.
  const [head, ...events] = JSON.parse(JSON.stringify(rows)) as [unknown, ...unknown[]]
  const restore = catalog.createRestore(head, { recovery: 'strict', validation: 'transformed' })
  for (const event of events) restore.decodeRow(event)
  return toFormat3(restore.finish())
}

/**
 * The pinned host describes a delegated session in a version that the published migration does not take: no log that holds
 * such a row loads there, whoever else wrote in it. In these every other event is looked at, and not what relates them.
 */
const OF_THE_HOST = 'subagent/descriptor'

/**
 * Assert that a log is loaded by newer hosts, as far as they take what the pinned host itself writes.
 *
 * @param rows - its rows, the head first.
 */
export function assertLoadsLater(rows: readonly unknown[]): void {
  const events = rows.slice(1) as { readonly seq?: unknown; readonly type?: unknown }[]
  for (const row of events) {
    // A packed run of chunks is no event yet; the migration unpacks it.
    if (typeof row.seq === 'number' && row.type !== 'assistant/chunk' && row.type !== OF_THE_HOST) toV1.assertReleasedEventPayload(row as never, 0)
  }
  if (!events.some(({ type }) => type === OF_THE_HOST)) migrate(rows)
}

/**
 * Which logs of a directory newer hosts would not load, and why.
 *
 * @param dir - searched with everything in it; need not exist.
 */
export function refusedLater(dir: string): string[] {
  return findLogs(dir).flatMap((path) => {
    const rows = readLog(path)
    try {
      if (rows[0]?.type === 'session') assertLoadsLater(rows)
      return []
    } catch (error) {
      return [`${path}: ${error instanceof Error ? error.message : String(error)}`]
    }
  })
}
