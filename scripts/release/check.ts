/**
 * A tarball as it would be published: its contents and links, publint, the types, and an install with npm in an empty
 * directory, which may warn of nothing.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { contentProblems } from './contents.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** No module of Node: the browser half is a script of the page, and the other is YAML. */
const WITHOUT_TYPES = ['client', 'cordis.patch.yml']

function unpacked(tarball: string, directory: string): (file: string) => string {
  execFileSync('tar', ['-xzf', tarball, '-C', directory])
  return file => readFileSync(join(directory, 'package', file), 'utf8')
}

async function publintProblems(tarball: string, manifest: unknown): Promise<string[]> {
  const { buffer, byteOffset, byteLength } = readFileSync(tarball)
  const { messages } = await publint({ pack: { tarball: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer }, strict: true })
  return messages.map(message => `publint: ${formatMessage(message, manifest as never, { color: false }) ?? message.code}`)
}

function typesProblems(tarball: string): string[] {
  const args = [tarball, '--profile', 'esm-only', '--exclude-entrypoints', ...WITHOUT_TYPES, '--no-color']
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules', '.bin', 'attw'), args, { encoding: 'utf8' })
  return status === 0 ? [] : [`attw: ${stdout}${stderr}`]
}

/** The environment of somebody who has npm and nothing of ours. */
function plainEnv(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm|pnpm)_(?:config|package|lifecycle)_/i.test(name)))
}

/** The manifest, as far as an install is concerned. */
interface Installed { readonly name: string; readonly bin: Readonly<Record<string, string>>; readonly exports: Readonly<Record<string, unknown>> }

function installProblems(tarball: string, { name, bin, exports }: Installed, directory: string): string[] {
  writeFileSync(join(directory, 'package.json'), '{"private":true}')
  const run = (command: string, args: readonly string[]) => spawnSync(command, args, { cwd: directory, encoding: 'utf8', env: plainEnv() })
  const install = run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball])
  if (install.status !== 0) return [`npm install: ${install.stderr}`]
  const modules = Object.entries(exports).filter(([entry, target]) => typeof target === 'object' && !WITHOUT_TYPES.includes(entry.slice(2)))
    .map(([entry]) => `${name}${entry.slice(1)}`)
  const imported = run(process.execPath, ['--input-type=module', '-e', modules.map(module => `await import(${JSON.stringify(module)})`).join('\n')])
  const commands = Object.keys(bin).map(command => ({ command, ...run('npx', ['--no-install', command, '--help']) }))
  return [
    ...install.stderr.split('\n').filter(line => /warn|error/i.test(line)).map(line => `npm install: ${line}`),
    ...imported.status === 0 ? [] : [`importing ${modules.join(', ')}: ${imported.stderr}`],
    ...commands.filter(({ status }) => status !== 0).map(({ command, stderr }) => `npx ${command} --help: ${stderr}`),
  ]
}

/**
 * Everything that is wrong with a tarball.
 *
 * @param tarball - its path.
 */
export async function packageProblems(tarball: string): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'quota-check-'))
  try {
    const read = unpacked(resolve(tarball), directory)
    const files = readdirSync(join(directory, 'package'), { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name).slice(join(directory, 'package').length + 1).split(sep).join('/'))
    const manifest = JSON.parse(read('package.json')) as Installed
    const installed = mkdtempSync(join(directory, 'install-'))
    return [
      ...contentProblems(files, read), ...await publintProblems(tarball, manifest), ...typesProblems(tarball),
      ...installProblems(resolve(tarball), manifest, installed),
    ]
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
