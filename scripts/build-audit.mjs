// Builds the audit command: its modules as few files, for a command that runs a fifth of a second should not spend a
// tenth on finding its parts, and its hot loop, src/audit/scan.wat.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import wabt from 'wabt'

const source = fileURLToPath(new URL('../src/audit/', import.meta.url))

async function assemble(target) {
  const { parseWat } = await wabt()
  const module = parseWat('scan.wat', readFileSync(join(source, 'scan.wat'), 'utf8'), { simd: true })
  try {
    writeFileSync(target, module.toBinary({}).buffer)
  } finally {
    module.destroy()
  }
}

/** @param {string} directory - where the command goes; what stands there is replaced. */
export async function buildAudit(directory) {
  rmSync(directory, { recursive: true, force: true })
  await build({
    entryPoints: [join(source, 'cli.ts')], outdir: directory, bundle: true, splitting: true, packages: 'external',
    platform: 'node', format: 'esm', target: 'node20', chunkNames: '[name]-[hash]', legalComments: 'none', logLevel: 'warning',
  })
  await assemble(join(directory, 'scan.wasm'))
}
