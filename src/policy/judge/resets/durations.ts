/** Lengths of time as providers write them: "3h20m", "5 days 22 hours", "3小时20分钟", "62056 ثواني", "07:01:20". */

/** Unit words, longest first within a language, and their length in ms. */
const UNITS: readonly (readonly [string, number])[] = [
  ['milliseconds?|millis|msecs?|ms|毫秒', 1],
  ['seconds?|secs?|s|segundos?|secondes?|sekunden?|sekund[ya]?|secondi|seconden|saniye|giây|detik|秒钟?|초|ثواني|ثانية|ثوان|секунд[аы]?|วินาที|सेकंड', 1_000],
  ['minutes?|mins?|m|minutos?|minuten?|minuti|minut[ya]?|minuut|dakika|dk|phút|menit|分钟|分鐘|分|분|دقيقة|دقائق|минут[аы]?|хвилин\\p{L}?|นาที|मिनट', 60_000],
  ['hours?|hrs?|h|horas?|heures?|stunden?|std|ore|ora|uur|uren|saat|sa|giờ|jam|godzin[ay]?|小时|小時|个小时|时|時間|時|시간|ساعة|ساعات|час(?:ов|а)?|годин\\p{L}?|ชั่วโมง|घंटे', 3_600_000],
  ['days?|d|dias?|días?|jours?|tage?n?|giorn[io]|dag(?:en)?|gün|ngày|hari|dni|dzień|天|日|일|يوم|أيام|дн(?:ей|я)|день|วัน|दिन', 86_400_000],
  ['weeks?|wks?|w|semanas?|semaines?|wochen?|settiman[ae]|weken|hafta|tuần|minggu|tygodni\\p{L}{0,2}|周|週間?|주|недел\\p{L}{1,2}|สัปดาห์', 604_800_000],
  ['months?|meses|mes|mois|monate?n?|mesi|maand(?:en)?|ay|tháng|bulan|个月|か月|ヶ月|개월|месяц\\p{L}{0,2}', 30 * 86_400_000],
]

const UNIT_WORDS = UNITS.map(([words]) => words).join('|')
const UNIT_OF = UNITS.map(([words, ms]) => [new RegExp(`^(?:${words})$`, 'iu'), ms] as const)

/** One "<number> <unit>"; the unit must not run on into a longer word of letters ("5 models"). */
const PIECE = String.raw`(\d{1,12}(?:\.\d{1,12})?)[ -]?(?:${UNIT_WORDS})(?![a-zà-ÿğışçöüа-яđ])`
const PIECE_AT_END = new RegExp(String.raw`^ ?(?:,|and|e|y|et|und|ve|и|và|dan|i|en)? ?(\d{1,12}(?:\.\d{1,12})?)[ -]?(${UNIT_WORDS})(?![a-zà-ÿğışçöüа-яđ])`, 'iu')

/** "7:01:20" and "07:01:20", hours first; a length only where words say so. */
const CLOCKED = /^(\d{1,3}):([0-5]\d):([0-5]\d)(?![\d:])/u

/** Finds where a length of time starts. */
export const DURATION_START = new RegExp(String.raw`(?<![\d.:/-])\d{1,3}:[0-5]\d:[0-5]\d(?![\d:])|${PIECE}`, 'giu')

const unitMs = (word: string): number => UNIT_OF.find(([words]) => words.test(word))?.[1] ?? 0

/** A length of time, and how many characters it takes. */
export interface ReadDuration {
  readonly ms: number
  readonly length: number
  /** Written as a clock shows it: it could also be a time of day. */
  readonly clocked: boolean
}

/**
 * Reads a length of time that starts at the beginning of `text`.
 *
 * @returns the length, or undefined.
 */
export function readDuration(text: string): ReadDuration | undefined {
  const clocked = CLOCKED.exec(text)
  if (clocked !== null) {
    const [whole, hours, minutes, seconds] = clocked
    return { ms: ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000, length: whole.length, clocked: true }
  }
  let ms = 0
  let length = 0
  for (let piece = 0; piece < 6; piece += 1) {
    const match = PIECE_AT_END.exec(text.slice(length, length + 60))
    if (match === null || (piece === 0 && /^\D/.test(match[0]))) break
    ms += Number(match[1]) * unitMs(match[2] ?? '')
    length += match[0].length
  }
  return length === 0 ? undefined : { ms, length, clocked: false }
}
