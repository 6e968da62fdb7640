/**
 * Records the golden logs of test/golden: real runs of the pinned host, one for each path, and the audit of each.
 *
 *   node scripts/record-golden.ts              record every scene anew
 *   node scripts/record-golden.ts NAME...      record these scenes
 *   node scripts/record-golden.ts --audits     only write the audits of the stored logs anew
 *
 * lib/ must be built: the host loads the plugin from it. A log is stored as the host wrote it, but for what is large
 * (the system prompt and the tools) and for paths of the machine that it was recorded on.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runHeadless, startWeb } from '../demo/support/dsh.ts'
import { type Home, type HomeOptions, makeHome, quickRetries } from '../demo/support/home.ts'
import { type Answer, type Answerer, type Provider, refusals, startProvider } from '../demo/support/provider.ts'
import { type LogRow, readLog } from '../demo/support/session-log.ts'
import { connectWeb, type WebApi } from '../demo/support/web-api.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const golden = fileURLToPath(new URL('../test/golden', import.meta.url))
const ANSWER: Answer = { kind: 'answer', text: 'Done.' }

/** What a scene has at hand. */
interface Stage {
  readonly home: Home
  readonly providers: Readonly<Record<string, Provider>>
}

/** One recorded run: its providers, its configuration, and what happens. */
interface Scene {
  readonly profile: HomeOptions['profile']
  /** By the name the host knows them under; each serves one model, `model-<letter>`. */
  readonly providers: Readonly<Record<string, { readonly answer: Answer | Answerer; readonly [setting: string]: unknown }>>
  readonly config: Readonly<Record<string, unknown>>
  readonly play: (stage: Stage) => Promise<void>
}

const refusedTimes = (count: number, refusal: Answer): Answerer => (_request, index) => index < count ? refusal : ANSWER

const headless = async ({ home }: Stage): Promise<void> => {
  const run = await runHeadless(home, 'say hello', { timeoutMs: 60_000 })
  if (home.sessionLogs().length === 0) throw new Error(`the run left no log; it said:\n${run.stderr}${run.stdout}`)
}

/** Plays in a running web host, and stops it afterwards. */
const web = (play: (api: WebApi, session: string, stage: Stage) => Promise<void>) => async (stage: Stage): Promise<void> => {
  const host = await startWeb(stage.home)
  const api = await connectWeb(host.url)
  try {
    await play(api, await api.createSession({ cwd: stage.home.cwd }), stage)
  } finally {
    api.close()
    await host.stop()
  }
}

const provider = (stage: Stage, name: string): Provider => {
  const found = stage.providers[name]
  if (found === undefined) throw new Error(`no provider ${name} in this scene`)
  return found
}

const routes = (...letters: readonly string[]) => letters.map(letter => ({ provider: `provider-${letter}`, model: `model-${letter}` }))

