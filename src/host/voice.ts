import type { Context } from '@deepseek-ai/cordis'
import { oneLine } from '../projections/text.ts'

/** How the plugin speaks to the person who runs the host. */
export interface Voice {
  /**
   * Warn, once for each kind of trouble.
   *
   * @param kind - the kind; a second warning of it is swallowed.
   * @param message - what is degraded and how to mend it.
   */
  warn(kind: string, message: string): void
  /**
   * Say something that the person who runs the host wants to know in any case.
   *
   * @param message - one line.
   */
  say(message: string): void
  /**
   * Say what a session waits for. Only where nothing else shows it: a host with a browser page does.
   *
   * @param message - one line.
   */
  wait(message: string): void
}

/** Warn, once for each kind of trouble. */
export type Warn = Voice['warn']

/** Longest line. What it quotes of others has its own, shorter bound. */
const MAX_LINE = 2_000

/** Where lines go when nobody listens to the logger. */
export type Sink = (line: string) => void

const toStderr: Sink = (line) => { process.stderr.write(`${line}\n`) }

/**
 * Whether anything shows what is logged. The pinned host mounts no exporter: its logger keeps a buffer that nobody
 * reads, and not even that for warnings.
 */
function loggerIsHeard(ctx: Context): boolean {
  const { exporters } = ctx.logger as unknown as { exporters?: ReadonlyMap<unknown, unknown> }
  return exporters !== undefined && exporters.size > 1
}

/**
 * The voice of a plugin: the host's logger where somebody listens to it, the terminal otherwise.
 *
 * @param ctx - the plugin's context.
 * @param sink - the terminal; tests pass their own.
 */
export function createVoice(ctx: Context, sink: Sink = toStderr): Voice {
  const said = new Set<string>()
  return {
    warn(kind, text) {
      if (said.has(kind)) return
      said.add(kind)
      const message = oneLine(text, MAX_LINE)
      // The message is an argument and not the format: provider texts hold percent signs.
      ctx.logger.warn('%s', message)
      if (!loggerIsHeard(ctx)) sink(`llm-quota-retry: ${message}`)
    },
    say(text) {
      const message = oneLine(text, MAX_LINE)
      ctx.logger.info('%s', message)
      if (!loggerIsHeard(ctx)) sink(`llm-quota-retry: ${message}`)
    },
    wait(text) {
      const message = oneLine(text, MAX_LINE)
      ctx.logger.info('%s', message)
      const pageShowsIt = ctx.get('webServer' as never) !== undefined
      if (!loggerIsHeard(ctx) && !pageShowsIt) sink(`llm-quota-retry: ${message}`)
    },
  }
}
