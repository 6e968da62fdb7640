import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import type { RetryChoice, SettingChange } from '../events/settings.ts'
import type { Config } from '../policy/config.ts'
import { goesOnAt } from '../policy/resume.ts'
import { resolveSwitch } from '../policy/settings.ts'
import { holdOf } from '../reducers/hold.ts'
import type { SessionState } from '../reducers/session.ts'
import type { SessionBook } from './book.ts'
import { liveSession } from './harness.ts'
import { recordSetting } from './records.ts'
import type { Warn } from './voice.ts'

/** Parents looked at, at most: a chain longer than this is a damaged one. */
const MAX_ANCESTORS = 64

const TITLES: Readonly<Record<SettingChange['setting'], string>> = { retry: 'quota retry', failures: 'retry', pool: 'quota pool' }

const textOf = ({ setting, value }: SettingChange): string => `${TITLES[setting]}: ${value}`

/** Writes settings that nobody typed. */
export class SettingsWriter {
  private readonly ctx: Context
  private readonly config: Config
  private readonly book: SessionBook
  private readonly warn: Warn

  /**
   * @param ctx - the plugin's context.
   * @param config - the deployment.
   * @param book - the folded sessions.
   * @param warn - told of a setting that could not be recorded once its caller had gone on.
   */
  constructor(ctx: Context, config: Config, book: SessionBook, warn: Warn) {
    this.warn = warn
    this.ctx = ctx
    this.config = config
    this.book = book
  }

  /**
   * Record a setting made by another plugin.
   *
   * @param session - the session.
   * @param change - the setting.
   */
  set(session: Session, change: SettingChange): void {
    const write = (): void => {
      if (change.setting === 'retry' && change.value === 'default') this.beforeDefault(session)
      recordSetting(session, change, `${textOf(change)}, set by another plugin`)
    }
    try {
      write()
    } catch (error) {
      // Within a `session/event` listener nobody may append; right after it everybody may.
      if (!/reenter/.test(String(error))) throw error
      queueMicrotask(() => {
        try {
          write()
        } catch (later) {
          this.warn('setting', `a setting of another plugin could not be recorded: ${String(later)}`)
        }
      })
    }
  }

  /**
   * To be called before the switch goes back to the default. Where that default is off, an open entry must end like
   * with any other way of switching off, and the log must say so by itself, for the fold knows no configuration: the
   * log gets an explicit `off` right before the `default` that clears it.
   *
   * @param session - the session.
   */
  beforeDefault(session: Session): void {
    const { entries, settings } = this.book.of(session)
    if (this.config.defaultEnabled || entries.open === null || !resolveSwitch(settings, this.config).enabled) return
    recordSetting(session, { setting: 'retry', value: 'off', inherited: false }, 'quota retry: off, the deployment\'s default')
  }

  /**
   * Have a run that the end of the host cut off stay as it is. The log says so as it says any switching off, and then what
   * the switch was.
   *
   * @param session - the session.
   * @returns whether it would have gone on by itself.
   */
  stay(session: Session): boolean {
    const state = this.book.of(session)
    if (goesOnAt(state, this.config) === undefined) return false
    const setting = holdOf(state)?.policy === 'transient' ? 'failures' : 'retry'
    const stated = state.settings[setting]
    const off = { setting, value: 'off', inherited: false } as const
    recordSetting(session, off, `${textOf(off)}, so that the run stays`)
    const back = { setting, value: (stated?.value ?? 'default') as RetryChoice, inherited: stated?.source === 'inherited' } as const
    recordSetting(session, back, `${textOf(back)}, as before`)
    return true
  }

  /**
   * Take over the settings of the nearest ancestor that states them, once, before a child's first request.
   *
   * @param agent - an agent that was just created.
   */
  inherit(agent: Agent): void {
    const { session } = agent
    const state = this.book.of(session)
    if (state.lineage.parent === null || state.settings.touched || state.lineage.started) return
    const ancestors = this.ancestors(state)
    const retry = state.settings.retry ?? ancestors.map(({ settings }) => settings.retry).find(stated => stated !== null)
    const failures = state.settings.failures ?? ancestors.map(({ settings }) => settings.failures).find(stated => stated !== null)
    const pool = state.settings.pool ?? ancestors.map(({ settings }) => settings.pool).find(stated => stated !== null)
    if (retry) this.take(session, { setting: 'retry', value: retry.value as RetryChoice, inherited: true })
    if (failures) this.take(session, { setting: 'failures', value: failures.value as RetryChoice, inherited: true })
    if (pool) this.take(session, { setting: 'pool', value: pool.value, inherited: true })
  }

  private take(session: Session, change: SettingChange): void {
    recordSetting(session, change, `${textOf(change)}, inherited`)
  }

  private ancestors(state: SessionState): SessionState[] {
    const found: SessionState[] = []
    let parent = state.lineage.parent
    while (parent !== null && found.length < MAX_ANCESTORS) {
      const session = liveSession(this.ctx, parent)
      if (session === undefined) break
      const ancestor = this.book.of(session)
      found.push(ancestor)
      parent = ancestor.lineage.parent
    }
    return found
  }
}
