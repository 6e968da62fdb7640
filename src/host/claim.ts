import { randomUUID } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { type Clock, uptimeMs } from './clock.ts'
import { fateOf, ProcessIdentity, thisProcess } from './process-identity.ts'

/** Time between two signs of life of an owner, in ms. */
const HEARTBEAT_MS = 3_000
/** Time between two looks at an owner by somebody who would take over, in ms. */
export const LOOK_MS = 1_000
/** An owner of which nothing else is known, and that gave no sign of life for so long, is gone, in ms. */
const STALE_MS = 20_000

/** Who owns the journal. */
const Owner = ProcessIdentity.extend({
  type: z.literal('hostStarted'),
  /** Of this claim alone. */
  id: z.string().min(1),
  /** Epoch ms. */
  startedAt: z.number(),
  /** Whether its process has ended as it should. */
  released: z.boolean().optional(),
})

/** Who owns the journal. */
export type Owner = z.infer<typeof Owner>

/** What came of looking at a claim. */
export type Look =
  | { readonly kind: 'held' }
  /** Somebody else owns it; what is known of them. */
  | { readonly kind: 'taken'; readonly owner: Owner | undefined }

/** What a claim works with. */
export interface ClaimParts {
  /** A directory of its own, next to what is claimed. */
  readonly directory: string
  readonly clock: Clock
  /** Told once when somebody else took over. */
  readonly onLost: () => void
  /** Ms on a clock that nobody sets. */
  readonly monotonic?: () => number
}

const numberOf = (name: string): number => /^[1-9]\d{0,14}$/.test(name) ? Number(name) : 0
const codeIs = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code

/**
 * The claim of one host on what several hosts could write to.
 *
 * Each owner has a file, numbered one above the owner's before; the highest owns. A file is made only where there is
 * none of its number, which file systems let just one process do, and the highest is never removed: so of all who see
 * that an owner is gone one takes over, whether they share a machine, a container or only a directory. An owner gives
 * signs of life by the time of its file. Whoever waits compares them with each other and never with its own clock.
 */
export class Claim {
  private readonly parts: ClaimParts
  private readonly self = thisProcess()
  private readonly id = randomUUID()
  private mine = 0
  private cancelBeat: (() => void) | undefined
  private closed = false
  /** What was last seen of the owner, and for how long it has been the same. */
  private seen: { readonly sign: string; readonly at: number; readonly quietMs: number } | undefined

  /**
   * @param parts - what it works with.
   */
  constructor(parts: ClaimParts) {
    this.parts = parts
  }

  /**
   * Claim it, where nobody does. To be called again and again, about once in {@link LOOK_MS}, until it is held.
   *
   * @returns who owns it now.
   * @throws what the file system throws.
   */
  async look(): Promise<Look> {
    const { directory } = this.parts
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const top = await this.highest()
    if (this.mine > 0 && top === this.mine) return { kind: 'held' }
    if (top > 0) {
      const owner = await this.ownerOf(top)
      if (owner !== 'gone') return { kind: 'taken', owner }
    }
    if (!await this.take(top + 1)) return { kind: 'taken', owner: undefined }
    this.beatLater()
    return { kind: 'held' }
  }

  /**
   * Whether it is still held, as the directory says at this moment.
   *
   * @throws what the file system throws.
   */
  async confirm(): Promise<boolean> {
    if (this.mine === 0) return false
    if (await this.highest() <= this.mine) return true
    this.lose()
    return false
  }

  /** Give no more signs of life. What was claimed is free when the process ends, for nothing can be written after that. */
  close(): void {
    this.closed = true
    this.cancelBeat?.()
    const claim = ours().get(this.id)
    if (claim !== undefined) claim.closed = true
  }

  private async highest(): Promise<number> {
    try {
      return Math.max(0, ...(await readdir(this.parts.directory)).map(numberOf))
    } catch (error) {
      if (codeIs(error, 'ENOENT')) return 0
      throw error
    }
  }

  /** @returns `gone` when somebody may take over from the owner of a number. */
  private async ownerOf(number: number): Promise<Owner | undefined | 'gone'> {
    const { text, sign } = await this.read(number)
    const parsed = Owner.safeParse(text)
    const owner = parsed.success ? parsed.data : undefined
    if (owner?.released === true) return 'gone'
    // Of this very process: the plugin was loaded again, and the one before it may not have written its last yet.
    const before = owner === undefined ? undefined : ours().get(owner.id)
    if (before !== undefined) return before.closed ? 'gone' : undefined
    const fate = owner === undefined ? 'unknown' : fateOf(owner, this.self)
    if (fate === 'dead') return 'gone'
    return this.isSilent(`${number} ${sign}`) && fate === 'unknown' ? 'gone' : owner
  }

