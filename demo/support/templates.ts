/**
 * Profiles with this package installed, made once in a run of the tests and then copied: an install costs a second or
 * more of every home. Without the variable, as in the demo, every home installs for itself.
 */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack, type Packed } from '../../scripts/release/pack.ts'

const VARIABLE = 'DSH_QUOTA_RETRY_TEMPLATES'
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Makes the directory of templates and names it to this process and its children; returns what removes it. */
export function shareTemplates(): () => void {
  const dir = mkdtempSync(join(tmpdir(), 'quota-templates-'))
  process.env[VARIABLE] = dir
  return () => { rmSync(dir, { recursive: true, force: true }) }
}

/** A directory or file under its final name at once, or not at all when another process was quicker. */
function place(aside: string, target: string): void {
  try {
    renameSync(aside, target)
  } catch {
    rmSync(aside, { recursive: true, force: true })
    if (!existsSync(target)) throw new Error(`${target} cannot be made`)
  }
}

/**
 * The checkout as it would be published, packed once in a run of the tests.
 *
 * Outside of such a run it is packed anew, and removed when the process ends.
 */
export function packedCheckout(): Packed {
  const shared = process.env[VARIABLE]
  if (shared === undefined) {
    const remove = shareTemplates()
    process.on('exit', remove)
    return packedCheckout()
  }
  const known = join(shared, 'packed.json')
  if (!existsSync(known)) {
    const aside = mkdtempSync(join(shared, 'pack-'))
    const packed = pack(aside)
    writeFileSync(join(aside, 'packed.json'), JSON.stringify(packed))
    place(join(aside, 'packed.json'), known)
  }
  return JSON.parse(readFileSync(known, 'utf8')) as Packed
}

/**
 * Puts an installed profile into a home, from its template or else by an install, which then becomes the template.
 *
 * @param profileDir - where the profile goes; nothing stands there yet.
 * @param profile - its name.
 * @param spec - what is installed. Only this checkout and what it was packed into are worth a template.
 * @param install - installs into this very home.
 */
export async function installOnce(profileDir: string, profile: string, spec: string, install: () => Promise<void>): Promise<void> {
  const shared = process.env[VARIABLE]
  if (shared === undefined || !(spec.startsWith(shared) || join(spec, '/') === root)) return install()
  const template = join(shared, `${profile}-${createHash('sha256').update(spec).digest('hex').slice(0, 12)}`)
  // Links stay as they are: they lead from any home to the same place, for all homes stand side by side.
  const copy = (from: string, to: string): void => { cpSync(from, to, { recursive: true, verbatimSymlinks: true }) }
  if (existsSync(template)) {
    copy(template, profileDir)
    return
  }
  await install()
  const aside = mkdtempSync(join(shared, 'profile-'))
  copy(profileDir, aside)
  place(aside, template)
}
