/** A package, installed as a user would, lives through one wait on the real host. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expectThat } from '../../demo/support/checks.ts'
import { runHeadless } from '../../demo/support/dsh.ts'
import { makeHome } from '../../demo/support/home.ts'
import { refusals, startProvider } from '../../demo/support/provider.ts'

const PAUSE_MS = 10_000

/** The version that the registry has, or none. */
function published(spec: string): string {
  try {
    return execFileSync('npm', ['view', spec, 'version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}

/** What was published a moment ago is not at once in every copy of a registry. */
async function untilPublished(spec: string, attempts = 30): Promise<void> {
  for (let left = attempts; published(spec) === ''; left -= 1) {
    expectThat(left > 0, `no registry answers for ${spec}`)
    await pause(PAUSE_MS)
  }
}

/**
 * Installs a package into a clean home, lets a provider refuse once for a spent allowance, and looks at what came of it.
 *
 * @param spec - a tarball, or name and version of what a registry has.
 * @throws Error when the run, its requests or what the installed audit reads in its log are not as they should be.
 */
export async function verifyOneWait(spec: string): Promise<void> {
  const local = existsSync(spec)
  if (!local) await untilPublished(spec)
  const provider = await startProvider({
    name: 'a', answer: (_request, index) => index === 0 ? refusals.insufficientBalance : { kind: 'answer', text: 'here again' },
  })
  const home = await makeHome({
    profile: 'headless', providers: { a: { url: provider.url, models: ['m'] } }, defaultModel: { provider: 'a', model: 'm' },
    plugin: { spec: local ? resolve(spec) : spec, config: { longTermDelayMs: 50 } }, install: 'always',
  })
  try {
    const run = await runHeadless(home, 'say hello')
    expectThat(run.code === 0 && run.stdout.includes('here again'), `dsh ended with ${run.code}:\n${run.stdout}${run.stderr}`)
    const asked = provider.agentRequests().length
    expectThat(asked === 2, `the provider was asked ${asked} times instead of twice`)
    const audit = join(home.dir, 'profiles', 'headless', 'node_modules', '.bin', 'dsh-quota-audit')
    const told = execFileSync(audit, ['--home', home.dir], { encoding: 'utf8', env: home.env })
    expectThat(/recovered|answered/i.test(told), `the installed audit tells of no recovery:\n${told}`)
  } finally {
    await home.dispose()
    await provider.close()
  }
}
