import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A bundle of one row, whose id and package name are the same. */
export interface BundleSpec {
  name: string
  /** Source of the host half. */
  source: string
  /** The row's config in the bundle's own patch. */
  config?: unknown
}

/** A host half that prints the config it was given to standard error. */
export const printConfig = `
  export const name = 'config-printer'
  export function apply(ctx, config) { process.stderr.write('config ' + JSON.stringify(config) + '\\n') }
`

/**
 * Writes a bundle that the host can install.
 * @param dir - an empty directory.
 * @param spec - see {@link BundleSpec}.
 */
export function writeBundle(dir: string, { name, source, config }: BundleSpec): void {
  const manifest = {
    name,
    version: '1.0.0',
    type: 'module',
    main: 'index.js',
    exports: { '.': './index.js', './cordis.patch.yml': './cordis.patch.yml', './package.json': './package.json' },
    dsh: { bundle: { patch: './cordis.patch.yml' } },
  }
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(dir, 'cordis.patch.yml'), JSON.stringify([{ insert: [{ id: name, name, config }] }]))
  writeFileSync(join(dir, 'index.js'), source)
}
