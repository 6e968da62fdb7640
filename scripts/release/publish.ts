/** Publishing to the registry that npm is configured for. */
import { spawnSync } from 'node:child_process'

/** `next` for a version with a part behind a hyphen: nobody gets it without asking for it. */
export const distTag = (version: string): string => version.includes('-') ? 'next' : 'latest'

/** The arguments for npm. */
export function publishArguments(tarball: string, version: string, dryRun: boolean): string[] {
  // Provenance is signed with the identity of the workflow that publishes: there is none elsewhere.
  return ['publish', tarball, '--access', 'public', '--tag', distTag(version), dryRun ? '--dry-run' : '--provenance']
}

/**
 * Publishes a tarball, unless its version is there already: a release that broke off behind this step can be run again.
 *
 * @param tarball - its path.
 * @param manifest - name and version in it.
 * @param dryRun - only says what would be published.
 * @returns npm's exit code.
 */
export function publish(tarball: string, { name, version }: { name: string; version: string }, dryRun: boolean): number {
  const found = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' })
  if (found.status === 0 && found.stdout.trim() === version) {
    console.log(`publish: ${name}@${version} is there already`)
    return 0
  }
  return spawnSync('npm', publishArguments(tarball, version, dryRun), { stdio: 'inherit' }).status ?? 1
}
