// Runs one command of this checkout on any machine with Node 20 and npm: installs what the lock file names when that
// is missing, then runs the command with the checkout's own Node 24 and tools first on the PATH.
//
//   node scripts/run.mjs <tool> [arguments]     a tool of node_modules/.bin
//   node scripts/run.mjs test [arguments]       type check, lint and every test, or the named tests
//   node scripts/run.mjs demo                   the demo on a real dsh
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = join(root, 'node_modules', '.bin')
const PNPM = `pnpm@${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies.pnpm}`

/** pnpm writes this file at the end of an install; an older one than the lock file means that something is missing. */
function installed() {
  const stamp = join(root, 'node_modules', '.modules.yaml')
  return existsSync(stamp) && existsSync(join(root, 'lib', 'index.js')) && existsSync(join(root, 'node_modules', 'node', 'bin'))
    && statSync(stamp).mtimeMs >= statSync(join(root, 'pnpm-lock.yaml')).mtimeMs
}

function run(command, args, env = process.env) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env, shell: process.platform === 'win32' })
  if (error !== undefined) console.error(`${command}: ${error.message}`)
  return signal === null && error === undefined ? status ?? 1 : 1
}

/** The variables that the calling package manager sets would be taken for settings by the one that is called. */
const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm|pnpm)_(config|package|lifecycle)_/i.test(name)))

if (!installed()) {
  console.log('Installing the pinned tools and the pinned dsh (about 700 packages; warnings of packages that are not ours are harmless)...')
  const status = run('npx', ['-y', PNPM, 'install', '--frozen-lockfile'], clean)
  if (status !== 0) {
    console.error('The install failed. It needs npm and a package registry that can be reached; see the messages above.')
    process.exit(status)
  }
}

const env = { ...clean, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`, DSH_TELEMETRY_DISABLED: '1' }
const [tool = '', ...args] = process.argv.slice(2)
const build = ['node', 'scripts/build.mjs']
const tasks = {
  test: args.length > 0
    ? [['vitest', 'run', ...args]]
    : [build, ['tsc', '-p', 'tsconfig.json'], ['tsc', '-p', 'client/tsconfig.json'], ['eslint', '--max-warnings', '0', '.'], ['vitest', 'run']],
  demo: [build, ['node', 'demo/demo.ts', ...args]],
}
for (const [command, ...rest] of tasks[tool] ?? [[tool, ...args]]) {
  const status = run(join(bin, command), rest, env)
  if (status !== 0) process.exit(status)
}
