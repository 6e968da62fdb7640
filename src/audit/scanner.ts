import { readFileSync } from 'node:fs'

/** Bytes of a log that are looked at in one go. */
export const BLOCK = 512 * 1024
/** Bytes around a block that are loaded, not looked at. */
const MARGIN = 64
const PAGE = 64 * 1024
/** Lines found in one go: two numbers of four bytes each. */
const FOUND = 4_096
const SPARE = MARGIN + BLOCK + MARGIN
const LIST = SPARE + BLOCK + MARGIN
const LIST_END = LIST + 8 * FOUND

/** The little that is used here of what TypeScript declares for browsers alone. */
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer }
  readonly Module: new (code: Uint8Array<ArrayBuffer>) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

/** What `scan.wat` exports. */
interface Exports {
  readonly scan: (from: number, end: number, list: number, listEnd: number) => number
  readonly close: (at: number, end: number) => number
  readonly rest: { readonly value: number }
  readonly passed: { readonly value: number }
}

/** Told of every line that can matter: where it begins and ends, without its newline, in bytes that the scanner holds. */
export type Look = (held: Buffer, start: number, end: number) => void

/** Passes over the lines of a log that cannot matter; see `scan.wat`. */
export class Scanner {
  /** A buffer of {@link BLOCK} bytes to read a file into: {@link scan} looks at it where it is. */
  readonly block: Buffer
  /** Where bytes that come from elsewhere are looked at: a packed file is read into the block, and its content is not. */
  private readonly spare: Buffer
  /** Lines that were passed over so far. */
  passed = 0
  private readonly memory: ArrayBuffer
  private readonly list: Uint32Array
  private readonly exports: Exports

  /** @throws CompileError where the machine has no vector instructions. */
  constructor(code: Uint8Array<ArrayBuffer>) {
    const memory = new WebAssembly.Memory({ initial: Math.ceil((LIST_END + MARGIN) / PAGE) })
    this.memory = memory.buffer
    this.block = Buffer.from(this.memory, MARGIN, BLOCK)
    this.spare = Buffer.from(this.memory, SPARE, BLOCK)
    this.list = new Uint32Array(this.memory, LIST, 2 * FOUND)
    this.exports = new WebAssembly.Instance(new WebAssembly.Module(code), { audit: { memory } }).exports as Exports
  }

  /**
   * Look at bytes of a log.
   *
   * @param bytes - part of {@link block}, or at most {@link BLOCK} other bytes, which are copied.
   * @param from - where a line begins in them.
   * @param look - told of every whole line that can matter, in order.
   * @returns where the last line begins whose end is not there.
   */
  scan(bytes: Buffer, from: number, look: Look): number {
    const here = this.holds(bytes) ? bytes : this.spare.subarray(0, bytes.copy(this.spare))
    const base = here.byteOffset
    const end = base + here.length
    let at = base + from
    for (let full = true; full;) {
      const found = this.exports.scan(at, end, LIST, LIST_END) - LIST
      at = this.exports.rest.value
      this.passed += this.exports.passed.value
      for (let index = 0; index < found / 4; index += 2) look(here, this.list[index]! - base, this.list[index + 1]! - base)
      full = found === LIST_END - LIST
    }
    return at - base
  }

  /** Whether bytes stand where {@link close} can look at them. */
  holds(bytes: Buffer): boolean {
    return bytes.buffer === this.memory
  }

  /**
   * Find the end of a JSON array or object.
   *
   * @param held - bytes that the scanner holds.
   * @param at - a place behind its opening bracket.
   * @param end - where to stop.
   * @returns the place behind the bracket that closes it, or -1.
   */
  close(held: Buffer, at: number, end: number): number {
    const base = held.byteOffset
    const found = this.exports.close(base + at, base + end)
    return found === 0 ? -1 : found - base
  }
}

let code: Uint8Array<ArrayBuffer> | null | undefined
const free: Scanner[] = []

/**
 * A scanner of one's own until {@link giveBack}.
 *
 * @returns `null` where none can be had, as on a machine without vector instructions: then every line has to be parsed.
 */
export function borrow(): Scanner | null {
  try {
    // The build puts it there, and both src/ and lib/ are two levels below.
    code ??= code === undefined ? readFileSync(new URL('../../lib/audit/scan.wasm', import.meta.url)) : null
    return free.pop() ?? (code === null ? null : new Scanner(code))
  } catch {
    return code = null
  }
}

/** A log is read: its scanner can serve the next one. */
export const giveBack = (scanner: Scanner): void => { free.push(scanner) }
