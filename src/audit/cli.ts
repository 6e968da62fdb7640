#!/usr/bin/env node
/** `dsh-quota-audit`: says what happened to the model allowance of sessions, from their logs. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { WhatIf } from '../projections/audit/what-if.ts'
import { oneLine } from '../projections/text.ts'
import { type Options, readOptions, USAGE, UsageError } from './options.ts'
import { runAudit } from './run.ts'

const say = (text: string): void => { process.stdout.write(text) }
const complain = (text: string): void => { process.stderr.write(text) }

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  return manifest.version
}

/** Longest word about what is wrong, in UTF-16 units. */
const LONGEST = 4_000

async function whatIfOf({ whatIf }: Options): Promise<{ whatIf?: WhatIf }> {
  if (whatIf === undefined) return {}
  const { loadWhatIf } = await import('./config-file.ts')
  return { whatIf: await loadWhatIf(whatIf) }
}

/** Small writes are gathered: a timeline is thousands of them. */
function buffered(write: (text: string) => void): { print: (text: string) => void; flush: () => void } {
  let pending: string[] = []
  let size = 0
  const flush = (): void => {
    if (size > 0) write(pending.join(''))
    pending = []
    size = 0
  }
  const print = (text: string): void => {
    pending.push(text)
    size += text.length
    if (size > 64 * 1024) flush()
  }
  return { print, flush }
}

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options === 'help') return say(USAGE), 0
  if (options === 'version') return say(`${version()}\n`), 0
  if ('doctor' in options) {
    const { runDoctor } = await import('./doctor/doctor.ts')
    return runDoctor(options.doctor, say)
  }
  if (options.mend !== undefined) {
    const { mendFile } = await import('./mend.ts')
    return say(mendFile(options.mend.from, options.mend.to)), 0
  }
  const { print, flush } = buffered(say)
  try {
    return await runAudit(options, {
      print, complain, version: version(), writeFile: (path, text) => { writeFileSync(path, text) }, ...await whatIfOf(options),
    })
  } finally {
    flush()
  }
}

// The reader went away, as `head` does when it has enough: nothing is wrong.
process.stdout.on('error', (error: NodeJS.ErrnoException) => { process.exit(error.code === 'EPIPE' ? 0 : 1) })
process.stderr.on('error', () => {})

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const usage = error instanceof UsageError
  // What is wrong quotes files and arguments.
  complain(`dsh-quota-audit: ${oneLine(error instanceof Error ? error.message : String(error), LONGEST)}\n${usage ? 'dsh-quota-audit --help lists the options\n' : ''}`)
  process.exitCode = usage ? 2 : 1
}
