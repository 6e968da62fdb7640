import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, zstdCompressSync } from 'node:zlib'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** What a run of the command came to. */
export interface Ran { code: number; out: string; err: string }

/** Runs the command from its sources, as a person would from the checkout. */
export const audit = (args: readonly string[], options: { input?: Buffer | string; env?: Record<string, string>; cwd?: string } = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [join(root, 'src/audit/cli.ts'), ...args], {
      encoding: 'utf8', cwd: options.cwd ?? root, maxBuffer: 64 * 1024 * 1024, env: { PATH: process.env.PATH, TZ: 'UTC', ...options.env },
    }, (error, out, err) => { resolve({ code: error === null ? 0 : Number(error.code), out, err }) })
    child.stdin?.on('error', () => {})
    child.stdin?.end(options.input ?? '')
  })

/** A directory that is gone after the test. */
export function scratch(): { dir: string; put: (name: string, content: string | Buffer) => string; [Symbol.dispose]: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'audit-test-'))
  return {
    dir,
    put: (name, content) => {
      writeFileSync(join(dir, name), content)
      return join(dir, name)
    },
    [Symbol.dispose]: () => { rmSync(dir, { recursive: true, force: true }) },
  }
}

/** One frame that says how much it holds, as the command-line tool and Node's synchronous call make it. */
export const statedFrame = (text: string): Buffer => zstdCompressSync(Buffer.from(text), { params: { [constants.ZSTD_c_checksumFlag]: 1 } })

/** One frame, as the host makes for each durable append: it does not say how much it holds (a test holds it to that). */
export function frame(text: string): Buffer {
  const stated = statedFrame(text)
  const descriptor = stated[4]!
  const single = (descriptor & 0x20) !== 0
  const header = 5 + (single ? 0 : 1) + [single ? 1 : 0, 2, 4, 8][descriptor >> 6]!
  // A window of 2 MB and a checksum.
  return Buffer.concat([stated.subarray(0, 4), Buffer.from([0x04, 0x58]), stated.subarray(header)])
}

export const START = Date.UTC(2026, 8, 1, 12)
export const HOUR = 3_600_000
export const SPENT = { code: 'QUOTA', message: '402: Insufficient Balance', status: 402 }

/** A log under construction: rows with running numbers, at a clock that the test moves. */
export class TestLog {
  readonly lines: string[] = []
  private seq = 0
  private at = START

  constructor(id = 's1', head: object = {}) {
    this.lines.push(JSON.stringify({ type: 'session', version: 0, id, createdAt: START, delegationDepth: 0, ...head }))
  }

  row(type: string, data: unknown): this {
    this.lines.push(JSON.stringify({ type, seq: this.seq++, time: this.at, data }))
    return this
  }

  after(ms: number): this {
    this.at += ms
    return this
  }

  turn(turn = 1): this {
    return this.row('turn/start', { turn }).row('step/start', { turn, step: 1 })
  }

  asks(provider: string, model: string): this {
    return this.row('request/header', { header: { config: { provider, model } }, reason: 'change' })
  }

  fails(failure: object = SPENT, turn = 1): this {
    return this.row('assistant/chunk', { turn, step: 1, chunk: { type: 'finish', reason: { kind: 'error', failure } } })
  }

  waits(retry = 1, ms = HOUR, provider = 'a', turn = 1): this {
    return this.row('llm/retry', { turn, step: 1, retryId: 'r', retry, provider, mode: 'always', delayMs: ms, failure: SPENT, policyKey: JSON.stringify(['llm-quota-retry', 'wait', ms]) })
  }

  starts(retry = 1, retryId = 'r', turn = 1): this {
    return this.row('llm/retry-started', { turn, step: 1, retryId, retry })
  }

  moves(from: string, pool: string, provider: string, model: string): this {
    return this.row('llm/retry', { turn: 1, step: 1, retryId: `m${this.seq}`, retry: 1, provider: from, mode: 'always', delayMs: 0, failure: SPENT, policyKey: JSON.stringify(['llm-quota-retry', 'move', pool, provider, model]) })
      .asks(provider, model)
  }

  answers(provider: string, model: string, turn = 1): this {
    return this.row('assistant/message', { turn, step: 1, message: { role: 'assistant', content: [], source: { provider, model } } })
  }

  ends(kind = 'completed', turn = 1): this {
    return this.row('step/end', { turn, step: 1 }).row('turn/end', { turn, reason: { kind } })
  }

  get text(): string {
    return `${this.lines.join('\n')}\n`
  }
}

/** Refused, waited an hour twice, answered; then moved. */
export const story = (id = 's1'): TestLog => new TestLog(id).turn().asks('a', 'm').fails().waits(1).after(HOUR).starts(1).fails().waits(2)
  .after(HOUR).starts(2).after(1_000).answers('a', 'm').after(1_000).fails().moves('a', 'pool', 'b', 'n').after(1_000).answers('b', 'n').ends()
