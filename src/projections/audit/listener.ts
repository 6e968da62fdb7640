import type { AuditRecord, Row } from './records.ts'

/** Who is told of what a session's log says, as it is read. */
export interface Listener {
  /** A line for people, in order of time. */
  row(row: Row): void
  /** A record for machines, as soon as it is complete. */
  record(record: AuditRecord): void
}

/** Passes on what it is told, or keeps it while it is not known whether it is the session's own. */
export class Holding implements Listener {
  private readonly listener: Listener
  private held: (() => void)[] | undefined

  constructor(listener: Listener) {
    this.listener = listener
  }

  row(row: Row): void {
    this.take(() => { this.listener.row(row) })
  }

  record(record: AuditRecord): void {
    this.take(() => { this.listener.record(record) })
  }

  hold(): void {
    this.held = []
  }

  drop(): void {
    if (this.held !== undefined) this.held = []
  }

  release(): void {
    const held = this.held ?? []
    this.held = undefined
    for (const tell of held) tell()
  }

  private take(tell: () => void): void {
    if (this.held === undefined) tell()
    else this.held.push(tell)
  }
}
