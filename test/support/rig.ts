/** A real agent loop in one process: the pinned harness packages, a scripted adapter, and the plugin under test. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import AgentRegistry from '@deepseek-ai/dsh-agent'
import AgentLoop from '@deepseek-ai/dsh-agent-loop'
import CommandRuntime from '@deepseek-ai/dsh-commands'
import * as CommandInvariant from '@deepseek-ai/dsh-commands/invariant'
import Invariants from '@deepseek-ai/dsh-invariants'
import LlmRuntime, { createUserMessage, LlmAdapter, LlmError, resolveRetryPolicy } from '@deepseek-ai/dsh-llm'
import type { GenerateOptions, ResolvedRetryPolicy, RetryPolicyConfig, StreamChunk } from '@deepseek-ai/dsh-llm'
import * as LlmRetry from '@deepseek-ai/dsh-llm-retry'
import * as RetryInvariant from '@deepseek-ai/dsh-llm-retry/invariant'
import SessionStore, { SessionId } from '@deepseek-ai/dsh-session'
import * as SessionInvariant from '@deepseek-ai/dsh-session/invariant'
import SessionProjectionRegistry from '@deepseek-ai/dsh-session-projection'
import JsonlSessionPersistence from '@deepseek-ai/dsh-session-persistence-jsonl'
import Storage from '@deepseek-ai/dsh-storage'
import * as StorageDomain from '@deepseek-ai/dsh-storage-domain'
import * as StorageJson from '@deepseek-ai/dsh-storage-json'
import SubprocessLocal from '@deepseek-ai/dsh-subprocess-local'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import { vi } from 'vitest'
import * as QuotaRetry from '../../src/index.ts'
import * as QuotaInvariant from '../../src/invariant.ts'
import { refusedLater } from '../../demo/support/loads-later.ts'
import type { Clock } from '../../src/host/clock.ts'
import type { ConfigInput } from '../../src/index.ts'

export { LlmError, SessionId }

/** What the scripted provider does with one request. */
export type Script = (request: GenerateOptions, index: number) => Iterable<StreamChunk> | AsyncIterable<StreamChunk> | Error

/** An adapter that answers as a script says, and remembers what it was asked. */
export class ScriptedAdapter extends LlmAdapter {
  readonly requests: GenerateOptions[] = []
  readonly times: number[] = []
  private readonly script: Script
  private readonly policies: Record<string, RetryPolicyConfig>

  constructor(script: Script, policies: Record<string, RetryPolicyConfig> = {}) {
    super()
    this.script = script
    this.policies = policies
  }

  override providerRetryPolicy(provider: string): ResolvedRetryPolicy | undefined {
    const policy = this.policies[provider]
    return policy === undefined ? undefined : resolveRetryPolicy(policy, `rig "${provider}"`)
  }

  override async * stream(request: GenerateOptions): AsyncIterable<StreamChunk> {
    this.requests.push(request)
    this.times.push(Date.now())
    const answer = this.script(request, this.requests.length - 1)
    if (answer instanceof Error) throw answer
    yield * answer
  }

  /** The routes asked, in order. */
  get routes(): string[] {
    return this.requests.map(request => `${request.provider}/${request.model}`)
  }
}

/** A plain answer. */
export const say = (text: string): StreamChunk[] => [
  { type: 'block-start', index: 0, blockType: 'text' },
  { type: 'text-delta', index: 0, text },
  { type: 'block-end', index: 0, block: { type: 'text', text } },
  { type: 'finish', reason: { kind: 'stop' } },
]

/** A refusal for a spent allowance under the harness's own code for it. */
export const spent = (message = 'Insufficient Balance'): LlmError => new LlmError(message, 'QUOTA', { status: 402 })

/** A person's message. */
export const user = (text: string) => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } })

