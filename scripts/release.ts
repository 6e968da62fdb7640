/**
 * The steps of a release, each of which can be run by itself: `npm run release -- <step>`.
 *
 *   tag <tag>                      refuses a tag that disagrees with package.json or CHANGELOG.md
 *   pack [directory]               builds and packs; the last line is the path of the tarball
 *   check <tarball>                contents, links, publint, types, a plain install
 *   verify <tarball|name@version>  installs it into a clean home of the pinned host and runs one wait
 *   publish <tarball> [--dry-run]  publishes with provenance
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { packageProblems } from './release/check.ts'
import { pack } from './release/pack.ts'
import { publish } from './release/publish.ts'
import { changes, tagProblems } from './release/tag.ts'
import { verifyOneWait } from './release/verify.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8')
const manifest = JSON.parse(read('package.json')) as { name: string; version: string }

/** Ends with every reason, or goes on. */
function refuse(step: string, problems: readonly string[]): void {
  for (const problem of problems) console.error(`${step}: ${problem}`)
  if (problems.length > 0) process.exit(1)
}

const [step = '', argument, ...more] = process.argv.slice(2)
const given = (what: string): string => {
  if (argument === undefined) throw new Error(`usage: npm run release -- ${step} <${what}>`)
  return argument
}

switch (step) {
  case 'tag':
    refuse(step, tagProblems(given('tag'), manifest.version, read('CHANGELOG.md')))
    console.log(changes(read('CHANGELOG.md'))[0]!.text)
    break
  case 'pack': {
    execFileSync(process.execPath, [`${root}/scripts/build.mjs`], { stdio: 'inherit' })
    const { tarball, files } = pack(argument ?? root)
    console.log(`${files.length} files\n${tarball}`)
    break
  }
  case 'check':
    refuse(step, await packageProblems(given('tarball')))
    console.log('check: contents, links, publint, types and a plain install are in order')
    break
  case 'verify':
    await verifyOneWait(given('tarball or name@version'))
    console.log('verify: installed into a clean home, refused, waited, answered')
    break
  case 'publish':
    process.exitCode = publish(given('tarball'), manifest, more.includes('--dry-run'))
    break
  default:
    throw new Error(`no step is called "${step}"; there are tag, pack, check, verify, publish`)
}
