// Builds lib/ from src/: ESM with types, the browser half from client/ into lib/client.js, and the audit command into lib/audit. A linked checkout is loaded from lib/, so this also runs at every install.
import { spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
if (!existsSync(tsc)) {
  // Installed as a dependency of something else: the package comes with its lib/.
  if (existsSync(join(root, 'lib', 'index.js'))) process.exit(0)
  console.error('dsh-llm-quota-retry: TypeScript is missing, so lib/ cannot be built; run the install of this checkout again.')
  process.exit(1)
}
// Built aside and swapped in: a host that loads a linked checkout meanwhile finds the old lib/ or the new one.
const lib = join(root, 'lib')
const next = join(root, `lib.next-${process.pid}`)
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', next], { cwd: root, stdio: 'inherit' })
if (status === 0) {
  // Imported here: without an install there is no bundler either.
  const { buildClient } = await import(pathToFileURL(join(root, 'scripts', 'build-client.mjs')).href)
  await buildClient(join(next, 'client.js'))
  const { buildAudit } = await import(pathToFileURL(join(root, 'scripts', 'build-audit.mjs')).href)
  await buildAudit(join(next, 'audit'))
  rmSync(lib, { recursive: true, force: true })
  renameSync(next, lib)
}
rmSync(next, { recursive: true, force: true })
process.exit(status ?? 1)
