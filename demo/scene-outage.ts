import { fileURLToPath } from 'node:url'
import { replay, timeline, timelineText } from '../src/replay.ts'
import { expectThat } from './support/checks.ts'
import { runHeadless } from './support/dsh.ts'
import { makeHome } from './support/home.ts'
import { refusals, startProvider } from './support/provider.ts'
import { readLog } from './support/session-log.ts'

const ANSWER = 'The provider is up again, and so am I.'
/** The harness asks once and then five times more; two tries after that fail, and the third is answered. */
const FAILURES = 8
const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * A provider is down for longer than the harness retries; the step is tried on, and answered.
 *
 * @param say - prints a line.
 */
export async function sceneOutage(say: (line: string) => void): Promise<void> {
  say(`Scene 3: a provider is down; it answers ${FAILURES} requests with a 503, which is two more than the harness makes.`)
  await using stack = new AsyncDisposableStack()
  const provider = await startProvider({
    name: 'provider-a',
    answer: (_request, index) => index < FAILURES ? refusals.overloaded : { kind: 'answer', text: ANSWER },
  })
  stack.defer(() => provider.close())
  const home = await makeHome({
    profile: 'headless',
    providers: { 'provider-a': { url: provider.url, models: ['model-a'] } },
    defaultModel: { provider: 'provider-a', model: 'model-a' },
    plugin: { spec: root, config: { transient: { curve: 'fresh', initialDelayMs: 500 } } },
  })
  stack.defer(() => home.dispose())
  say('  the delays of the tries are shortened: they begin at half a second instead of going on where the harness ended')
  say('  running: dsh --profile headless "say hello"')
  const run = await runHeadless(home, 'say hello', { timeoutMs: 120_000 })
  expectThat(run.code === 0, `dsh ended with code ${run.code} instead of 0. It said:\n${run.stderr || run.stdout}`)
  expectThat(run.stdout.includes(ANSWER), `dsh ended well but printed no answer. It said:\n${run.stdout}`)
  say(`  dsh answered after ${Math.round(run.durationMs / 100) / 10} s: "${ANSWER}"`)
  const asked = provider.agentRequests().length
  expectThat(asked === FAILURES + 1, `the provider should have been asked ${FAILURES + 1} times and was asked ${asked} times`)
  const [log] = home.sessionLogs()
  expectThat(log !== undefined, 'the run left no session log behind')
  const history = replay(readLog(log))
  expectThat(history.entries.length === 0, 'an outage was taken for a spent allowance')
  const lines = timelineText(timeline(history)).split('\n')
  expectThat(lines.some(line => line.includes('try 3 of this step')), `the session log does not show the third try:\n${lines.join('\n')}`)
  say('  what its session log tells, replayed:')
  for (const line of lines) say(`    ${line}`)
}
