/**
 * Packs the checkout as it is published.
 *
 * The manifest inside differs from the checkout's: it has no scripts (npm warns of a `prepare`, which nothing in an
 * installed package can run) and no development dependencies. On GitHub it names the repository that it was packed in,
 * which publishing with provenance demands.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A package on its way. */
export interface Packed {
  /** Path of the tarball. */
  readonly tarball: string
  /** Paths of its files, from the package's root. */
  readonly files: readonly string[]
}

function pnpmPack(directory: string, destination: string): Packed {
  const pnpm = join(root, 'node_modules', '.bin', 'pnpm')
  const args = ['pack', '--config.ignore-scripts=true', '--json', '--pack-destination', destination]
  const out = execFileSync(pnpm, args, { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const { filename, files } = JSON.parse(out.slice(out.indexOf('{'))) as { filename: string; files: { path: string }[] }
  return { tarball: filename, files: files.map(({ path }) => path).sort() }
}

/** The manifest that goes out. */
export function publishedManifest(manifest: Record<string, unknown>, env: Record<string, string | undefined>): Record<string, unknown> {
  const { scripts: _scripts, devDependencies: _devDependencies, ...published } = manifest
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env
  if (published['repository'] === undefined && server !== undefined && repository !== undefined) {
    published['repository'] = { type: 'git', url: `git+${server}/${repository}.git` }
  }
  return published
}

/**
 * Packs what is built; nothing is built here.
 *
 * @param destination - the directory for the tarball.
 */
export function pack(destination: string): Packed {
  mkdirSync(destination, { recursive: true })
  const stage = mkdtempSync(join(tmpdir(), 'quota-pack-'))
  try {
    const whole = pnpmPack(root, stage)
    execFileSync('tar', ['-xzf', whole.tarball, '-C', stage])
    const file = join(stage, 'package', 'package.json')
    writeFileSync(file, `${JSON.stringify(publishedManifest(JSON.parse(readFileSync(file, 'utf8')), process.env), null, 2)}\n`)
    const { tarball, files } = pnpmPack(join(stage, 'package'), join(stage, 'out'))
    const target = join(resolve(destination), basename(tarball))
    // Beside its place first: nobody who looks for the tarball finds half of it, and /tmp may be another disk.
    const aside = `${target}.${process.pid}`
    writeFileSync(aside, readFileSync(tarball))
    renameSync(aside, target)
    return { tarball: target, files }
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}
