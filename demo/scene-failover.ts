import { fileURLToPath } from 'node:url'
import { replay, timeline, timelineText } from '../src/replay.ts'
import { expectThat } from './support/checks.ts'
import { runHeadless } from './support/dsh.ts'
import { makeHome } from './support/home.ts'
import { type Answer, type RecordedRequest, refusals, startProvider } from './support/provider.ts'
import { readLog } from './support/session-log.ts'

const CHILD_TASK = 'Count the moons of Mars.'
const CHILD_ANSWER = 'Mars has two moons.'
const ANSWER = 'Done: my helper says that Mars has two moons.'
const root = fileURLToPath(new URL('..', import.meta.url))

const has = (request: RecordedRequest, text: string): boolean => JSON.stringify(request.body.messages).includes(text)

/** Provider B delegates when it is first asked, answers the child, and sums up when the child's result is there. */
function answerB(request: RecordedRequest, index: number): Answer {
  if (index === 0) {
    return { kind: 'answer', text: 'I delegate this.', toolCalls: [{ name: 'subagent', args: { description: 'count moons', prompt: CHILD_TASK, run_in_background: false } }] }
  }
  return { kind: 'answer', text: has(request, CHILD_ANSWER) ? ANSWER : CHILD_ANSWER }
}

/**
 * Provider A is out of allowance; the session moves to B of the same pool at once, and so does the child it delegates to.
 *
 * @param say - prints a line.
 */
export async function sceneFailover(say: (line: string) => void): Promise<void> {
  say('Scene 2: two providers in one pool; the balance of the first is spent.')
  await using stack = new AsyncDisposableStack()
  const a = await startProvider({ name: 'provider-a', answer: refusals.insufficientBalance })
  const b = await startProvider({ name: 'provider-b', answer: answerB })
  stack.defer(() => a.close())
  stack.defer(() => b.close())
  const home = await makeHome({
    profile: 'headless',
    providers: { 'provider-a': { url: a.url, models: ['model-a'] }, 'provider-b': { url: b.url, models: ['model-b'] } },
    defaultModel: { provider: 'provider-a', model: 'model-a' },
    plugin: {
      spec: root,
      config: { pools: { medium: { routes: [{ provider: 'provider-a', model: 'model-a' }, { provider: 'provider-b', model: 'model-b' }] } } },
    },
  })
  stack.defer(() => home.dispose())
  say('  the pool "medium" holds provider-a/model-a and provider-b/model-b; the interval stays at one hour')
  say('  running: dsh --profile headless "how many moons has Mars? delegate it"')
  const run = await runHeadless(home, 'how many moons has Mars? delegate it', {
    timeoutMs: 60_000,
    onStderr: (text) => { for (const line of text.trimEnd().split('\n')) say(`    dsh: ${line}`) },
  })
  expectThat(run.code === 0 && run.stdout.includes(ANSWER), `dsh ended with code ${run.code} and without the answer. It said:\n${run.stderr}\n${run.stdout}`)
  say(`  dsh answered after ${Math.round(run.durationMs / 100) / 10} s: "${ANSWER}"`)
  const asked = a.agentRequests().length
  expectThat(asked === 1, `provider-a should have been asked once, by the first request, and was asked ${asked} times`)
  const child = b.agentRequests().filter(request => has(request, CHILD_TASK) && !has(request, 'delegate it'))
  expectThat(child.length === 1, `the child should have been sent to provider-b once and was sent there ${child.length} times`)
  const parent = home.sessionLogs().map(path => replay(readLog(path))).find(history => history.failovers.length > 0)
  expectThat(parent?.failovers[0]?.confirmed === true, 'no session log shows a move from provider-a to provider-b')
  say('  provider-a was asked once; the delegated child began on provider-b without asking it again')
  say('  what the session log tells, replayed:')
  for (const line of timelineText(timeline(parent)).split('\n')) say(`    ${line}`)
}
