import { DOMAIN } from '../../src/host/medium.ts'
import { foldJournal } from '../../src/reducers/journal.ts'
import type { SoakClock } from './clock.ts'
import { SoakLog } from './log.ts'

/** What is wrong with the storage. */
export type Fault = 'none' | 'fails' | 'hangs'

/** Everything that outlives a host. */
export class Disk {
  readonly logs = new Map<string, SoakLog>()
  readonly storage: { open(spec: unknown): Promise<unknown> }
  fault: Fault = 'none'
  puts = 0
  private readonly domains = new Map<string, Map<string, string>>()
  private readonly hanging: (() => void)[] = []

  /**
   * @param clock - a write takes a while.
   */
  constructor(clock: SoakClock) {
    this.storage = {
      open: (spec) => {
        const { name } = spec as { name: string }
        const table = this.domains.get(name) ?? new Map<string, string>()
        this.domains.set(name, table)
        const put = async (key: string, value: unknown): Promise<void> => {
          await clock.sleep(2)
          if (this.fault === 'hangs') await new Promise<void>((resolve) => { this.hanging.push(resolve) })
          if (this.fault === 'fails') throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
          this.puts += 1
          table.set(key, JSON.stringify(value))
        }
        const get = (key: string): unknown => table.has(key) ? JSON.parse(table.get(key)!) as unknown : undefined
        return Promise.resolve({ table: () => ({ get, put }), close: () => Promise.resolve() })
      },
    }
  }

  log(id: string): SoakLog {
    const log = this.logs.get(id) ?? new SoakLog()
    this.logs.set(id, log)
    return log
  }

  /** The storage is well again. */
  mend(): void {
    this.fault = 'none'
    for (const resume of this.hanging.splice(0)) resume()
  }

  /** Sessions of the stored index. */
  waiting(): Set<string> {
    const { records } = JSON.parse(this.domains.get(DOMAIN)?.get('waiting') ?? '{"records":[]}') as { records: unknown[] }
    return new Set(Object.keys(foldJournal(records).waiting))
  }

  /** Bytes of the journal. */
  get journalBytes(): number {
    return [...this.domains.values()].flatMap(table => [...table.values()]).reduce((sum, text) => sum + text.length, 0)
  }

  /** Bytes of all logs. */
  get logBytes(): number {
    return [...this.logs.values()].reduce((sum, log) => sum + log.length, 0)
  }
}
