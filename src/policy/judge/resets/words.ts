/** The words around a reset time. Every pattern is applied to a slice of at most 70 characters. */

const any = (...parts: string[]): string => parts.join('|')

/** Verbs and nouns of a reset or a retry. */
const RESET = any(
  'resets?', String.raw`refresh\w{0,3}`, String.raw`renew\w{0,3}`, String.raw`replenish\w{0,3}`, 'restored?', 'regain access', 'available again',
  'try again', String.raw`retry\w{0,3}`, 'wait', 'until', 'redefinid[oa]', String.raw`restablec\w{0,6}`, 'vuelve a intentarlo', 'intentarlo',
  'إعادة المحاولة', '将(?:在|于)', '重置', 'sıfırlan', 'yenilen', 'tekrar dene', 'thử lại', 'coba lagi', 'через', 'попробуйте', 'riprova', 'réessayez', 'réessayer', 'opnieuw',
)

/** Further ones that make a time count but do not start the hint. */
const ALSO_RESET = any(
  String.raw`reset[ _]?(?:at|in|time|s_at|s_in)`, 'available', 'remaining', 'cool[ -]?down', 'cooling', 'blocked', 'unblock', 'back (?:at|in|on)', 'restart', 'starts again', 'lifted', 'paused', 'retrydelay', 'quotaresetdelay', 'trying again', String.raw`resume\w{0,2}`, 'come back', String.raw`unlock\w{0,3}`,
  String.raw`reinici\w{0,4}`, 'tentar? novamente', String.raw`réinitialis\w{0,4}`, 'zurückgesetzt', 'erneut', 'rinnov', 'ripristin', 'обнов', 'сброс', '恢复', '刷新', '重试', '再试', '解除', '更新', '回復', 'もう一度', '갱신', 'リセット', '再試行', '초기화', '재시도',
)

/** What must stand before a time for it to be about a reset, in the same sentence. */
export const BEFORE = new RegExp(String.raw`(?:${RESET}|${ALSO_RESET})[^.!?。！？\n]{0,44}$`, 'iu')

/** The same after the time, as Chinese, Japanese and Korean have it. */
export const AFTER = /^[^.!?。！？\n]{0,6}(?:重置|恢复|刷新|后重试|後に|后再试|后恢复|にリセット|に回復|に更新|以降|후(?:에)? |에 초기화|sonra|içinde|sau\b|lagi\b|(?:from now|later)\b|until (?:reset|retry))/u

/** What a text holds in which any time counts: most refusals name none, and need not be looked through for all the ways to write one. */
export const ABOUT_TIME = new RegExp(String.raw`${RESET}|${ALSO_RESET}|後に|后再试|후|sonra|以降|from now|\|\d{10}`, 'iu')

/** What stands right before a length of time that is a delay and not the size of a window ("5-hour limit", "every 5h"). */
export const DELAY_BEFORE = new RegExp(String.raw`(?:${any(
  String.raw`\b(?:in|after|for|within|about|approximately|another|wait|em|en|dentro de|dans|nach|через)`,
  'entro', 'tra', 'fra', 'over', 'binnen', 'za', 'sau', 'trong', 'dalam', 'remaining', 'noch', 'de aquí a', '~', '≈', 'خلال', '约', '約', '还有', '剩余', '再过', '请在', '[:=] ?["\']?', 'again', 'retrying', '请等待', '等待',
)}) ?$`, 'iu')
export const DELAY_AFTER = /^ ?(?:后|後|later|以后|之后|후|sonra|içinde|sau\b|lagi|from now|remaining|until reset|to (?:go|reset))/u

/** Subject and auxiliaries that belong to the sentence of the hint. */
export const LEAD = new RegExp(String.raw`(?:${any(
  'please ', 'wait ', 'you will ', String.raw`(?:your|the) \w{1,12} will `, String.raw`your \w{1,12} \w{1,12} will `, 'it will ', 'will be ', 'will ',
  'credits ', 'access ', 'limits? to ', String.raw`your \w{1,12} `, '您的限额', 'será ', 'يمكنك ',
)})$`, 'iu')

/** Where the hint starts. */
export const KEYWORD = new RegExp(`(?:${RESET})`, 'giu')
