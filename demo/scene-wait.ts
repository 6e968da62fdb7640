import { fileURLToPath } from 'node:url'
import { replay, timeline, timelineText } from '../src/replay.ts'
import { expectThat } from './support/checks.ts'
import { runHeadless } from './support/dsh.ts'
import { makeHome } from './support/home.ts'
import { refusals, startProvider } from './support/provider.ts'
import { readLog } from './support/session-log.ts'

const INTERVAL_MS = 1_500
const ANSWER = 'The allowance came back, and so did I.'
const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * A provider refuses twice because the balance is spent; the run waits in the same step, asks again, and is answered.
 *
 * @param say - prints a line.
 */
export async function sceneWait(say: (line: string) => void): Promise<void> {
  say('Scene 1: one provider, its balance is spent; it refuses twice and then answers.')
  await using stack = new AsyncDisposableStack()
  const provider = await startProvider({
    name: 'provider-a',
    answer: (_request, index) => index < 2
      ? refusals.insufficientBalance
      : { kind: 'answer', text: ANSWER },
  })
  stack.defer(() => provider.close())
  say(`  a loopback provider listens on ${provider.url}`)
  const home = await makeHome({
    profile: 'headless',
    providers: { 'provider-a': { url: provider.url, models: ['model-a'] } },
    defaultModel: { provider: 'provider-a', model: 'model-a' },
    plugin: { spec: root, config: { longTermDelayMs: INTERVAL_MS } },
  })
  stack.defer(() => home.dispose())
  say(`  the plugin is installed into a throw-away home, its hourly interval shortened to ${INTERVAL_MS} ms`)
  say('  running: dsh --profile headless "say hello"')
  const run = await runHeadless(home, 'say hello', {
    timeoutMs: 60_000,
    onStderr: (text) => { for (const line of text.trimEnd().split('\n')) say(`    dsh: ${line}`) },
  })
  expectThat(run.code === 0, `dsh ended with code ${run.code} instead of 0. It said:\n${run.stderr || run.stdout}`)
  expectThat(run.stdout.includes(ANSWER), `dsh ended well but printed no answer. It said:\n${run.stdout}`)
  say(`  dsh answered after ${Math.round(run.durationMs / 100) / 10} s: "${ANSWER}"`)
  const asked = provider.agentRequests().length
  expectThat(asked === 3, `the provider should have been asked 3 times and was asked ${asked} times`)
  const [log] = home.sessionLogs()
  expectThat(log !== undefined, 'the run left no session log behind')
  const history = replay(readLog(log))
  const [entry] = history.entries
  expectThat(history.entries.length === 1 && entry !== undefined && 'reason' in entry && entry.reason === 'recovered' && entry.attempts === 2,
    'the session log does not show one recovered entry with two waits')
  say('  what its session log tells, replayed:')
  for (const line of timelineText(timeline(history)).split('\n')) say(`    ${line}`)
}
