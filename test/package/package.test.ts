import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { packedCheckout } from '../../demo/support/templates.ts'
import { packageProblems } from '../../scripts/release/check.ts'
import { verifyOneWait } from '../../scripts/release/verify.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
let tarball: string
let files: readonly string[]

beforeAll(() => { ({ tarball, files } = packedCheckout()) })

describe('the package', () => {
  it('holds what the host loads, what its pages link to, and nothing of the checkout besides', async () => {
    expect(files).toEqual(expect.arrayContaining([
      'lib/index.js', 'lib/classify.js', 'lib/replay.js', 'lib/invariant.js', 'lib/client.js', 'lib/audit/cli.js', 'lib/audit/LICENSES.txt',
      'balance/index.json', 'balance/README.md', 'balance/deepseek.mjs', 'balance/lib/run.mjs', 'docs/API.md', 'docs/AUDIT.md', 'docs/composer.png', 'docs/settings.png',
    ]))
    expect(await packageProblems(tarball)).toEqual([])
  })

  it('needs immer, zod and a calendar, and asks for no release of the harness', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['immer', 'temporal-polyfill', 'zod'])
    expect(manifest.peerDependencies).toBeUndefined()
  })

  it('imports nothing of the harness at run time', () => {
    const sources = files.filter(file => file.endsWith('.js')).map(file => readFileSync(join(root, file), 'utf8'))
    expect(sources.length).toBeGreaterThan(20)
    expect(sources.filter(source => /from ['"]@deepseek-ai|import\(['"]@deepseek-ai/.test(source))).toEqual([])
  })

  it.each([
    ['a linked directory', () => root],
    ['a packed tarball', () => tarball],
  ])('installs into a real profile as %s and answers a spent allowance there', async (_name, spec) => {
    await verifyOneWait(spec())
  })

  it('lets its public parts be imported without a host', async () => {
    const { classifyFailure } = await import('dsh-llm-quota-retry/classify')
    const { replay } = await import('dsh-llm-quota-retry/replay')
    expect(classifyFailure({ code: 'QUOTA', message: 'Insufficient Balance' }, { now: 0 }).kind).toBe('spent-allowance')
    expect(replay([]).entries).toEqual([])
  })
})
