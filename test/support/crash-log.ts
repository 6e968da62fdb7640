/**
 * What a session log says about a run that was killed. Read here anew and apart from the plugin's own fold, which is
 * what the crash harness judges.
 */
import { readLog } from '../../demo/support/session-log.ts'

/** A message of the queue or of the conversation. */
interface Message { id: string; content?: readonly { text?: string }[]; source?: { kind?: string; plugin?: string } }

const PLUGIN = 'llm-quota-retry'
const textOf = ({ content = [] }: Message): string => content.map(({ text = '' }) => text).join('')
const isOurs = ({ source }: Message): boolean => source?.kind === 'plugin' && source.plugin === PLUGIN
const isTyped = ({ source }: Message): boolean => source?.kind === 'user'

function isOurWait({ policyKey }: { policyKey?: unknown }): boolean {
  try {
    const key: unknown = JSON.parse(String(policyKey))
    return Array.isArray(key) && key[0] === PLUGIN && key[1] === 'wait'
  } catch {
    return false
  }
}

/** One reading of one log. */
export interface Reading {
  readonly id: string
  /** Whether its run waits for allowance, or was cut off before the answer that it waited for. */
  readonly owed: boolean
  /** Texts of the person that stand in the log, in the queue or in the conversation. */
  readonly known: ReadonlySet<string>
  /** Texts of the person in the conversation, in order. */
  readonly entered: readonly string[]
  /** Texts that a turn took out of the queue and that are in the conversation not yet. */
  readonly betweenQueueAndTurn: ReadonlySet<string>
  /** Texts that wait in the queue. */
  readonly queued: ReadonlySet<string>
  /** Turns that were cut off, and continuations by the turn that they entered. */
  readonly cuts: ReadonlySet<number>
  readonly continuations: readonly number[]
  /** Turns that ended by themselves. */
  readonly completed: number
  readonly rows: number
}

class Reader {
  owed = false
  turn = 0
  completed = 0
  known = new Set<string>()
  entered: string[] = []
  taken = new Map<string, string>()
  cuts = new Set<number>()
  continuations: number[] = []
  private readonly queues: Record<string, Message[]> = { 'next-turn': [], 'next-step': [] }

  get queued(): Set<string> {
    return new Set(Object.values(this.queues).flat().filter(isTyped).map(textOf))
  }

  read(type: string, data: any): void {
    switch (type) {
      case 'turn/start':
        this.turn = data.turn
        this.taken.clear()
        return
      case 'llm/retry':
        if (isOurWait(data)) this.owed = true
        return
      case 'assistant/message':
        if (data.interrupted !== true) this.owed = false
        return
      case 'turn/end':
        this.ended(data)
        return
      case 'user/message':
        this.message(data)
        return
      case 'agent/inbox/spliced':
        this.spliced(data)
    }
  }

  private ended({ turn, reason }: any): void {
    const cut = reason.kind === 'interrupted' || (reason.kind === 'aborted' && reason.reason?.kind === 'disposed')
    if (cut) this.cuts.add(turn)
    else {
      this.owed = false
      this.completed += 1
    }
  }

  private message(message: Message): void {
    this.taken.delete(message.id)
    if (isOurs(message)) this.continuations.push(this.turn)
    if (!isTyped(message)) return
    this.known.add(textOf(message))
    this.entered.push(textOf(message))
  }

  private spliced({ target, start, removedCount = 0, inserted, outcome }: any): void {
    const removed = this.queues[target]!.splice(start, removedCount, ...inserted)
    for (const message of inserted.filter(isTyped)) this.known.add(textOf(message))
    if (outcome === undefined) for (const message of removed.filter(isTyped)) this.taken.set(message.id, textOf(message))
  }
}

/**
 * Read one session log from the disk.
 *
 * @param path - the log.
 */
export const readCrashLog = (path: string): Reading => readCrashRows(readLog(path))

/**
 * Read the rows of one session log.
 *
 * @param log - the rows, the head line first.
 */
export function readCrashRows(log: readonly any[]): Reading {
  const [head, ...rows] = log
  const reader = new Reader()
  for (const { type, data } of rows) reader.read(type, data)
  const { owed, known, entered, taken, queued, cuts, continuations, completed } = reader
  return {
    id: String(head?.['id'] ?? ''), owed, known, entered, betweenQueueAndTurn: new Set(taken.values()), queued, cuts, continuations, completed, rows: rows.length,
  }
}
