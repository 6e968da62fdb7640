/**
 * A crash harness: the real web host is killed again and again at points that a seed chooses, while several sessions
 * wait, move, recover and are spoken to. What came of it is read from the logs and from what the providers were asked.
 *
 * The points are not times. What is counted is what reaches the disk and the providers, so a kill falls right behind a
 * write or a request, where it hurts.
 */
import { existsSync, type FSWatcher, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dsh, type Home, makeHome } from '../../demo/support/home.ts'
import { isBlockedPort } from '../../demo/support/ports.ts'
import { type Running, start } from '../../demo/support/process.ts'
import { type Answer, type Provider, refusals, startProvider } from '../../demo/support/provider.ts'
import { connectWeb, type WebApi } from '../../demo/support/web-api.ts'
import { readCrashLog, type Reading } from './crash-log.ts'
import { type Seeded, seeded } from './random.ts'

export const CONTINUATION = 'Please go on.'

const root = fileURLToPath(new URL('../..', import.meta.url))
const INTERVAL_MS = 400
const SESSIONS = 6
/** A life in which nothing happens any more is ended all the same, in ms. */
const QUIET_MS = 1_500
/** Bound of whatever is waited for in the end, in ms. */
const PATIENCE_MS = 45_000

/** Where one life of the host ends: this many events after its process began, or after it was ready. */
interface Kill { readonly from: 'spawn' | 'ready'; readonly events: number }

/** What the plugin was seen to promise and to break. */
export interface Outcome {
  readonly kills: number
  /** Sessions that were owed an answer at a kill, summed over all kills. */
  readonly owed: number
  /** Of these, not promised to be found again: the kill came before the index of waiting sessions was on the disk. */
  readonly unindexed: number
  /** Continuations in all logs. */
  readonly continued: number
  /** Messages that were on the disk at some kill. */
  readonly messages: number
  /** Messages that the harness itself lost, in sessions that did not wait: taken for a turn that a kill cut off. */
  readonly lostByHarness: number
  readonly problems: readonly string[]
}

/** One home, its host and its providers. */
export class CrashWorld {
  private readonly random: Seeded
  private readonly stack = new AsyncDisposableStack()
  private readonly listeners = new Set<() => void>()
  private sessions: string[] = []
  private readonly known = new Set<string>()
  private readonly given = new Set<string>()
  private readonly problems: string[] = []
  private home!: Home
  private providers!: readonly Provider[]
  private host: Running | undefined
  private texts = 0
  private owed = 0
  private readonly unindexed = new Set<string>()
  private kills = 0
  /** How likely a provider refuses. */
  private drought = 1

  private constructor(seed: number) {
    this.random = seeded(seed)
  }

  /**
   * Make a home with two providers.
   *
   * @param seed - decides everything that is not up to the machine.
   */
  static async make(seed: number): Promise<CrashWorld> {
    const world = new CrashWorld(seed)
    await world.setUp()
    return world
  }

  /**
   * Live and be killed, and check what is left.
   *
   * @param kills - how often.
   */
  async run(kills: number): Promise<Outcome> {
    for (let life = 0; life < kills; life += 1) await this.life()
    const inDebt = this.readings().filter(({ id, owed }) => owed && !this.unindexed.has(id))
    this.drought = 0
    const api = await this.boot()
    await this.settleDebts(inDebt)
    await this.settleQueues(api)
    const readings = this.readings()
    this.check(readings)
    api.close()
    const continued = readings.reduce((sum, { continuations }) => sum + continuations.length, 0)
    return { kills: this.kills, owed: this.owed, unindexed: this.unindexed.size, continued, messages: this.known.size, lostByHarness: this.given.size, problems: this.problems }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.host?.process.kill('SIGKILL')
    await this.host?.exited.catch(() => {})
    await this.stack.disposeAsync()
  }

