// Lets this checkout's tools and tests run on the Node that runs this script, instead of the pinned one:
//
//   <another node> scripts/release/use-node.mjs
//
// Installs what is missing first. The pinned Node is back after the next `pnpm install --force`.
import { spawnSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'run.mjs'), 'node', '--version'], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
const link = join(root, 'node_modules', '.bin', 'node')
rmSync(link, { force: true })
symlinkSync(process.execPath, link)
console.log(`The tools and tests run on Node ${process.version} now.`)