export interface RigOptions {
  readonly script: Script
  readonly config?: ConfigInput
  readonly providers?: readonly string[]
  readonly policies?: Record<string, RetryPolicyConfig>
  /** Kept between two rigs that share a home; made and removed by the test otherwise. */
  readonly root?: string
  readonly storage?: boolean
  /** Child processes for balance scripts, and credentials by name. */
  readonly subprocess?: boolean
  readonly credentials?: Record<string, string>
  /** The plugin's time; the harness keeps the platform's. */
  readonly clock?: Clock
  /** `false` leaves the plugin out: a host from which it was removed. */
  readonly plugin?: boolean
  /** `false` for a test that writes into its log what newer hosts refuse. */
  readonly loadsLater?: boolean
  /** `false` leaves the companion of the harness's retries out, which objects to some of what ours objects to. */
  readonly retryInvariant?: boolean
  /** Services as the plugin alone sees them, in the shape of another release, made from the real ones. */
  readonly sees?: (ctx: any) => Readonly<Record<string, unknown>>
  /** More plugins, mounted before or after ours. */
  readonly before?: (ctx: Context) => Promise<unknown>
  readonly after?: (ctx: Context) => Promise<unknown>
}

export interface Rig {
  readonly ctx: any
  readonly adapter: ScriptedAdapter
  readonly root: string
  /** Announcements of the plugin in order. */
  readonly announced: { name: string; payload: any }[]
  /** What the plugin's own companion objected to. A test that provokes an objection takes it out; any other fails on it. */
  readonly violations: string[]
  /** Lines that the plugin would have printed. */
  readonly warnings: string[]
  readonly plugin: any
  /** Load the plugin once more, after its fiber was disposed. */
  load(config?: ConfigInput): Promise<any>
  start(id?: string, route?: { provider: string; model: string }, meta?: Record<string, unknown>): Promise<any>
  command(agent: any, line: string): Promise<any>
  dispose(): Promise<void>
}

const ANNOUNCEMENTS = ['llm-quota-retry/entered', 'llm-quota-retry/failover', 'llm-quota-retry/left']

/** Our own companion. Some of what it says would be lost: the harness contains what observers of events throw. */
const companion = (violations: string[]) => ({
  name: QuotaInvariant.name,
  inject: QuotaInvariant.inject,
  apply: (inner: any) => QuotaInvariant.apply({
    invariants: {
      register: (owner: string, install: any) => inner.invariants.register(owner, Object.assign((child: Context, fail: (message: string) => never) => install(child, (message: string) => {
        violations.push(message)
        fail(message)
      }), { inject: install.inject })),
    },
  } as any),
})

/** A context that finds other services under some names. */
const seeing = (ctx: Context, services: Readonly<Record<string, unknown>>): Context => new Proxy(ctx, {
  get: (target: any, key) => {
    if (key === 'get') return (name: string) => Object.hasOwn(services, name) ? services[name] : target.get(name)
    const value = target[key]
    return typeof value === 'function' ? value.bind(target) : value
  },
})

async function mountHost(ctx: any, root: string, { storage, retryInvariant }: RigOptions, violations: string[]): Promise<void> {
  await ctx.plugin(LlmRuntime)
  await ctx.plugin(SessionStore)
  await ctx.plugin(SystemPrompt, {})
  await ctx.plugin(ToolRuntime, {})
  await ctx.plugin(AgentRegistry)
  await ctx.plugin(SessionProjectionRegistry)
  await ctx.plugin(CommandRuntime)
  await ctx.plugin(JsonlSessionPersistence, { root: join(root, 'sessions') })
  if (storage !== false) {
    await ctx.plugin(Storage)
    await ctx.plugin(StorageJson, { root: join(root, 'storages') })
    await ctx.plugin(StorageDomain, { backend: 'json' })
  }
  await ctx.plugin(Invariants)
  await ctx.plugin(CommandInvariant)
  if (retryInvariant !== false) await ctx.plugin(RetryInvariant)
  await ctx.plugin(SessionInvariant)
  await ctx.plugin(companion(violations))
  await ctx.plugin(LlmRetry)
}

