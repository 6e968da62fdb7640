import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runHeadless } from '../../demo/support/dsh.ts'
import { binDir, makeHome } from '../../demo/support/home.ts'
import { refusals, startProvider } from '../../demo/support/provider.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
let dir: string
let tarball: string
let files: string[]

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'quota-pack-'))
  const out = execFileSync(join(binDir, 'pnpm'), ['pack', '--config.ignore-scripts=true', '--json', '--pack-destination', dir], { cwd: root, encoding: 'utf8' })
  const packed = JSON.parse(out.slice(out.indexOf('{')))
  tarball = packed.filename
  files = packed.files.map((file: { path: string }) => file.path)
})
afterAll(() => { rmSync(dir, { recursive: true, force: true }) })

describe('the package', () => {
  it('holds what the host loads and nothing of the checkout besides', () => {
    expect(files).toEqual(expect.arrayContaining([
      'CHANGELOG.md', 'LICENSE', 'README.md', 'cordis.patch.yml', 'package.json',
      'lib/index.js', 'lib/index.d.ts', 'lib/classify.js', 'lib/classify.d.ts', 'lib/replay.js', 'lib/replay.d.ts', 'lib/invariant.js', 'lib/invariant.d.ts', 'lib/audit/cli.js', 'lib/audit/zstddec.LICENSE.txt',
      'balance/index.json', 'balance/README.md', 'balance/deepseek.mjs', 'balance/lib/run.mjs',
    ]))
    const allowed = /^(?:lib\/.+\.(?:js|d\.ts)|lib\/audit\/zstddec\.LICENSE\.txt|balance\/.+\.(?:mjs|json|md)|CHANGELOG\.md|LICENSE|README\.md|cordis\.patch\.yml|package\.json)$/
    expect(files.filter(file => !allowed.test(file))).toEqual([])
  })

  it('needs immer and zod, and asks for no release of the harness', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['immer', 'zod'])
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
    await using stack = new AsyncDisposableStack()
    const provider = await startProvider({
      name: 'a',
      answer: (_request, index) => index < 1 ? refusals.insufficientBalance : { kind: 'answer', text: 'here again' },
    })
    stack.defer(() => provider.close())
    const home = await makeHome({
      profile: 'headless',
      providers: { a: { url: provider.url, models: ['m'] } },
      defaultModel: { provider: 'a', model: 'm' },
      plugin: { spec: spec(), config: { longTermDelayMs: 50 } },
    })
    stack.defer(() => home.dispose())
    const run = await runHeadless(home, 'say hello', { timeoutMs: 60_000 })
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('here again') })
    expect(provider.agentRequests()).toHaveLength(2)
  })

  it('lets its public parts be imported without a host', async () => {
    const { classifyFailure } = await import('dsh-llm-quota-retry/classify')
    const { replay } = await import('dsh-llm-quota-retry/replay')
    expect(classifyFailure({ code: 'QUOTA', message: 'Insufficient Balance' }, { now: 0 }).kind).toBe('spent-allowance')
    expect(replay([]).entries).toEqual([])
  })
})
