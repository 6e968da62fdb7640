// Builds lib/ from src/: ESM with types. A linked checkout is loaded from lib/, so this also runs at every install.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
if (!existsSync(tsc)) {
  // Installed as a dependency of something else: the package comes with its lib/.
  if (existsSync(join(root, 'lib', 'index.js'))) process.exit(0)
  console.error('dsh-llm-quota-retry: TypeScript is missing, so lib/ cannot be built; run the install of this checkout again.')
  process.exit(1)
}
rmSync(join(root, 'lib'), { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { cwd: root, stdio: 'inherit' })
process.exit(status ?? 1)
