import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs/API.md'), 'utf8')
const blocks = (language: string): string[] => [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(match => match[1] === language).map(match => match[2]!)

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'api-docs-'))
  copyFileSync(join(root, 'test/golden/recovered-wait.jsonl'), join(dir, 'session.jsonl'))
})
afterAll(() => { rmSync(dir, { recursive: true, force: true }) })

/** The package's own parts, from their sources. */
const fromSources = (code: string): string =>
  code.replaceAll(/'dsh-llm-quota-retry\/(\w+)'/g, (_all, part: string) => JSON.stringify(pathToFileURL(join(root, `src/${part}.ts`)).href))

describe('docs/API.md', () => {
  it.each(blocks('js').map((code, index) => [/quota-retry\/(\w+)/.exec(code)?.[1] ?? `block ${index}`, code, blocks('text')[index]!]))('%s: the code prints what the page says', (_name, code, output) => {
    const file = join(dir, 'block.mjs')
    writeFileSync(file, fromSources(code))
    expect(execFileSync(process.execPath, [file], { cwd: dir, encoding: 'utf8' })).toBe(output)
  })

  it('has code for a plugin that type-checks', () => {
    const file = join(root, 'test/examples', `api-${process.pid}.ts`)
    try {
      writeFileSync(file, blocks('ts').join('\n').replaceAll("'dsh-llm-quota-retry'", "'../../src/index.ts'"))
      writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] }, include: [], files: [file] }))
      execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(dir, 'tsconfig.json')], { cwd: root, encoding: 'utf8', stdio: 'pipe' })
    } finally {
      rmSync(file, { force: true })
    }
  })
})
