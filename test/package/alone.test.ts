import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { frame, root, story } from '../audit/helpers.ts'

/** Node 20 has no Zstandard of its own; where a machine has none of it, the checkout's Node alone is tried. */
const OLD = '/usr/bin/node'
const nodes = [...new Set([process.execPath, ...existsSync(OLD) ? [OLD] : []])]
let dir: string
let cli: string

/** The tarball, installed by npm into a directory in which nothing else is. */
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'quota-alone-'))
  const pack = join(fileURLToPath(new URL('../../node_modules/.bin/pnpm', import.meta.url)))
  execFileSync(pack, ['pack', '--config.ignore-scripts=true', '--pack-destination', dir], { cwd: root, stdio: 'ignore' })
  const tarball = readdirSync(dir).find(name => name.endsWith('.tgz'))!
  const place = join(dir, 'empty')
  mkdirSync(place)
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', place, join(dir, tarball)], { cwd: place, stdio: 'pipe' })
  cli = join(place, 'node_modules/.bin/dsh-quota-audit')
}, 120_000)
afterAll(() => { rmSync(dir, { recursive: true, force: true }) })

const run = (node: string, ...args: string[]): string =>
  execFileSync(node, [cli, ...args], { encoding: 'utf8', cwd: dir, env: { PATH: process.env.PATH, TZ: 'UTC' } })

describe('the command from the packed tarball, with nothing else installed', () => {
  it('brings only what the plugin itself needs', () => {
    const names = readdirSync(join(dir, 'empty', 'node_modules')).filter(name => !name.startsWith('.'))
    expect(names.sort()).toEqual(['dsh-llm-quota-retry', 'immer', 'temporal-polyfill', 'temporal-spec', 'temporal-utils', 'zod'])
  })

  it.each(nodes)('%s: reads packed logs, writes its page, replays a YAML configuration and looks at a home', (node) => {
    const log = join(dir, 'session.jsonl.zstd')
    const other = join(dir, 'other.yml')
    const page = join(dir, 'page.html')
    writeFileSync(log, Buffer.concat(story().lines.map(line => frame(`${line}\n`))))
    writeFileSync(other, 'longTermDelayMs: 500\npools: {}\n')
    const out = run(node, '--html', page, '--what-if', other, log)
    expect(out).toContain('Outages: 1 (1 recovered')
    expect(out).toContain('With the other configuration:')
    expect(existsSync(page)).toBe(true)
    const home = join(dir, 'home')
    mkdirSync(join(home, 'profiles', 'web'), { recursive: true })
    expect(() => run(node, '--doctor', '--home', home)).toThrow(expect.objectContaining({ status: 1, stdout: expect.stringContaining('mounted in no profile') }))
  })
})