/** Build a host around one scripted provider. */
export async function rig(options: RigOptions): Promise<Rig> {
  const root = options.root ?? await mkdtemp(join(tmpdir(), 'quota-rig-'))
  const ctx: any = new Context()
  const warnings: string[] = []
  const violations: string[] = []
  await mountHost(ctx, root, options, violations)
  if (options.subprocess === true) await ctx.plugin(SubprocessLocal as never)
  if (options.credentials !== undefined) ctx.provide('credentials', { resolve: async (name: string) => options.credentials?.[name] === undefined ? undefined : { value: options.credentials[name], source: 'env' } })
  await options.before?.(ctx)
  const underTest = {
    name: QuotaRetry.name,
    inject: QuotaRetry.inject,
    apply: (inner: Context, config: ConfigInput) => { QuotaRetry.apply(options.sees === undefined ? inner : seeing(inner, options.sees(ctx)), config, { sink: (line) => { warnings.push(line) }, ...options.clock === undefined ? {} : { clock: options.clock } }) },
  }
  const plugin = options.plugin === false ? undefined : await ctx.plugin(underTest, options.config)
  await options.after?.(ctx)
  await ctx.plugin(AgentLoop, { agents: [] })
  const adapter = new ScriptedAdapter(options.script, options.policies)
  ctx.llm.registerAdapter([...options.providers ?? ['a', 'b']], adapter)
  const announced: Rig['announced'] = []
  for (const name of ANNOUNCEMENTS) ctx.on(name, (payload: unknown) => { announced.push({ name: name.slice(16), payload }) })
  return {
    ctx, adapter, root, announced, violations, warnings, plugin,
    load: async (config = options.config) => await ctx.plugin(underTest, config),
    async start(id = 's1', route = { provider: 'a', model: 'm' }, meta) {
      const { agent } = await ctx.agents.create({ sessionId: SessionId(id), agentOptions: route, ...meta === undefined ? {} : { meta } })
      return agent
    },
    command: (agent, line) => ctx.commands.execute(agent, line, [], new AbortController().signal),
    async dispose() {
      await ctx.fiber.dispose()
      const refused = options.loadsLater === false ? [] : refusedLater(join(root, 'sessions'))
      if (options.root === undefined) await rm(root, { recursive: true, force: true })
      if (refused.length > 0) throw new Error(`newer hosts would not load what was logged:\n${refused.join('\n')}`)
      if (violations.length > 0) throw new Error(`invariants of the plugin were violated:\n${violations.join('\n')}`)
    },
  }
}

/** Real time, also while the clocks are faked. */
export const realNow = performance.now.bind(performance)

/** Fake the wall clock, the one that nobody sets, and their timers; I/O and microtasks stay real. */
export function fakeTime(start = Date.UTC(2026, 8, 1, 12)): void {
  vi.useFakeTimers({ now: start, toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
}

/** Let real I/O and queued work settle without moving the clock. */
export async function settle(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise(resolve => setImmediate(resolve))
}

/** Bound of real time for what is waited for, in ms: a disk under load takes as long as it takes. */
const PATIENCE_MS = 60_000

/** Wait until something is true, without moving the clock. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const start = realNow()
  while (realNow() - start < PATIENCE_MS) {
    if (condition()) return
    await new Promise(resolve => setImmediate(resolve))
  }
  throw new Error(`never happened: ${what}`)
}

/** Move the clock, firing what falls due on the way. */
export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  await settle()
}

/** Move the clock on and on until something is true. */
export async function passUntil(condition: () => boolean, what: string, stepMs = 60_000): Promise<void> {
  const start = realNow()
  while (!condition()) {
    if (realNow() - start > PATIENCE_MS) throw new Error(`never happened: ${what}`)
    await pass(stepMs)
  }
}

/** The events of one type in a session's log. */
export const eventsOf = (agent: any, type: string): any[] => agent.session.events.filter((event: any) => event.type === type)
