// Builds the newest release of the harness that builds from its public source, for the suite to run against:
//
//   node scripts/host-next.mjs [DIRECTORY] [SOURCE]
//
// DIRECTORY (default .host-next) takes the host; SOURCE is a git address or a path that has the tag. It takes some minutes
// and 3 GB. Then:  DSH_HOST=$PWD/.host-next npm test
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const TAG = 'dsh-v0.1.1-rc.2'
const PNPM = 'pnpm@11.7.0'
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [directory = join(root, '.host-next'), source = process.env.DSH_HOST_SOURCE ?? 'https://github.com/deepseek-ai/deepseek-harness'] = process.argv.slice(2)
const dir = resolve(directory)

/** The variables of a calling package manager would be taken for settings by the one that is called. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm|pnpm)_(config|package|lifecycle)_/i.test(name)))

function run(command, args, cwd = dir) {
  console.log(`> ${[command, ...args].join(' ')}`)
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit', env: { ...env, CI: '1' } })
  if (status === 0) return
  console.error(`${command} failed${error === undefined ? '' : `: ${error.message}`}. ${dir} can be removed, or the command given again to go on.`)
  process.exit(status ?? 1)
}

if (!existsSync(join(dir, '.git'))) run('git', ['clone', '--quiet', '--depth', '1', '--branch', TAG, existsSync(source) ? `file://${resolve(source)}` : source, dir], root)
run('npx', ['-y', PNPM, 'install', '--frozen-lockfile', '--prefer-offline'])
run('npx', ['-y', PNPM, 'run', 'build:lib'])
run('npx', ['-y', PNPM, 'run', 'build:web'])

const bin = join(dir, 'bin')
mkdirSync(bin, { recursive: true })
writeFileSync(join(bin, 'dsh'), `#!/bin/sh\nexec node "${join(dir, 'apps', 'cli', 'lib', 'bin.js')}" "$@"\n`)
chmodSync(join(bin, 'dsh'), 0o755)
console.log(`Built ${TAG}. Run the suite on it with: DSH_HOST=${dir} npm test`)
