/**
 * A run that waits, cut at every append and every write of the journal, in every order in which they may reach the disk.
 *
 * The model is a host of one session: a log of which any prefix behind the last checkpoint may be on the disk, and an
 * index of which any write behind the last one that was waited for may be. What it takes for granted is what the harness
 * does: a request is sent only when the log up to it is on the disk, and a write of the journal takes less time than the
 * harness holds back the log (200 ms); that is why a wait is in the index when it is in the log.
 */
import { interruptedTurnClosers } from '@deepseek-ai/dsh-session'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeEvent } from '../../src/events/decode.ts'
import { POLICY, waitKey } from '../../src/events/policy-key.ts'
import { decideResume, deliveryFor, indexChange } from '../../src/policy/resume.ts'
import { foldInbox } from '../../src/reducers/inbox.ts'
import { evolve, foldSession, type SessionState } from '../../src/reducers/session.ts'
import type { Waiting } from '../../src/reducers/waiting.ts'
import { errorChunk, HOUR, NOON, SPENT } from '../support/build.ts'
import { readCrashRows } from '../support/crash-log.ts'

type Queue = 'next-turn' | 'next-step'
interface Message { id: string; content: { text: string }[]; source: object }

const HEAD = { type: 'session', version: 0, id: 's1', createdAt: NOON }
const typed = (id: string): Message => ({ id, content: [{ text: id }], source: { kind: 'user' } })

/** Something that happens in the life of a host, in order. */
type Op =
  | { readonly do: 'append'; readonly event: any }
  /** Everything appended so far is on the disk before anything else happens. */
  | { readonly do: 'checkpoint' }
  /** The index is about to be written. */
  | { readonly do: 'put'; readonly index: Waiting | undefined }
  /** Every write of the index is done before anything else happens. */
  | { readonly do: 'putsDone' }

/** What is left of a host. */
interface Disk {
  readonly log: readonly any[]
  readonly index: Waiting | undefined
}

/** One life of the host: what it finds, and everything that it does until it would end by itself. */
class Life {
  readonly ops: Op[] = []
  readonly log: any[]
  decided: 'continue' | 'stay' | 'not-indexed' = 'not-indexed'
  private state: SessionState
  private index: Waiting | undefined
  private releasing = false
  private turn: number
  private step = 0
  private retries = 0
  private readonly queues: Record<Queue, Message[]>
  private readonly choose: (limit: number) => number
  private readonly name: () => string
  /** Whether the provider answers whatever it is asked. */
  private readonly flowing: boolean

  constructor(found: Disk, choose: (limit: number) => number, name: () => string, flowing: boolean) {
    this.log = [...found.log]
    this.index = found.index
    this.choose = choose
    this.name = name
    this.flowing = flowing
    this.state = foldSession([HEAD, ...this.log])
    this.turn = this.log.findLast(({ type }) => type === 'turn/start')?.data.turn ?? 0
    const { pending } = foldInbox(this.log)
    this.queues = { 'next-turn': [...pending['next-turn'] as Message[]], 'next-step': [...pending['next-step'] as Message[]] }
  }

  live(): void {
    const waits = this.takeUp()
    const speaks = this.log.length === 0 || this.choose(4) === 0
    if (speaks) this.put('next-turn', typed(this.name()))
    if (waits && !speaks) this.deliver()
    if (waits || speaks) while (this.takeTurn()) if (this.queues['next-turn'].length + this.queues['next-step'].length === 0) return
  }

  /** The harness mends the log of a session when it is opened. */
  private open(): void {
    if (this.log.length === 0) return
    for (const event of interruptedTurnClosers(this.log)) this.append(event.type, event.data)
    this.append('session/end-seed', {})
  }

