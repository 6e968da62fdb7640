import { z } from 'zod'
import type { Claim, Owner } from './claim.ts'

/** Name of the storage domain. */
export const DOMAIN = 'llm_quota_retry'
/** Name of the domain that is used while the first one cannot be read. */
export const SPARE = 'llm_quota_retry_spare'

/**
 * What is stored under each key. The harness validates whole domains: one value that does not fit makes all of it
 * unreadable. So any value fits, and each is read on its own.
 */
const Stored = z.looseObject({ records: z.array(z.unknown()) })
interface Stored { readonly records: readonly unknown[] }

interface Table {
  get(key: string): unknown
  put(key: string, value: unknown): Promise<void>
}
interface OpenDomain {
  table(name: 'journal'): Table
  close(): Promise<void>
}
/** The host's storage domains. */
export interface DomainFacility {
  open(spec: unknown): Promise<OpenDomain>
}

/** Where the journal is stored. */
export interface Medium {
  /** Name of the domain. */
  readonly name: string
  /** What was stored under a key when it was opened. */
  records(key: string): readonly unknown[]
  put(key: string, records: readonly unknown[]): Promise<void>
  close(): Promise<void>
}

/** What came of opening the journal's storage. */
export type Opening =
  | {
    readonly kind: 'open'
    readonly medium: Medium
    /** The code for which the first domain could not be read, and is left as it is. */
    readonly unreadable?: string
    /** What was stored elsewhere while the first domain could not be read; to be let go of once it is stored here. */
    readonly spare?: Medium
  }
  /** Another process writes the journal; what is known of it. */
  | { readonly kind: 'shared'; readonly owner: Owner | undefined }
  /** It cannot be opened now, for this code. */
  | { readonly kind: 'failed'; readonly code: string }

/** What will not go away by itself: the stored text is not one that this version reads. */
const UNREADABLE: ReadonlySet<string> = new Set(['malformed-medium', 'version-mismatch', 'invalid-record'])

/**
 * The code of a storage error; its text may hold paths, and never helps more.
 *
 * @param error - what was thrown.
 */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown error'
}

/**
 * Open the journal's storage.
 *
 * What cannot be read is not touched: the harness offers no way to move it aside, and where it stands is the business
 * of the backend. Instead a second domain takes over until the first one can be read again.
 *
 * A domain is read once, when it is opened, and every write of it is a write of the whole. So it is claimed before: what
 * is read then is the last word of the owner before, and nobody else writes.
 *
 * @param facility - the host's storage domains.
 * @param keys - keys that hold records.
 * @param claim - the claim on both domains; none where storage is no directory that hosts could share.
 * @returns what came of it. Never rejects.
 */
export async function openMedium(facility: DomainFacility, keys: readonly string[], claim?: Claim): Promise<Opening> {
  try {
    const look = await claim?.look()
    if (look?.kind === 'taken') return { kind: 'shared', owner: look.owner }
  } catch (error) {
    return { kind: 'failed', code: codeOf(error) }
  }
  const first = await openDomain(facility, DOMAIN, keys)
  if (first.kind === 'failed' && UNREADABLE.has(first.code)) {
    const second = await openDomain(facility, SPARE, keys)
    return second.kind === 'open' ? { ...second, unreadable: first.code } : first
  }
  if (first.kind !== 'open') return first
  const spare = await openDomain(facility, SPARE, keys)
  if (spare.kind !== 'open') return first
  if (keys.some(key => spare.medium.records(key).length > 0)) return { ...first, spare: spare.medium }
  await spare.medium.close().catch(() => {})
  return first
}

async function openDomain(facility: DomainFacility, name: string, keys: readonly string[]): Promise<Opening> {
  let domain: OpenDomain
  try {
    domain = await facility.open({ name, version: 0, tables: { journal: { valueSchema: z.unknown() } } })
  } catch (error) {
    return { kind: 'failed', code: codeOf(error) }
  }
  try {
    const table = domain.table('journal')
    for (const key of keys) await setAside(table, key)
    return { kind: 'open', medium: mediumOf(name, domain, table, keys) }
  } catch (error) {
    await domain.close().catch(() => {})
    return { kind: 'failed', code: codeOf(error) }
  }
}

const recordsOf = (value: unknown): readonly unknown[] => {
  const stored = Stored.safeParse(value)
  return stored.success ? stored.data.records : []
}

/** A value that is none of ours would be overwritten by the next one under its key; so it gets a key of its own first. */
async function setAside(table: Table, key: string): Promise<void> {
  const value = table.get(key)
  if (value === undefined || Stored.safeParse(value).success) return
  let number = 1
  while (table.get(`${key}_unreadable_${number}`) !== undefined) number += 1
  await table.put(`${key}_unreadable_${number}`, value)
}

function mediumOf(name: string, domain: OpenDomain, table: Table, keys: readonly string[]): Medium {
  const found = new Map(keys.map(key => [key, recordsOf(table.get(key))]))
  return {
    name,
    records: key => found.get(key) ?? [],
    put: (key, records) => table.put(key, { records } satisfies Stored),
    close: () => domain.close(),
  }
}
