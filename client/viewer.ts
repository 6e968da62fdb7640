import type { PageContext } from './browser-host.ts'
import { amountText, dateLanguage, durationText, nextText, timeText } from './time.ts'

/** Writes times and amounts for the person at the page. */
export interface Viewer {
  /** Language of the page, `en` or `zh`. */
  language(): string
  /** A time: of this day the time of day, else with its date. */
  time(at: number): string
  /** A time to come: in seconds where it is close. */
  next(at: number): string
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
    language: () => ctx.locale.getLocale().active,
    time: at => timeText(at, Date.now(), language()),
    next: at => nextText(at, Date.now(), language()),
    duration: ms => durationText(ms, language()),
    amount: value => amountText(value, language()),
  }
}