  /** Whoever was stopped itself knows nothing of that time: only what passes from one look to the next counts. */
  private isSilent(sign: string): boolean {
    const at = (this.parts.monotonic ?? uptimeMs)()
    const { seen } = this
    const quietMs = seen?.sign === sign ? seen.quietMs + Math.min(at - seen.at, 2 * LOOK_MS) : 0
    this.seen = { sign, at, quietMs }
    return quietMs >= STALE_MS
  }

  private async read(number: number): Promise<{ readonly text: unknown; readonly sign: string }> {
    let file: FileHandle | undefined
    try {
      // Opened, for some network file systems tell the time of a file anew only then.
      file = await open(this.file(number), 'r')
      const { mtimeNs } = await file.stat({ bigint: true })
      return { text: parse(await file.readFile('utf8')), sign: String(mtimeNs) }
    } catch (error) {
      if (codeIs(error, 'ENOENT')) return { text: undefined, sign: 'none' }
      throw error
    } finally {
      await file?.close()
    }
  }

  /** @returns whether the number is this claim's; never that of two. */
  private async take(number: number): Promise<boolean> {
    const owner: Owner = { type: 'hostStarted', id: this.id, ...this.self, startedAt: this.parts.clock.now() }
    try {
      await writeFile(this.file(number), JSON.stringify(owner), { flag: 'wx', mode: 0o600, flush: true })
    } catch (error) {
      if (codeIs(error, 'EEXIST')) return false
      await rm(this.file(number), { force: true }).catch(() => {})
      throw error
    }
    // Read back: whoever looked long ago may make the file of a number that was passed by and cleared away.
    if (await this.highest() !== number) {
      await rm(this.file(number), { force: true })
      return false
    }
    this.mine = number
    for (const [id, { closed, file }] of ours()) if (closed && dirname(file) === this.parts.directory) ours().delete(id)
    ours().set(this.id, { file: this.file(number), owner, closed: this.closed })
    await this.clear(number).catch(() => {})
    return true
  }

  /** Those before are of no use to anybody. */
  private async clear(below: number): Promise<void> {
    const old = (await readdir(this.parts.directory)).map(numberOf).filter(number => number > 0 && number < below)
    for (const number of old) await rm(this.file(number), { force: true })
  }

  private beatLater(): void {
    if (this.closed) return
    this.cancelBeat?.()
    this.cancelBeat = this.parts.clock.after(() => { void this.beat() }, HEARTBEAT_MS)
  }

  private async beat(): Promise<void> {
    const now = new Date()
    // A disk that fails for now is tried again; that nobody heard of us then shows at the next look.
    await this.confirm().then(held => held ? utimes(this.file(this.mine), now, now) : undefined).catch(() => {})
    if (this.mine > 0) this.beatLater()
  }

  private lose(): void {
    ours().delete(this.id)
    this.mine = 0
    this.cancelBeat?.()
    if (!this.closed) this.parts.onLost()
  }

  private file(number: number): string {
    return join(this.parts.directory, String(number))
  }
}

/** The claims of this process, whichever copy of this module made them. */
type Ours = Map<string, { readonly file: string; readonly owner: Owner; closed: boolean }>

const OURS = Symbol.for('dsh-llm-quota-retry.claims')

function ours(): Ours {
  const global = globalThis as { [OURS]?: Ours }
  if (global[OURS] !== undefined) return global[OURS]
  const claims: Ours = new Map()
  global[OURS] = claims
  // A host that is told to end writes to its logs until it has ended, long after this plugin is unloaded.
  process.once('exit', () => { for (const claim of claims.values()) release(claim) })
  return claims
}

/** Says that an owner has ended; whoever waits need not wait until it would be thought dead. */
function release({ file, owner }: { readonly file: string; readonly owner: Owner }): void {
  try {
    // Never makes the file: it may have been cleared away by a later owner.
    const descriptor = openSync(file, 'r+')
    ftruncateSync(descriptor)
    writeSync(descriptor, JSON.stringify({ ...owner, released: true }), 0)
    closeSync(descriptor)
  } catch {
    // Then it is found out.
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
