/**
 * How fast `dsh-quota-audit` reads a large log, plain and zstd, beside two yardsticks in the same run: parsing every
 * line, and counting the lines that hold `llm/retry` with grep. Each is a process of its own, timed from start to end;
 * the audit and the parsing are also timed by turns in one process.
 *
 *   node bench/audit.ts [--mb 200] [--runs 3] [--cli lib/audit/cli.js] [--keep DIRECTORY]
 */
import { execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'

/** Read leniently: the arguments may be those of `bench.ts`, which names benches. */
const { values } = parseArgs({
  options: { mb: { type: 'string' }, runs: { type: 'string' }, cli: { type: 'string' }, keep: { type: 'string' } }, strict: false, allowPositionals: true,
}) as { values: { mb?: string; runs?: string; cli?: string; keep?: string } }
const root = fileURLToPath(new URL('..', import.meta.url))
const cli = join(root, values.cli ?? 'lib/audit/cli.js')
const megabytes = Number(values.mb ?? 200)
const runs = Number(values.runs ?? 3)

/** A small generator, so that every run measures the same log. */
let seed = 20_260_501
const random = (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
const WORDS = 'the file const return function of a to import "quoted" error if finish test\nline value path 重试 \\ for await llm/retry'.split(' ')

let seq = 0
let time = Date.UTC(2026, 4, 1)
let rows: string[] = []
const row = (type: string, data: object): void => { rows.push(JSON.stringify({ type, seq: seq++, time, data })) }
const chunk = (turn: number, step: number, value: object): void => {
  time += 20
  row('assistant/chunk', { turn, step, chunk: value })
}

/** A packed run, as the host writes where packing is on. */
function packed(turn: number, step: number, index: number, count: number): void {
  const texts = Array.from({ length: count }, () => ` ${pick(WORDS)}`)
  rows.push(JSON.stringify({ type: 'text-chunks', seq0: seq, time0: time, data: { turn, step, index, dt: texts.slice(1).map(() => 20), texts } }))
  seq += count
  time += 20 * count
}

/** An answer as it streams, and as the whole that names every row of the stream. */
function answer(turn: number, step: number, route: number): void {
  const first = seq
  const words = 60 + Math.floor(random() * 120)
  chunk(turn, step, { type: 'block-start', index: 0, blockType: 'text' })
  let text = ''
  for (let word = 0; word < words; word += 1) {
    const next = ` ${pick(WORDS)}`
    text += next
    chunk(turn, step, { type: word % 3 === 0 ? 'reasoning-delta' : 'text-delta', index: 0, text: next })
  }
  if (random() < 0.1) packed(turn, step, 1, 40)
  chunk(turn, step, { type: 'block-end', index: 0, block: { type: 'text', text } })
  const usage = { inputTokens: 9_000, outputTokens: words }
  chunk(turn, step, { type: 'usage', usage })
  chunk(turn, step, { type: 'finish', reason: { kind: 'stop' } })
  const [provider, model, id] = [`provider-${route}`, `model-${route}`, `id-${seq}`]
  const response = { kind: 'pi-ai', version: 2, api: 'openai-completions', provider, model, responseModel: model, responseId: id, stopReason: 'stop' }
  const source = { kind: 'model', provider, model, replayState: { response, blocks: [{ type: 'text' }] } }
  const sourceEventSeqs = Array.from({ length: seq - first }, (_, index) => first + index)
  rows.push(JSON.stringify({
    type: 'assistant/message', seq: seq++, time,
    data: { turn, step, message: { role: 'assistant', content: [{ type: 'text', text }], source, id }, usage }, sourceEventSeqs, surfaceOp: 'append',
  }))
}

const FAILURE = { code: 'QUOTA', message: '402: Insufficient Balance', status: 402 }

/** An hourly wait, or a move to the other route, after a refusal. */
function outage(turn: number, step: number, route: number): number {
  const provider = `provider-${route}`
  chunk(turn, step, { type: 'finish', reason: { kind: 'error', failure: FAILURE } })
  const move = random() < 0.5
  const to = move ? 1 - route : route
  const key = move ? ['llm-quota-retry', 'move', 'pool', `provider-${to}`, `model-${to}`] : ['llm-quota-retry', 'wait', 3_600_000]
  const base = { retryId: `r${seq}`, turn, step }
  row('llm/retry', { ...base, provider, mode: 'always', policyKey: JSON.stringify(key), retry: 1, delayMs: move ? 0 : 3_600_000, failure: FAILURE })
  if (!move) time += 3_600_000
  row('llm/retry-started', { ...base, retry: 1 })
  if (move) row('request/header', { header: { config: { provider: `provider-${to}`, model: `model-${to}` }, system: 'x'.repeat(20_000) }, reason: 'change' })
  return to
}

let route = 0
function turnRows(turn: number): string[] {
  rows = []
  row('turn/start', { turn })
  row('user/message', { role: 'user', content: [{ type: 'text', text: `say "type":"llm/retry" {"type":"turn/end"} ${turn}` }] })
  for (let step = 1; step <= 4; step += 1) {
    row('step/start', { turn, step })
    if (random() < 0.01) route = outage(turn, step, route)
    answer(turn, step, route)
    row('tool/result', { turn, step, message: { content: 'output '.repeat(100) } })
    row('step/end', { turn, step })
  }
  row('turn/end', { turn, reason: { kind: 'completed' } })
  return rows
}

/** Rows of one append: the host writes five times a second, while an answer streams at some fifty rows a second. */
const APPEND = 10
/** The host's own way: such a frame does not say how much it holds. */
const pack = (bytes: Buffer): Promise<Buffer> => promisify(zstdCompress)(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })

/** Writes the same log plain and as one frame for each durable append of the host. */
async function generate(plain: string, zstd: string): Promise<{ lines: number; chunks: number }> {
  const files = [openSync(plain, 'w'), openSync(zstd, 'w')] as const
  let size = 0
  let lines = 0
  let chunks = 0
  const append = async (...texts: readonly string[]): Promise<void> => {
    const parts = texts.map(text => Buffer.from(text))
    size += parts.reduce((sum, { length }) => sum + length, 0)
    for (const part of parts) writeSync(files[0], part)
    for (const frame of await Promise.all(parts.map(pack))) writeSync(files[1], frame)
  }
  await append(`${JSON.stringify({ type: 'session', version: 0, id: 'bench', createdAt: time, delegationDepth: 0 })}\n`)
  rows = []
  row('request/header', { header: { config: { provider: 'provider-0', model: 'model-0' } }, reason: 'initial' })
  await append(`${rows.join('\n')}\n`)
  for (let turn = 1; size < megabytes * 1e6; turn += 1) {
    const made = turnRows(turn)
    lines += made.length
    chunks += made.filter(line => line.startsWith('{"type":"assistant/chunk"') || line.startsWith('{"type":"text-chunks"')).length
    await append(...Array.from({ length: Math.ceil(made.length / APPEND) }, (_, index) => `${made.slice(index * APPEND, (index + 1) * APPEND).join('\n')}\n`))
  }
  for (const file of files) closeSync(file)
  return { lines, chunks }
}

/** The audit and the parsing of every line by turns in one process. */
interface Turn { auditMs: number; parseMs: number }

function inProcess(file: string): Turn[] {
  const script = fileURLToPath(new URL('audit-in-process.ts', import.meta.url))
  return JSON.parse(execFileSync(process.execPath, [script, file, String(runs)], { encoding: 'utf8' }).trim().split('\n').at(-1) ?? '') as Turn[]
}

/** What one process took. */
interface Measure { ms: number; rssMb: number | null }

const MEMORY = 'process.on("exit", () => { process.send?.(process.resourceUsage().maxRSS) })'

function measure(command: string, args: readonly string[], node: boolean): Promise<Measure> {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit', ...node ? ['ipc' as const] : []] })
    let rssMb: number | null = null
    // Read, not sent to nowhere: grep stops at its first line when it sees that nobody counts.
    child.stdout?.resume()
    child.on('message', (kilobytes) => { rssMb = Math.round(Number(kilobytes) / 1024) })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code !== 0) reject(new Error(`${command} ${args.join(' ')} ended with ${code}`))
      else resolve({ ms: Math.round(performance.now() - begun), rssMb })
    })
  })
}

