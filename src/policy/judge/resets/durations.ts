/** Lengths of time as providers write them: "3h20m", "5 days 22 hours", "3小时20分钟", "62056 ثواني". */

/** Unit words, longest first within a language, and their length in ms. */
const UNITS: readonly (readonly [string, number])[] = [
  ['milliseconds?|msecs?|ms|毫秒', 1],
  ['seconds?|secs?|s|segundos?|secondes?|sekunden?|secondi|秒钟?|초|ثواني|ثانية|ثوان|секунд[аы]?', 1_000],
  ['minutes?|mins?|m|minutos?|minuten?|minuti|分钟|分鐘|分|분|دقيقة|دقائق|минут[аы]?', 60_000],
  ['hours?|hrs?|h|horas?|heures?|stunden?|ore|小时|小時|时|時間|시간|ساعة|ساعات|час(?:ов|а)?', 3_600_000],
  ['days?|d|dias?|días?|jours?|tage?n?|giorni|天|日|일|يوم|أيام|дн(?:ей|я)|день', 86_400_000],
  ['weeks?|wks?|w|semanas?|semaines?|wochen?|周|週間?|주', 604_800_000],
]

const UNIT_WORDS = UNITS.map(([words]) => words).join('|')

/** One "<number> <unit>"; the unit must not run on into a longer Latin word ("5 models"). */
const PIECE = String.raw`(\d{1,12}(?:\.\d{1,12})?) ?(?:${UNIT_WORDS})(?![a-zà-ÿ])`
const PIECE_AT_END = new RegExp(String.raw`^ ?(?:,|and|e|y|et|und)? ?(\d{1,12}(?:\.\d{1,12})?) ?(${UNIT_WORDS})(?![a-zà-ÿ])`, 'iu')

/** Finds where a length of time starts. */
export const DURATION_START = new RegExp(PIECE, 'giu')

const unitMs = (word: string): number => UNITS.find(([words]) => new RegExp(`^(?:${words})$`, 'iu').test(word))?.[1] ?? 0

/**
 * Reads a length of time that starts at the beginning of `text`.
 * @returns its length in ms and how many characters it took, or undefined
 */
export const readDuration = (text: string): { readonly ms: number, readonly length: number } | undefined => {
  let ms = 0
  let length = 0
  for (let piece = 0; piece < 6; piece += 1) {
    const match = PIECE_AT_END.exec(text.slice(length, length + 60))
    if (match === null || (piece === 0 && /^\D/.test(match[0]))) break
    ms += Number(match[1]) * unitMs(match[2] ?? '')
    length += match[0].length
  }
  return length === 0 ? undefined : { ms, length }
}
