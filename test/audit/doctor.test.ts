import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runDoctor } from '../../src/audit/doctor/doctor.ts'
import { audit, scratch } from './helpers.ts'

const PACKAGE = 'dsh-llm-quota-retry'
const settings = 'llm-pi-ai:\n  providers:\n    zai: { models: [glm-4.6, { id: glm-4.7 }] }\n    open: {}\n'
const pool = (routes: string): string => `- id: llm-quota-retry\n  config:\n    pools: { p: { routes: [${routes}] } }\n`

/** A home as `dsh plugin add` leaves it, with what a test puts over it. */
function home(dir: string, over: Readonly<Record<string, string>> = {}): string {
  const files = {
    'settings.yaml': settings,
    'profiles/web/package.json': JSON.stringify({ dependencies: { [PACKAGE]: '0.1.0' } }),
    [`profiles/web/node_modules/${PACKAGE}/package.json`]: JSON.stringify({ name: PACKAGE, version: '0.1.0' }),
    [`profiles/web/node_modules/${PACKAGE}/lib/index.js`]: '',
    'profiles/web/cordis.patch.yml': '[]\n',
    ...over,
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), content)
  }
  return dir
}

async function visit(dir: string, runBalances = false): Promise<{ code: number; out: string }> {
  let out = ''
  const code = await runDoctor({ home: dir, runBalances }, (text) => { out += text })
  return { code, out }
}

describe('the doctor', () => {
  it('finds nothing wrong with a sound home, and says what it looked at', async () => {
    using place = scratch()
    const { code, out } = await visit(home(place.dir, { 'profiles/web/cordis.patch.yml': pool('{ provider: zai, model: glm-4.7 }, { provider: open, model: x }') }))
    expect([code, out]).toEqual([0, expect.stringContaining('Nothing is wrong.')])
    expect(out).toMatch(/plugin is installed, version 0\.1\.0[^]*configuration is valid[^]*route zai\/glm-4\.7 is configured[^]*there is no journal yet/)
  })

  it.each<readonly [string, Record<string, string>, RegExp]>([
    ['no such key', { 'profiles/web/cordis.patch.yml': '- id: llm-quota-retry\n  config: { longTermDelay: 5 }\n' }, /WRONG .*longTermDelay[^]*-> mend the key/],
    ['a row for all profiles that wins', { 'cordis.patch.yml': '- id: llm-quota-retry\n  config: { longTermDelayMs: -1 }\n' }, /WRONG .*longTermDelayMs/],
    ['a row of another id', { 'profiles/web/cordis.patch.yml': '- id: quota-retry\n  config: {}\n' }, /WRONG .*id "quota-retry", which nothing reads/],
    ['no YAML', { 'profiles/web/cordis.patch.yml': '- id: [\n' }, /WRONG .*it is no YAML/],
    ['a model that is not there', { 'profiles/web/cordis.patch.yml': pool('{ provider: zai, model: nosuch }') }, /WRONG .*zai\/nosuch: the provider lists no such model/],
    ['another plugin for the same job', { 'profiles/web/package.json': JSON.stringify({ dependencies: { [PACKAGE]: '0.1.0', 'dsh-reconnect': '1' } }) }, /WRONG .*dsh-reconnect also retries/],
    ['a link that leads nowhere', { 'profiles/web/package.json': '{"dependencies":{}}', 'profiles/x/package.json': JSON.stringify({ dependencies: { [PACKAGE]: 'link:../gone' } }) }, /WRONG .*profile x: the plugin is named/],
    ['a profile without it', { 'profiles/web/package.json': '{}' }, /WRONG .*mounted in no profile/],
    ['a damaged journal', { 'storages/llm_quota_retry.json': '{"tables":' }, /WRONG .*the journal is damaged[^]*move the file away/],
    ['no journal at all', { 'storages/llm_quota_retry.json': '{}' }, /WRONG .*this is no journal/],
  ])('%s: says so, and what to do', async (_name, over, words) => {
    using place = scratch()
    const { code, out } = await visit(home(place.dir, over))
    expect(out).toMatch(words)
    expect(code).toBe(1)
  })

  it('says whose the journal is', async () => {
    using place = scratch()
    const stored = (pid: number): string => JSON.stringify({ tables: { journal: { owner: { records: [{ type: 'hostStarted', pid, at: 0 }] } } } })
    expect((await visit(home(place.dir, { 'storages/llm_quota_retry.json': stored(process.pid) }))).out).toContain(`process ${process.pid} since 1970-01-01T00:00:00.000Z, and a process`)
    expect((await visit(home(place.dir, { 'storages/llm_quota_retry.json': stored(2 ** 30) }))).out).toContain('which does not run here')
  })

  it('runs balance scripts only when it is asked to, and shows nothing that they print', async () => {
    using place = scratch()
    const script = (name: string, body: string): string => {
      const file = place.put(name, `#!/bin/sh\n${body}\n`)
      chmodSync(file, 0o755)
      return file
    }
    const balance = (provider: string, file: string): string => `{ provider: ${provider}, script: ["${file}"] }`
    const row = `${pool('{ provider: zai, model: glm-4.6 }, { provider: open, model: x }')}    balances: [${balance('zai', script('good', `touch ${place.dir}/ran; echo '{"remaining": 5}'`))}, ${balance('open', script('bad', 'echo sk-secret >&2; exit 3'))}]\n`
    home(place.dir, { 'profiles/web/cordis.patch.yml': row })
    const quiet = await visit(place.dir)
    expect([quiet.code, quiet.out]).toEqual([0, expect.stringContaining('2 balance scripts were not run')])
    const { code, out } = await visit(place.dir, true)
    expect(out).toMatch(/balance of zai: it answers[^]*WRONG .*balance of open: it ended with 3/)
    expect([code, out.includes('sk-secret')]).toEqual([1, false])
  })

  it('is an option of the command', async () => {
    using place = scratch()
    home(place.dir)
    const { code, out, err } = await audit(['--doctor', '--home', place.dir])
    expect([code, err, out.startsWith(`Home: ${place.dir}\n`)]).toEqual([0, '', true])
    expect((await audit(['--doctor', 'x'])).code).toBe(2)
    expect((await audit(['--run-balances', 'x'])).code).toBe(2)
  }, 60_000)
})
