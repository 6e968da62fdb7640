import { describe, expect, it } from 'vitest'
import { contentProblems } from '../../scripts/release/contents.ts'
import { publishedManifest } from '../../scripts/release/pack.ts'
import { publishArguments } from '../../scripts/release/publish.ts'

const MANIFEST = { main: './lib/index.js', bin: { run: './lib/run.js' }, exports: { '.': { types: './lib/index.d.ts', default: './lib/index.js' } }, dependencies: { zod: '4.0.0' } }
const SOUND: Record<string, string> = {
  'package.json': JSON.stringify(MANIFEST), LICENSE: '', 'README.md': '[a](docs/API.md#x) ![b](docs/b.png) [c](https://example.com/x.md) [d](#here) `[e](not/a/link.md)`', 'CHANGELOG.md': '',
  'lib/index.js': '', 'lib/index.d.ts': '', 'lib/run.js': '#!/usr/bin/env node\n', 'docs/API.md': '[back](../README.md)', 'docs/b.png': '',
}
const problems = (change: Record<string, string | undefined>): string[] => {
  const files = Object.entries({ ...SOUND, ...change }).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return contentProblems(files.map(([name]) => name), file => new Map(files).get(file)!)
}
const manifest = (change: object): Record<string, string> => ({ 'package.json': JSON.stringify({ ...MANIFEST, ...change }) })

describe('the contents of a package', () => {
  it('are sound as they are', () => {
    expect(problems({})).toEqual([])
  })

  it.each<[string, Record<string, string | undefined>, string]>([
    ['a source', { 'src/index.ts': '' }, 'src/index.ts has no business in the package'],
    ['a source map', { 'lib/index.js.map': '' }, 'lib/index.js.map has no business in the package'],
    ['no license', { LICENSE: undefined }, 'LICENSE is missing'],
    ['an export without its types', { 'lib/index.d.ts': undefined }, 'lib/index.d.ts is missing'],
    ['a command that a shell would run', { 'lib/run.js': 'export {}' }, 'lib/run.js does not begin with #!/usr/bin/env node'],
    ['a page that links out of it', { 'docs/API.md': '[x](../src/x.ts)' }, 'docs/API.md links to ../src/x.ts, which is not in the package'],
    ['a picture that is not there', { 'docs/b.png': undefined }, 'README.md links to docs/b.png, which is not in the package'],
    ['a link in HTML', { 'README.md': '<img src="docs/c.png">' }, 'README.md links to docs/c.png, which is not in the package'],
    ['a script at install', manifest({ scripts: { prepare: 'x' } }), 'package.json has the script "prepare", which npm warns of'],
    ['a linked dependency', manifest({ dependencies: { zod: 'link:../zod' } }), 'the dependency zod is link:../zod: no registry has that'],
  ])('with %s are refused', (_what, change, problem) => {
    expect(problems(change)).toEqual([problem])
  })
})

describe('the manifest that goes out', () => {
  const given = { name: 'x', scripts: { prepare: 'build' }, devDependencies: { vitest: '4.0.0' }, dependencies: { zod: '4.0.0' } }

  it('has nothing that only a checkout needs', () => {
    expect(publishedManifest(given, {})).toEqual({ name: 'x', dependencies: { zod: '4.0.0' } })
  })

  it('names the repository that it was packed in, unless it names one itself', () => {
    const env = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'owner/name' }
    expect(publishedManifest(given, env)).toMatchObject({ repository: { type: 'git', url: 'git+https://github.com/owner/name.git' } })
    expect(publishedManifest({ ...given, repository: 'mine' }, env)).toMatchObject({ repository: 'mine' })
  })
})

describe('publishing', () => {
  it('is done with provenance, and a version with a part behind a hyphen is nobody\'s latest', () => {
    expect(publishArguments('x.tgz', '1.0.0', false)).toEqual(['publish', 'x.tgz', '--access', 'public', '--tag', 'latest', '--provenance'])
    expect(publishArguments('x.tgz', '1.0.0-rc.1', false)).toContain('next')
    expect(publishArguments('x.tgz', '1.0.0', true)).not.toContain('--provenance')
  })
})
