import type { PageContext } from './browser-host.ts'
import { amountText, dateLanguage, durationText, fullTimeText, timeText } from './time.ts'

/** Writes times and amounts for the person at the page. */
export interface Viewer {
  time(at: number): string
  fullTime(at: number): string
  duration(ms: number): string
  amount(value: number): string
}

/**
 * The viewer of the page, in the language it is shown in now.
 *
 * @param ctx - the plugin's context.
 */
export function viewerOf(ctx: Pick<PageContext, 'locale'>): Viewer {
  const language = (): string => dateLanguage(ctx.locale.getLocale().active, navigator.languages)
  return {
    time: at => timeText(at, Date.now(), language()),
    fullTime: at => fullTimeText(at, language()),
    duration: ms => durationText(ms, language()),
    amount: value => amountText(value, language()),
  }
}