/** The best of some runs: the machine's other work only ever adds. */
async function best(command: string, args: readonly string[], node = true): Promise<Measure> {
  const measures: Measure[] = []
  for (let run = 0; run < runs; run += 1) measures.push(await measure(command, args, node))
  return measures.reduce((a, b) => ({ ms: Math.min(a.ms, b.ms), rssMb: a.rssMb === null ? null : Math.max(a.rssMb, b.rssMb ?? 0) }))
}

const PARSER = `
import { createReadStream } from 'node:fs'
let rest = '', count = 0
for await (const part of createReadStream(process.argv[2], { encoding: 'utf8', highWaterMark: 524288 })) {
  const lines = (rest + part).split('\\n')
  rest = lines.pop()
  for (const line of lines) if (JSON.parse(line).type === 'llm/retry') count += 1
}
`

async function measureAll(directory: string) {
  const plain = join(directory, 'session.jsonl')
  const zstd = join(directory, 'session.jsonl.zstd')
  const preload = join(directory, 'memory.mjs')
  const parser = join(directory, 'parse.mjs')
  const { lines, chunks } = await generate(plain, zstd)
  writeFileSync(preload, MEMORY)
  writeFileSync(parser, PARSER)
  const node = (script: string, ...args: string[]): Promise<Measure> => best(process.execPath, ['--import', preload, script, ...args])
  return {
    megabytes: Math.round(statSync(plain).size / 1e6),
    zstdMegabytes: Math.round(statSync(zstd).size / 1e6),
    lines,
    chunkShare: Math.round(1_000 * chunks / lines) / 1_000,
    plain: await node(cli, '--no-timeline', plain),
    zstd: await node(cli, '--no-timeline', zstd),
    json: await node(cli, '--no-timeline', '--json', plain),
    parse: await node(parser, plain),
    grep: await best('grep', ['-c', 'llm/retry', plain], false),
    start: await node(cli, '--version'),
    turns: inProcess(plain),
  }
}