const scenes: Readonly<Record<string, Scene>> = {
  'recovered-wait': {
    profile: 'headless',
    providers: { 'provider-a': { answer: refusedTimes(2, refusals.insufficientBalance) } },
    config: { longTermDelayMs: 900 },
    play: headless,
  },
  'cancelled-wait-then-recovered': {
    profile: 'web',
    providers: { 'provider-a': { answer: refusals.insufficientBalance } },
    config: { longTermDelayMs: 3_600_000 },
    play: web(async (api, session, stage) => {
      await api.prompt(session, 'say hello')
      await api.event(session, event => event.type === 'llm/retry')
      await api.cancel(session)
      await api.event(session, event => event.type === 'turn/end')
      provider(stage, 'provider-a').setAnswer(ANSWER)
      await api.ask(session, 'say hello again')
    }),
  },
  'switched-off-in-a-wait': {
    profile: 'web',
    providers: { 'provider-a': { answer: refusals.tokenPlan, retryPolicy: quickRetries } },
    config: { longTermDelayMs: 3_600_000 },
    play: web(async (api, session) => {
      await api.prompt(session, 'say hello')
      await api.event(session, event => event.type === 'llm/retry' && String(event.data.policyKey).includes('llm-quota-retry'))
      await api.executeCommand(session, '/quota-retry off')
      await api.event(session, event => event.type === 'turn/end')
    }),
  },
  'failover': {
    profile: 'headless',
    providers: { 'provider-a': { answer: refusals.insufficientBalance }, 'provider-b': { answer: ANSWER } },
    config: { pools: { medium: { routes: routes('a', 'b') } } },
    play: headless,
  },
  'failover-then-wait': {
    profile: 'headless',
    providers: {
      'provider-a': { answer: refusedTimes(2, refusals.insufficientBalance) },
      'provider-b': { answer: refusals.usageLimit },
    },
    config: { longTermDelayMs: 900, exhaustedCooldownMs: 100, pools: { medium: { routes: routes('a', 'b') } } },
    play: headless,
  },
  'ordinary-401': {
    profile: 'headless',
    providers: { 'provider-a': { answer: refusals.unauthorized } },
    config: { longTermDelayMs: 900 },
    play: headless,
  },
  'ordinary-429': {
    profile: 'headless',
    providers: { 'provider-a': { answer: refusedTimes(2, refusals.rateLimited), retryPolicy: quickRetries } },
    config: { longTermDelayMs: 900 },
    play: headless,
  },
}

async function stageOf(scene: Scene, stack: AsyncDisposableStack): Promise<Stage> {
  const providers: Record<string, Provider> = {}
  const specs: HomeOptions['providers'] = {}
  for (const [name, { answer, ...settings }] of Object.entries(scene.providers)) {
    const started = await startProvider({ name, answer })
    stack.defer(() => started.close())
    providers[name] = started
    specs[name] = { url: started.url, models: [name.replace('provider', 'model')], ...settings }
  }
  const [first = ''] = Object.keys(specs)
  const home = await makeHome({
    profile: scene.profile, providers: specs, defaultModel: { provider: first, model: first.replace('provider', 'model') },
    plugin: { spec: root, config: scene.config },
  })
  stack.defer(() => home.dispose())
  return { home, providers }
}

/** A row as it is stored: without what is large, and without the machine's paths. */
function storedRow(row: LogRow, home: Home): string {
  if (row.type === 'request/header') {
    delete row.data.header.system
    delete row.data.header.tools
  }
  return JSON.stringify(row).replaceAll(dirname(home.dir), '/home/user')
}

async function record(name: string, scene: Scene): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const stage = await stageOf(scene, stack)
  await scene.play(stage)
  const [log] = stage.home.sessionLogs()
  if (log === undefined) throw new Error(`${name}: the run left no log`)
  writeFileSync(`${golden}/${name}.jsonl`, readLog(log).map(row => `${storedRow(row, stage.home)}\n`).join(''))
}

/** The audit as the command prints it; the same words on every machine. */
function audit(name: string): void {
  const run = (...options: string[]): string => execFileSync(process.execPath, ['src/audit/cli.ts', ...options, `test/golden/${name}.jsonl`],
    { cwd: root, env: { ...process.env, TZ: 'UTC' }, encoding: 'utf8' })
  writeFileSync(`${golden}/${name}.txt`, run())
  writeFileSync(`${golden}/${name}.audit.json`, run('--json'))
}

const args = process.argv.slice(2)
if (!args.includes('--audits')) {
  for (const name of args.length > 0 ? args : Object.keys(scenes)) {
    const scene = scenes[name]
    if (scene === undefined) throw new Error(`no scene ${name}; there are ${Object.keys(scenes).join(', ')}`)
    console.log(`recording ${name}`)
    await record(name, scene)
  }
}
for (const file of readdirSync(golden).sort()) {
  if (file.endsWith('.jsonl')) audit(file.slice(0, -'.jsonl'.length))
}