  private takeUp(): boolean {
    const waiting = this.index
    const decide = () => decideResume({ waiting: waiting!, state: this.state, archived: false, child: false, now: NOON }, { defaultEnabled: true, transient: { enabled: true } })
    const first = waiting === undefined ? undefined : decide()
    this.decided = first?.kind ?? 'not-indexed'
    if (first?.kind === 'stay') this.write(undefined)
    this.open()
    if (first?.kind !== 'continue') return false
    // Opening the session must not change the decision, or it would be opened in vain.
    expect(decide().kind).toBe('continue')
    // Whoever opens it, the person's messages are back before anything else is said.
    for (const { queue, message } of deliveryFor(foldInbox(this.log), POLICY).restore) this.put(queue, message as Message)
    return true
  }

  private deliver(): void {
    const { restore, superseded } = deliveryFor(foldInbox(this.log), POLICY)
    for (const { queue, message } of restore) this.put(queue, message as Message)
    for (const id of superseded) this.remove(id)
    this.put('next-step', { id: this.name(), content: [{ text: 'go on' }], source: { kind: 'plugin', plugin: POLICY } })
  }

  /** @returns whether the turn ended by itself. */
  private takeTurn(): boolean {
    this.turn += 1
    this.step = 0
    this.append('turn/start', { turn: this.turn })
    let target: Queue = 'next-turn'
    for (;;) {
      const messages = this.claim(target)
      this.checkpoint()
      if (messages.length === 0) break
      this.step += 1
      this.append('step/start', this.where)
      for (const message of messages) this.append('user/message', message)
      if (!this.ask()) return false
      this.append('step/end', this.where)
      if (this.queues['next-step'].length === 0) break
      target = 'next-step'
    }
    this.append('turn/end', { turn: this.turn, reason: { kind: 'completed' } })
    return true
  }

  /** @returns false when the person stopped the run. */
  private ask(): boolean {
    this.retries = 0
    for (;;) {
      this.append('request/header', { header: { config: { provider: 'a', model: 'm' } }, reason: 'initial' })
      this.checkpoint()
      if (this.flowing || this.choose(3) === 0) {
        this.append('assistant/message', { ...this.where, message: { id: this.name(), content: [], source: { kind: 'model', provider: 'a', model: 'm' } } })
        return true
      }
      this.append('assistant/chunk', { ...this.where, chunk: errorChunk(SPENT) })
      if (!this.wait()) return false
    }
  }

  private wait(): boolean {
    const key = { ...this.where, retryId: `r${this.turn}.${this.step}`, retry: this.retries += 1 }
    this.append('llm/retry', { ...key, provider: 'a', mode: 'always', policyKey: waitKey({ intervalMs: HOUR, cause: 'interval' }), delayMs: HOUR, failure: SPENT })
    this.ops.push({ do: 'putsDone' })
    this.checkpoint()
    for (let queued = this.choose(3); queued > 0; queued -= 1) this.put(this.choose(2) === 0 ? 'next-turn' : 'next-step', typed(this.name()))
    switch (this.choose(8)) {
      case 0:
        this.cancel()
        return false
      case 1:
        this.stop()
        return false
      default:
        this.append('llm/retry-started', key)
        return true
    }
  }

  /** The person stops the run. */
  private cancel(): void {
    this.clear()
    this.append('step/end', this.where)
    this.append('turn/end', { turn: this.turn, reason: { kind: 'aborted', reason: { kind: 'user' } } })
  }

  /** A supervisor stops the host, which empties the queue, and has time to write everything. */
  private stop(): void {
    this.clear()
    this.append('step/end', this.where)
    this.append('turn/end', { turn: this.turn, reason: { kind: 'aborted', reason: { kind: 'disposed' } } })
    this.checkpoint()
  }

  private get where(): { turn: number; step: number } {
    return { turn: this.turn, step: this.step }
  }

