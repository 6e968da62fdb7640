// Builds the audit command: its modules as few files, for a command that runs a fifth of a second should not spend a
// tenth on finding its parts.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const source = fileURLToPath(new URL('../src/audit/', import.meta.url))

/** The terms of what is copied into the command: of what unpacks, of the Zstandard code inside it, and of what reads YAML. */
function terms() {
  const require = createRequire(import.meta.url)
  const module = require.resolve('zstddec')
  const inside = /\/\*\*\s*\n\* BSD License[^]*?\*\//.exec(readFileSync(module, 'utf8'))?.[0]
  if (inside === undefined) throw new Error('zstddec no longer carries the terms of Zstandard where they were')
  const unpacking = readFileSync(join(dirname(dirname(module)), 'LICENSE'), 'utf8').trim()
  const yaml = readFileSync(join(dirname(require.resolve('yaml/package.json')), 'LICENSE'), 'utf8').trim()
  return `zstddec\n\n${unpacking}\n\n${inside.replace(/^\/?\*+\/? ?/gm, '').trim()}\n\n\nyaml\n\n${yaml}\n`
}

/** @param {string} directory - where the command goes; what stands there is replaced. */
export async function buildAudit(directory) {
  rmSync(directory, { recursive: true, force: true })
  await build({
    entryPoints: [join(source, 'cli.ts')], outdir: directory, bundle: true, splitting: true, external: ['immer', 'zod'],
    platform: 'node', format: 'esm', target: 'node20', chunkNames: '[name]-[hash]', legalComments: 'none', logLevel: 'warning',
    // Its modules for Node are CommonJS, which cannot ask for Node's own inside a module.
    alias: { yaml: join(dirname(createRequire(import.meta.url).resolve('yaml/package.json')), 'browser', 'index.js') },
    // What unpacks Zstandard would fetch its own code from a data URL, and load a whole HTTP client for it.
    define: { fetch: 'undefined' },
  })
  writeFileSync(join(directory, 'LICENSES.txt'), terms())
}
