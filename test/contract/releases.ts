/**
 * Services and events in the shapes of releases that cannot be installed here, made over the pinned host's. Each is named
 * after the source that it was written after.
 */

/**
 * `packages/session/session-persistence/src/{index,handle}.ts` of 0.1.2 to 0.2.0: snapshots, and handles to read through.
 *
 * @param real - the pinned host's service.
 */
export const sessionPersistence012 = (real: any) => ({
  list: async () => (await real.list()).map((head: any) => ({ header: head, revision: `r${head.id}`, sizeBytes: 1 })),
  open: async (id: string, access: string) => {
    if (access !== 'read') throw new Error('only reads here')
    const { meta, events } = await real.readFrom(id, 0)
    let closed = false
    const close = async (): Promise<void> => { closed = true }
    return {
      id, header: meta, access, inheritedEventCount: 0, close, [Symbol.asyncDispose]: close,
      read: async () => {
        if (closed) throw new Error('SessionHandleClosedError')
        return { eventState: 'owned', events }
      },
    }
  },
})

/** A storage of some release to come: everything in it is called otherwise. */
export const sessionPersistenceUnknown = (real: any) => ({
  list: async () => (await real.list()).map(({ id, ...head }: any) => ({ key: id, head })),
  load: real.readFrom,
})

/** `packages/session/session-controller` of 0.1.2 to 0.2.0: what cannot be opened is returned, never thrown. */
export class SessionController012 {
  /** Refusals that are still to come. */
  readonly refusals: { code: string; message: string }[]
  /** Times of the calls, epoch ms. */
  readonly calls: number[] = []
  readonly agents: { selectForNextRequest(agent: any, selection: object): void }
  private readonly ctx: any

  constructor(ctx: any, refusals: { code: string; message: string }[] = []) {
    this.ctx = ctx
    this.refusals = refusals
    // `selectForNextRequest` logs what it was told, whoever told it.
    this.agents = { selectForNextRequest: (agent, selection) => { agent.session.append('model/selection', selection) } }
  }

  async resolveAgent(id: string): Promise<{ agent: unknown } | { error: unknown }> {
    this.calls.push(Date.now())
    const error = this.refusals.shift()
    if (error !== undefined) return { error }
    return { agent: this.ctx.agents.get(id) ?? (await this.ctx.agents.resume({ resumeSessionId: id, agentOptions: { provider: 'a', model: 'm' } })).agent }
  }
}

/** `packages/core/agent` of 0.1.3 to 0.2.0: the frames of `agent/assistant-stream`. */
export const streamFrames = (agent: any, texts: readonly string[]) => [
  { agent, frame: { type: 'start', attemptId: 'x', revision: 1, turn: 1, step: 1 } },
  ...texts.map((text, index) => ({ agent, frame: { type: 'chunk', attemptId: 'x', revision: 2 + index, index: 0, time: 0, chunk: { type: 'text-delta', index: 0, text } } })),
  { agent, frame: { type: 'end', attemptId: 'x', revision: 9 } },
]

/** `packages/session/session-format-v3-to-v4/src/message-sources.ts` of 0.2.0-rc.2: what a row of format 4 is refused for. */
export function assertV4MessageSource({ source }: { readonly source?: any }): void {
  if (typeof source?.kind !== 'string' || source.kind === '' || source.kind === 'plugin') throw new Error('format v4 message requires a producer-owned source kind')
}