/**
 * Measure the audit beside its yardsticks.
 *
 * @param print - takes the table, line by line.
 * @returns every figure; times in ms, memory in MB.
 */
export async function benchAudit(print: (line: string) => void): Promise<unknown> {
  if (!existsSync(cli)) throw new Error(`${cli} is not there; run the build first`)
  const directory = values.keep ?? mkdtempSync(join(tmpdir(), 'audit-bench-'))
  try {
    const results = await measureAll(directory)
    const times = (a: Measure, b: Measure): number => Math.round(10 * a.ms / b.ms) / 10
    const sameProcess = results.turns.map(({ auditMs, parseMs }) => Math.round(10 * parseMs / auditMs) / 10)
    const ratios = {
      parseOverPlain: times(results.parse, results.plain), parseOverZstd: times(results.parse, results.zstd),
      plainOverGrep: times(results.plain, results.grep), sameProcess,
    }
    const table: readonly (readonly [string, Measure])[] = [
      ['audit, plain', results.plain], ['audit, zstd', results.zstd], ['audit --json, plain', results.json],
      ['JSON.parse of every line', results.parse], ['grep -c llm/retry', results.grep], ['the command\'s start alone', results.start],
    ]
    print(`A log of ${results.megabytes} MB (${results.zstdMegabytes} MB as zstd), ${results.lines} lines, ${Math.round(100 * results.chunkShare)} % stream chunks; best of ${runs}`)
    print('                             time      peak memory')
    for (const [name, { ms, rssMb }] of table) {
      print(`${name.padEnd(26)} ${String(ms).padStart(6)} ms ${rssMb === null ? '' : `${String(rssMb).padStart(10)} MB`}`)
    }
    print(`In one process: ${results.turns.map(({ auditMs, parseMs }) => `audit ${auditMs} ms, parsing ${parseMs} ms`).join('; ')}`)
    print(`Times faster than parsing every line: ${sameProcess.join(', ')} in one process, ${ratios.parseOverPlain} with the starts of Node (zstd: ${ratios.parseOverZstd}); ${ratios.plainOverGrep} times the time of grep`)
    return { ...results, ...ratios }
  } finally {
    if (values.keep === undefined) rmSync(directory, { recursive: true, force: true })
  }
}

if (import.meta.main) console.log(JSON.stringify(await benchAudit((line) => { console.log(line) })))
