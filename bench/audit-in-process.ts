/**
 * The audit beside `JSON.parse` of every line, by turns in one process, so that neither pays for the start of Node:
 *
 *   node bench/audit-in-process.ts LOG [RUNS]
 *
 * The last line is a JSON list of turns, each `{auditMs, parseMs}`.
 */
import { createReadStream } from 'node:fs'
import { readOptions } from '../src/audit/options.ts'
import { runAudit } from '../src/audit/run.ts'

const [file = '', runs = '3'] = process.argv.slice(2)

async function audit(): Promise<void> {
  const options = readOptions(['--no-timeline', file])
  if (typeof options === 'string' || 'doctor' in options) throw new Error('no audit')
  const code = await runAudit(options, { print() {}, complain: (text) => { throw new Error(text) }, version: '0', writeFile() {} })
  if (code !== 0) throw new Error(`the audit ended with ${code}`)
}

async function parseEveryLine(): Promise<void> {
  let rest = ''
  let found = 0
  for await (const part of createReadStream(file, { encoding: 'utf8', highWaterMark: 512 * 1024 })) {
    const lines = (rest + String(part)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if ((JSON.parse(line) as { type: string }).type === 'llm/retry') found += 1
  }
  if (found === 0) throw new Error('the log has no llm/retry')
}

async function time(run: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await run()
  return Math.round(performance.now() - begun)
}

const turns: { auditMs: number; parseMs: number }[] = []
for (let turn = 0; turn < Number(runs); turn += 1) turns.push({ auditMs: await time(audit), parseMs: await time(parseEveryLine) })
console.log(JSON.stringify(turns))