  private async setUp(): Promise<void> {
    const answer = (): Answer => this.random.chance(this.drought) ? refusals.insufficientBalance : { kind: 'answer', text: 'done' }
    const [a, b] = await Promise.all(['a', 'b'].map(async (name) => {
      const provider = await startProvider({ name, answer: (request) => {
        this.happened()
        void request.closed.then(() => { this.happened() })
        return answer()
      } })
      this.stack.defer(() => provider.close())
      return provider
    })) as [Provider, Provider]
    this.providers = [a, b]
    this.home = await makeHome({
      profile: 'web',
      providers: { a: { url: a.url, models: ['m'] }, b: { url: b.url, models: ['n'] } },
      defaultModel: { provider: 'a', model: 'm' },
      plugin: {
        spec: root,
        config: {
          longTermDelayMs: INTERVAL_MS, exhaustedCooldownMs: INTERVAL_MS, resumeDelaySeconds: 0, continuation: CONTINUATION,
          pools: { both: { routes: [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' }] } },
        },
      },
    })
    this.stack.defer(() => this.home.dispose())
    this.stack.adopt<FSWatcher>(watch(this.home.dir, { recursive: true }, (_kind, name) => {
      if (name !== null && /session\.jsonl|llm_quota_retry/.test(name)) this.happened()
    }), (watcher) => { watcher.close() })
  }

  private happened(): void {
    for (const listener of [...this.listeners]) listener()
  }

  /** One life of the host, from its start to its sudden end. */
  private async life(): Promise<void> {
    this.drought = this.random.chance(0.7) ? 0.95 : 0.4
    const kill: Kill = this.random.chance(0.15) ? { from: 'spawn', events: this.random.below(12) } : { from: 'ready', events: this.random.below(60) }
    // Drawn here, so that what the machine does in between changes no later choice.
    const person = seeded(this.random.below(2 ** 31))
    this.spawn()
    if (kill.from === 'spawn') this.killAfter(kill.events)
    const api = await this.ready().catch(() => undefined)
    if (api !== undefined) {
      if (kill.from === 'ready') this.killAfter(kill.events)
      await this.speak(api, person).catch(() => {})
    }
    const { signal } = await this.host!.exited
    if (signal !== 'SIGKILL') throw new Error(`the host ended by itself:\n${this.host!.output()}`)
    api?.close()
    this.kills += 1
    this.afterKill()
    // A session of which nothing reached the disk never was.
    this.sessions = this.readings().map(({ id }) => id)
  }

  private spawn(): void {
    this.host = start(dsh, ['--profile', 'web', '--no-open', '--port', '0'], { cwd: this.home.cwd, env: this.home.env })
  }

  private async ready(): Promise<WebApi> {
    const [, url = ''] = await this.host!.waitFor(/dsh web: (http:\/\/\S+)/)
    // A port that fetch refuses: this life is of no use, and the next one gets another.
    if (isBlockedPort(Number(new URL(url).port))) {
      this.host!.process.kill('SIGKILL')
      throw new Error('a port that cannot be asked')
    }
    return connectWeb(new URL(url).origin)
  }

  private async boot(): Promise<WebApi> {
    for (let left = 3; ; left -= 1) {
      this.spawn()
      const api = await this.ready().catch(() => undefined)
      if (api !== undefined) return api
      await this.host!.exited
      if (left === 0) throw new Error(`the host does not start:\n${this.host!.output()}`)
    }
  }

  private killAfter(events: number): void {
    const { process } = this.host!
    let left = events
    const end = (): void => {
      clearTimeout(quiet)
      this.listeners.delete(count)
      process.kill('SIGKILL')
    }
    const count = (): void => {
      left -= 1
      if (left < 0) end()
      else quiet.refresh()
    }
    this.listeners.add(count)
    // The start of a host takes as long as it takes; only a life that is under way can fall quiet.
    const quiet = setTimeout(end, events === 0 ? 0 : QUIET_MS)
    void this.host!.exited.then(() => {
      clearTimeout(quiet)
      this.listeners.delete(count)
    })
  }

  /** What the person does in one life: new sessions, messages of each kind, a look ahead of time, a pool of one's own. */
  private async speak(api: WebApi, person: Seeded): Promise<void> {
    while (this.sessions.length < SESSIONS) {
      const session = await api.createSession()
      this.sessions.push(session)
      if (this.sessions.length % 2 === 0) await api.executeCommand(session, '/quota-pool off')
    }
    const idle = new Set(this.readings().filter(({ owed }) => !owed).map(({ id }) => id))
    for (const session of this.sessions.filter(id => idle.has(id))) if (person.chance(0.7)) await api.prompt(session, this.text())
    for (let act = person.below(4); act > 0; act -= 1) {
      const session = person.pick(this.sessions)
      if (person.chance(0.2)) await api.executeCommand(session, '/quota-retry now')
      else await api.prompt(session, this.text(), person.chance(0.7) ? 'queue' : 'steer')
    }
  }

  private text(): string {
    this.texts += 1
    return `message ${this.texts};`
  }

  private readings(): Reading[] {
    return this.home.sessionLogs().map(readCrashLog)
  }

  /** The journal as it is on the disk. */
  private index(): string {
    return ['llm_quota_retry', 'llm_quota_retry_spare'].map((name) => {
      const file = join(this.home.dir, 'storages', `${name}.json`)
      return existsSync(file) ? readFileSync(file, 'utf8') : ''
    }).join('')
  }

  /** What the disk says right after a kill. */
  private afterKill(): void {
    const index = this.index()
    for (const { id, owed, known, betweenQueueAndTurn } of this.readings()) {
      if (owed) this.owed += 1
      if (owed && !index.includes(id)) this.unindexed.add(id)
      else this.unindexed.delete(id)
      for (const text of known) this.known.add(text)
      // Between its two writes the harness holds a message in memory alone. Of a run that waits it is brought back;
      // an ordinary one nobody takes up.
      if (!owed) for (const text of betweenQueueAndTurn) this.given.add(text)
    }
  }

  /** Whoever was owed an answer gets one, and nobody has to ask for it. */
  private async settleDebts(inDebt: readonly Reading[]): Promise<void> {
    const open = new Set(inDebt.map(({ id }) => id))
    await this.untilSo(() => {
      for (const { id, owed } of this.readings()) if (!owed) open.delete(id)
      return open.size === 0
    })
    for (const id of open) this.problems.push(`session ${id} waited when its host was killed, and was never answered`)
  }

  /** A last word to each session sends what its queue still holds. */
  private async settleQueues(api: WebApi): Promise<void> {
    for (const session of this.sessions) await api.prompt(session, this.text())
    const last = new Set(Array.from({ length: this.sessions.length }, (_, index) => `message ${this.texts - index};`))
    await this.untilSo(() => {
      const readings = this.readings().filter(({ id }) => this.sessions.includes(id))
      return readings.every(({ queued, betweenQueueAndTurn, owed }) => queued.size === 0 && betweenQueueAndTurn.size === 0 && !owed)
        && [...last].every(text => readings.some(({ entered }) => entered.includes(text)))
    })
    for (const session of this.sessions) {
      await api.events(session).catch((error: unknown) => { this.problems.push(`the log of ${session} does not load: ${String(error)}`) })
    }
  }

  /** Look again whenever something was written, for as long as there is patience. */
  private async untilSo(holds: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearInterval(again)
        clearTimeout(patience)
        resolve()
      }
      const look = (): void => { if (holds()) end() }
      // A change of a file may be told before what it is about can be read.
      const again = setInterval(look, 250)
      const patience = setTimeout(end, PATIENCE_MS)
      look()
    })
  }

  private check(readings: readonly Reading[]): void {
    const entered = readings.flatMap(reading => reading.entered)
    for (const text of this.known) {
      const times = entered.filter(other => other === text).length
      if (times > 1) this.problems.push(`"${text}" entered the conversation ${times} times`)
      if (times === 0 && !this.given.has(text)) this.problems.push(`"${text}" was on the disk and is lost`)
    }
    for (const { id, continuations, cuts } of readings) {
      for (const [index, turn] of continuations.entries()) {
        if (!cuts.has(turn - 1)) this.problems.push(`session ${id} was continued in turn ${turn}, but the turn before it was not cut off`)
        if (continuations.indexOf(turn) !== index) this.problems.push(`session ${id} was continued twice in turn ${turn}`)
      }
    }
    this.checkRequests()
  }

  /** What the providers were asked tells the same. */
  private checkRequests(): void {
    for (const { body } of this.providers.flatMap(provider => provider.agentRequests())) {
      const found: string[] = JSON.stringify(body.messages).match(/message \d+;/g) ?? []
      const twice = found.find((text, index) => found.indexOf(text) !== index)
      if (twice !== undefined) this.problems.push(`a provider was shown "${twice}" twice in one request`)
    }
  }
}