  private append(type: string, data: any): void {
    const event = { type, seq: this.log.length, time: NOON + this.log.length, data }
    this.log.push(event)
    this.ops.push({ do: 'append', event })
    const fact = decodeEvent(event)
    if (fact === undefined) return
    const before = this.state
    this.state = evolve(before, fact)
    const change = indexChange(fact, before, this.state)
    if (change?.type === 'waiting') this.write({ session: 's1', at: event.time, ...change.held })
    if (change?.type === 'released' && change.when === 'now') this.write(undefined)
    this.releasing = change?.type === 'released' ? change.when === 'stored' : this.releasing && change?.type !== 'waiting'
  }

  private checkpoint(): void {
    this.ops.push({ do: 'checkpoint' })
    if (this.releasing) this.write(undefined)
    this.releasing = false
  }

  private write(index: Waiting | undefined): void {
    this.index = index
    this.ops.push({ do: 'put', index })
  }

  private put(queue: Queue, message: Message): void {
    this.splice(queue, this.queues[queue].length, 0, [message])
  }

  private remove(id: string): void {
    for (const queue of ['next-turn', 'next-step'] as const) {
      const at = this.queues[queue].findIndex(message => message.id === id)
      if (at >= 0) this.splice(queue, at, 1, [], 'canceled')
    }
  }

  private clear(): void {
    for (const queue of ['next-step', 'next-turn'] as const) this.splice(queue, 0, this.queues[queue].length, [], 'canceled')
  }

  private claim(target: Queue): Message[] {
    const claimed = this.splice('next-step', 0, this.queues['next-step'].length, [])
    return target === 'next-step' ? claimed : [...claimed, ...this.splice('next-turn', 0, Math.min(1, this.queues['next-turn'].length), [])]
  }

  private splice(target: Queue, start: number, removedCount: number, inserted: Message[], outcome?: string): Message[] {
    if (removedCount === 0 && inserted.length === 0) return []
    this.append('agent/inbox/spliced', { target, start, ...removedCount === 0 ? {} : { removedCount }, inserted, ...outcome === undefined ? {} : { outcome } })
    return this.queues[target].splice(start, removedCount, ...inserted)
  }
}

/** The end of one life. */
interface Cut {
  readonly disk: Disk
  /** Events that the host had in memory. */
  readonly written: number
  /** The last wait of its run, as the host knew: since when, and what became of it. */
  readonly wait: Wait
}
interface Wait {
  readonly since: number
  readonly now: 'waits' | 'answered' | 'stopped'
}
const NO_WAIT: Wait = { since: Number.POSITIVE_INFINITY, now: 'answered' }

function waitAfter(wait: Wait, { type, data, time }: any): Wait {
  if (type === 'llm/retry') return wait.now === 'waits' ? wait : { since: time, now: 'waits' }
  if (type === 'turn/end' && data.reason.reason?.kind === 'user') return { ...wait, now: 'stopped' }
  return type === 'assistant/message' || (type === 'turn/end' && data.reason.kind === 'completed') ? { ...wait, now: 'answered' } : wait
}

/** What a life leaves when it is cut behind `count` of its operations: any disk that may be, as `choose` has it. */
function cutOff(found: Disk, { ops, decided }: Life, count: number, choose: (limit: number) => number): Cut {
  const log = [...found.log]
  let wait: Wait = decided === 'continue' ? { since: NOON, now: 'waits' } : NO_WAIT
  const puts: { index: Waiting | undefined; at: number }[] = [{ index: found.index, at: log.length }]
  let stored = log.length
  let put = 0
  // An event and the write of the index that it sets off are one instant.
  for (const op of ops.slice(0, ops[count]?.do === 'put' ? count + 1 : count)) {
    if (op.do === 'append') {
      log.push(op.event)
      wait = waitAfter(wait, op.event)
    }
    else if (op.do === 'checkpoint') stored = log.length
    else if (op.do === 'put') puts.push({ index: op.index, at: log.length })
    else put = puts.length - 1
  }
  // Writes of the index follow one another; those that nobody has waited for may or may not be done.
  const done = put + choose(puts.length - put)
  // A wait reaches the disk behind its index.
  const behind = puts.slice(done + 1).find(({ index }) => index !== undefined)
  const most = Math.max(stored, behind === undefined ? log.length : behind.at - 1)
  return { disk: { log: log.slice(0, stored + choose(most - stored + 1)), index: puts[done]!.index }, written: log.length, wait }
}

