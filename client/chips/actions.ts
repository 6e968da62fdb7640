import type { RoutesReport } from '../../src/projections/routes.ts'
import type { Connection, PageContext, PageSession, RemoteCommands, SessionModels } from '../browser-host.ts'
import { CHANNEL, pageOf } from '../channel.ts'
import type { Viewer } from '../viewer.ts'

/** What the chips of one session can do. */
export interface ChipActions {
  readonly viewer: Viewer
  /** Runs a command line; resolves with what went wrong, or `null`. */
  readonly submit: (line: string) => Promise<string | null>
  /** Cancels the turn; resolves with what went wrong, or `null`. */
  readonly cancel: () => Promise<string | null>
  /** The pools as they stand; `undefined` where the host does not tell this page. */
  readonly pools: () => Promise<RoutesReport | undefined>
  /** The models of the session; `undefined` where the page has no way to pick one. */
  readonly models: () => SessionModels | undefined
}

const textOf = (error: { readonly code?: string; readonly message: string }): string =>
  error.code === undefined ? error.message : `${error.message} (${error.code})`

/**
 * What the chips of a session can do.
 *
 * @param ctx - the plugin's context.
 * @param viewer - writes times.
 * @param unknown - says that the host has no such command.
 * @param sessionId - the session.
 */
export function chipActions(ctx: PageContext, viewer: Viewer, unknown: () => string, sessionId: string): ChipActions {
  return {
    viewer,
    async pools() {
      const { rpc } = ctx.get('connection') as Connection
      const result = await rpc.call(CHANNEL, 'watch', { known: null }).catch(() => undefined)
      return result?.ok === true ? pageOf(result.value)?.page?.report : undefined
    },
    models() {
      const directories = ctx.get('modelDirectories') as { directoryFor?(id: string): SessionModels } | undefined
      try {
        return directories?.directoryFor?.(sessionId)
      } catch {
        // It knows no session by that id.
        return undefined
      }
    },
    async submit(line) {
      const { commands } = ctx.get('remote') as { readonly commands: RemoteCommands }
      const answer = await commands.execute(sessionId, line, [])
      if (!answer.ok) return textOf(answer.error)
      if (answer.value === undefined) return unknown()
      const { kind, text } = answer.value.result
      return kind === 'error' ? text ?? kind : null
    },
    async cancel() {
      const sessions = ctx.get('sessions') as { binding?(id: string): { readonly session: PageSession } | undefined } | undefined
      const session = sessions?.binding?.(sessionId)?.session
      if (session === undefined) return unknown()
      const answer = await session.cancel()
      return answer.ok ? null : textOf(answer.error)
    },
  }
}
