import { oneLine } from '../projections/text.ts'
import { codeOf, DOMAIN, type Opening } from './medium.ts'
import type { Warn } from './voice.ts'

/**
 * Say what is wrong with an opening, if anything is.
 *
 * @param opening - what came of it.
 * @param warn - told of it.
 */
export function reportOpening(opening: Opening, warn: Warn): void {
  if (opening.kind === 'shared') {
    const { owner } = opening
    if (owner === undefined) return
    warn('storage-shared', `another dsh (process ${owner.pid} on ${oneLine(owner.host, 60)}) uses this home and keeps its journal, so this one takes up no run after a restart, and waits of its own are not found again; `
      + 'everything else works. Stop one of the two, or give it another DSH_HOME; when the other is gone this one takes over.')
    return
  }
  const code = opening.kind === 'failed' ? opening.code : opening.unreadable
  if (code === undefined) return
  warn('storage-open', `the journal cannot be read (${code}), so marks of providers and waits from before are not known here; everything else works. `
    + `The file is left as it is: look at the storage domain "${DOMAIN}", mend it or move it away, and restart. `
    + (opening.kind === 'open' ? `Until then the journal is kept in "${opening.medium.name}".` : 'It is tried again every minute.'))
}

/** @param warn - told that another host took the journal over. */
export const warnLost = (warn: Warn): void => {
  warn('storage-lost', 'this dsh gave no sign of life for a while, and another one on the same home took its journal over, with the runs that it names. Give one of the two another DSH_HOME.')
}

/**
 * @param warn - told of a write that does not end.
 * @param ms - how long that is by now.
 */
export const warnSlow = (warn: Warn, ms: number): void => {
  warn('storage-slow', `a write of the journal has not ended after ${ms / 1_000} seconds; until it does nothing more is stored, and everything else works. Look at the medium of the storage.`)
}

/**
 * @param warn - told of a write that failed.
 * @param error - what was thrown.
 */
export const warnUnwritten = (warn: Warn, error: unknown): void => {
  warn('storage-write', `the journal cannot be written (${codeOf(error)}), so marks of providers and waits may not be known after a restart; everything else works. `
    + 'Look at the space and the permissions of the storage; it is tried again with the next change, and every minute.')
}