/** Numbers that decide; when they run out the provider answers. */
function chooser(numbers: readonly number[]): (limit: number) => number {
  let next = 0
  return limit => (numbers[next++] ?? 0) % limit
}

function judgeCut({ decided }: Life, { disk, wait, written }: Cut): void {
  const { owed } = readCrashRows([HEAD, ...disk.log])
  const knownToLog = owed && disk.log.some(({ type, time }) => type === 'llm/retry' && time >= wait.since)
  const knownToIndex = wait.now === 'waits' && disk.index !== undefined && disk.index.at >= wait.since
  // Known to the log, or to the index: either is enough, unless the person stopped the run.
  if (wait.now !== 'stopped' && (knownToLog || knownToIndex)) expect(decided).toBe('continue')
  // And only then: not when the disk has the answer or the person's word.
  if (wait.now !== 'waits' && !owed && disk.log.length === written) expect(decided).not.toBe('continue')
}

function judgeEnd(log: readonly any[], promised: ReadonlySet<string>): void {
  const { owed, entered, cuts, continuations } = readCrashRows([HEAD, ...log])
  expect(owed).toBe(false)
  expect(new Set(entered).size).toBe(entered.length)
  expect(new Set(continuations).size).toBe(continuations.length)
  for (const turn of continuations) expect(cuts).toContain(turn - 1)
  for (const text of promised) expect(entered).toContain(text)
}

/** What was promised so far, after one more cut: of a run that goes on everything, of another what the harness keeps by itself. */
function promises(before: ReadonlySet<string>, { decided }: Life, { disk, wait }: Cut): Set<string> {
  if (wait.now === 'stopped') return new Set()
  const { betweenQueueAndTurn } = readCrashRows([HEAD, ...disk.log])
  if (decided === 'continue') return new Set([...before, ...promisedBy(disk)])
  return new Set([...before].filter(text => !betweenQueueAndTurn.has(text)))
}

/** Texts that a disk holds for a run that goes on: in its queue, taken out of it by the turn that was cut off, or dropped by the end of the host. */
function promisedBy({ log }: Disk): Set<string> {
  const { dropped, claimed, pending } = foldInbox(log)
  const messages = [...dropped, ...claimed].map(({ message }) => message).concat(pending['next-turn'], pending['next-step'])
  return new Set((messages as Message[]).filter(({ source }) => (source as { kind: string }).kind === 'user').map(({ content }) => content[0]!.text))
}

describe('a run that waits, whose host is killed at any instant', () => {
  it('is never lost when the log or the index on the disk knows that it waits, never continued twice, and loses and repeats no message', () => {
    let continued = 0
    fc.assert(fc.property(fc.array(fc.array(fc.nat(999), { minLength: 2, maxLength: 60 }), { minLength: 1, maxLength: 5 }), (lives) => {
      let cut: Cut = { disk: { log: [], index: undefined }, written: 0, wait: NO_WAIT }
      let names = 0
      let promised = new Set<string>()
      for (const numbers of lives) {
        const life = new Life(cut.disk, chooser(numbers.slice(2)), () => `m${names += 1}`, false)
        life.live()
        judgeCut(life, cut)
        promised = promises(promised, life, cut)
        if (life.decided === 'continue') continued += 1
        cut = cutOff(cut.disk, life, numbers[0]! % (life.ops.length + 1), chooser(numbers.slice(1)))
      }
      const last = new Life(cut.disk, chooser([]), () => `m${names += 1}`, true)
      last.live()
      judgeCut(last, cut)
      if (last.decided === 'continue') judgeEnd(last.log, promises(promised, last, cut))
    }), { numRuns: 3_000 })
    expect(continued).toBeGreaterThan(1_000)
  })
})
