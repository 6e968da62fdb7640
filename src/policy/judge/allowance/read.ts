import { ALL_GONE, COUNTED, GONE, LIMIT, MONEY, OVER, PLAN, QUOTA, UNPAID } from './terms.ts'

/** What of an allowance a text says is gone: a `usage` limit is one that names a plan or a window, a `limit` has any other name. */
export type Gone = 'money' | 'plan' | 'usage' | 'quota' | 'limit' | 'counted'

/** A stretch of a clause. */
interface Span {
  readonly start: number
  readonly end: number
}

/** Words may stand between the noun and its verb, so many characters of them at most. */
const GAP = 60
/** Fewer between what is counted and its verb: it is no allowance by its name. */
const COUNTED_GAP = 24
/** So many limits of one clause are looked at: each looks at the whole of it. */
const MOST_LIMITS = 8

/** Sentences, and what is set apart inside one; the codes of a failure are set apart the same way. */
const CLAUSE = /["']\s?[,}]|[;!?\n。！？；·•|]|\.(?=\s|$)|\s[-–—]\s/u

const spansOf = (pattern: RegExp, clause: string): Span[] => [...clause.matchAll(pattern)].map(({ 0: found, index }) => ({ start: index, end: index + found.length }))

/** Whether any of one lies near any of the other, before or after. Both are in order, so one walk finds it. */
function near(nouns: readonly Span[], verbs: readonly Span[], gap = GAP): readonly [Span, Span] | undefined {
  let first = 0
  for (const noun of nouns) {
    while (first < verbs.length && verbs[first]!.end + gap < noun.start) first += 1
    const verb = verbs[first]
    if (verb !== undefined && verb.start <= noun.end + gap) return [noun, verb]
  }
  return undefined
}

/**
 * What denies that something is gone, in the clause that says it: a negation, a condition, a share, a thing that was not
 * taken, a question, an echo of what somebody else said.
 */
const DENIED = new RegExp([
  String.raw`\b(?:not|never|neither)\b (?:yet |been |be |currently |have |yet been )*(?:reached|exceeded|exceed|hit|exhausted|affected|used up|depleted|over|consumed|empty|related|caused)`,
  String.raw`n't (?:yet |been |be |have )*(?:reached|exceeded|hit|exhausted|affected|used up|depleted|consumed)`, String.raw`\b(?:does|do|will) not count\b`, String.raw`\bno (?:\w+ )?(?:credits?|quota|usage|tokens?|balance|requests?|messages?|funds)\b.{0,24}\b(?:deducted|consumed|charged|used|spent|billed|taken|lost|counted|debited|burned)\b`,
  String.raw`\b(?:credits?|quota|usage|tokens?|balance)\b.{0,24}\b(?:was|were|are|is|has|have)(?:n't| not)(?: been)? (?:deducted|consumed|charged|used|spent|billed|debited)`, String.raw`\b(?:refunded|restored|returned) to\b`,
  String.raw`\b(?:if|when|whether|once|unless|until|after|before|in case) (?:you(?:'ve|r)?|the|this|its?|we|they)\b.{0,40}\b(?:reach|exceed|hit|exhaust|run out|deplet|used up|resets?)`, String.raw`\b(?:close to|near|nearing|approaching|about to|avoid|prevent|before)\b.{0,40}\b(?:limit|quota|reach|exceed|hitting)`,
  String.raw`\breached \d{1,2} ?%`, String.raw`(?:limit|quota|balance|exceeded|exhausted)\w{0,24}["']? ?[:=] ?["']?false\b`, String.raw`failed to (?:check|determine|verify|read|fetch|load|get)`, String.raw`(?:unable|could not|cannot) (?:to )?(?:check|determine|verify|read|fetch|load)`, 'input value=', 'input_value=', String.raw`must be (?:a )?boolean`, String.raw`\bin text "`,
  String.raw`\b(?:property|parameter|field|argument|schema|variable|column|key) ["'\x60]\w`,
  '尚未', '(?:未|没有|沒有|并未|不会)(?:被)?(?:用完|用尽|超出|超过|达到|扣|消耗|耗尽)', '(?:未|没有)扣', '(?:達して|超えて|消費されて|使われて|差し引かれて)い(?:ません|ない)', '(?:초과|도달|소진|차감|사용)(?:하지|되지) ?않', 'nicht (?:überschritten|erreicht|verbraucht|abgezogen|belastet)', String.raw`\bno (?:se )?(?:ha|han|hay) (?:sido )?(?:alcanz|super|exced|consum|descont|cobr)`, String.raw`\bnão (?:foi|foram|atingi|exced|consum|cobr)`, String.raw`n'(?:a|ont) (?:pas|été)`, String.raw`\bне (?:был|исчерп|превыш|спис)`,
].join('|'), 'u')

/** Words in front of "limit" that make it one of speed, or of the size of a request: no allowance. */
const OTHER_LIMIT = new RegExp(String.raw`(?:\b(?:rate|requests?|throttl\w{1,4}|server|engine|cluster|system|service|upstream|speed|frequency|concurren\w{1,5}|burst|throughput|connections?|parallel|retry|retries|redirect|qps|rpm|tpm|speed|tps|context|length|size|input|output|prompt|char(?:acter)?s?|file|upload|page|time|timeout|memory|depth|recursion|row|attachment|image|images|conversation|chat length|model|model's|max|maximum|min|minimum|safety|message size|body|payload|header|tool|tools|step|steps|turn|iteration|iterations|stack|open files?|age|storage|disk|word|line|thread|process)|レート|频率|速率|并发|並發|长度|字符|文件|大小|同時|並行|頻度|文字数|동시|속도|길이|크기|velocidad|velocidade|débit|taux|concorr|concurr|tamanho|tamaño|caracter|zeichen|längen|größen|raten|скорост|одновремен|(?:请求|访问|リクエスト|요청)(?:次数|数|量)?) ?(?:超过|达到|已达到?|超出|超)?(?:了)?$`, 'u')
/** Behind it. */
const OTHER_LIMIT_AFTER = /^s? (?:of|for|on) (?:\d+ )?(?:the )?(?:context|concurren|input|output|characters|files?|tools?|images?|bytes|mb\b|kb\b|speed|rate)|^ \d+ ?(?:characters|chars|bytes|kb|mb)|^(?:文字|字符)/u
/** A window that is an allowance's. */
const LONG_NAMED = /\b(?:daily|weekly|monthly|hourly|yearly|annual|session|per (?:day|week|month|hour)|\d+ ?(?:hours?|hrs?|h|days?)|today|this (?:week|month)|tpd|rpd)\b|每[日天周月]|[今当当本][日天周月]|日額|日次|週|月間|月度|일일|주간|월간|오늘|이번|diári|diari|mensal|mensual|mensil|mensuel|semanal|settimanal|hebdo|täglich|wöchentlich|monatlich|günlük|aylık|haftalık|saatlik|в день|в месяц|ежедневн|месячн|суточн|hôm nay|hàng (?:ngày|tháng|tuần)|harian|bulanan|mingguan|dzienn|miesięczn/u

/** Whose a bare limit is: "your limit", "you have reached the limit". */
const OWNED = /\b(?:your|you've|you have|you are|you're|account|org(?:anization)?|team|workspace|plan|subscription|user|free|tier)\b|您|你|あなた|ご利用|귀하|사용자|você|seu|usted|su |vous|votre|ihr|sie |ваш|вы /u

/** Words in front of "limit" that name a plan, its use or its money. */
const USAGE_NAMED = /\b(?:usage|plan|subscription|trial|free|premium|paid|spend(?:ing)?|cost|billing|credits?|budget|quota|account|team|org(?:anization)?|messages?|fair use|inference|allowance|generation|prompt usage)\b(?: \w+)? ?$|使用|用量|消费|支出|套餐|订阅|免费|次数|额度|利用|ご利用|無料|プラン|メッセージ|사용|이용|구독|무료|요금제|메시지|(?:d[eo]|del?|d'|di) (?:uso|usage|utilisation|utilizzo|utiliza|gast|créd|cred|mens)|nutzungs|nachrichten|ausgaben|monats|wochen|tages|использован|kullanım|mesaj|الاستخدام/u

/** A name in front of the limit: "Fable limit", "5-hour limit", "Clinepass limit". One word, or two. */
const NAMED = /[\p{L}\p{N}'’+-]{2,40} ?$/u
const NO_NAME = /\b(?:the|a|an|this|that|its|any|some|no|of|is|was|has|and|or|to|over|max|hit|exceeded|reached|exceeds?)\b ?$/u

/** What limit it is that is gone: none, where it is one of speed or size. */
function limitOf(clause: string, limit: Span): 'usage' | 'limit' | undefined {
  const before = clause.slice(Math.max(0, limit.start - 48), limit.start)
  const after = clause.slice(limit.end, limit.end + 24)
  const named = USAGE_NAMED.test(`${before}`) || USAGE_NAMED.test(clause.slice(limit.start, limit.end)) || /^s? (?:of|for|on) (?:your|the|this) (?:plan|subscription|account|billing)/u.test(after)
  if (LONG_NAMED.test(clause) || (named && !OTHER_LIMIT.test(before))) return 'usage'
  if (OTHER_LIMIT.test(before) || OTHER_LIMIT_AFTER.test(after)) return /\b(?:trial|free|premium|plan|subscription|api total)\b/u.test(before) ? 'usage' : undefined
  if (/\btokens? ?$/u.test(before) && !OWNED.test(clause)) return undefined
  return OWNED.test(clause) || (NAMED.test(before) && !NO_NAME.test(before)) || /[^\x00-\x7f]/u.test(clause) ? 'limit' : undefined
}

/** What one clause says is gone. */
function readClause(given: string): Gone | undefined {
  if (given.length < 3 || DENIED.test(given)) return undefined
  const clause = given.replace(/(?<=[\p{L}\p{N}])[-_‑](?=[\p{L}\p{N}])/gu, ' ')
  if (DENIED.test(clause)) return undefined
  const gone = spansOf(GONE, clause)
  if (near(spansOf(PLAN, clause), spansOf(OVER, clause)) !== undefined) return 'plan'
  if (gone.length > 0) {
    if (near(spansOf(MONEY, clause), gone) !== undefined) return 'money'
    const limits = spansOf(LIMIT, clause).filter(limit => near([limit], gone) !== undefined).slice(0, MOST_LIMITS).map(limit => limitOf(clause, limit))
    const limit = limits.find(found => found === 'usage') ?? limits.find(found => found !== undefined)
    if (limit !== undefined && !(limit === 'limit' && near(spansOf(QUOTA, clause), gone) !== undefined)) return limit
    if (near(spansOf(QUOTA, clause), gone) !== undefined) return 'quota'
  }
  const allGone = spansOf(ALL_GONE, clause)
  if (allGone.length > 0 && near(spansOf(COUNTED, clause), allGone, COUNTED_GAP) !== undefined) return 'counted'
  return UNPAID.test(clause) ? 'money' : undefined
}

/** The order in which one answer is given for many clauses: what is surest first. */
const ORDER: readonly Gone[] = ['money', 'plan', 'usage', 'quota', 'limit', 'counted']

/**
 * What a text says is gone: an allowance of any name, said to be used up by any verb in either order, in one clause that
 * does not deny it. Linear in the length of the text.
 *
 * @param text - lower case, as the rules have it.
 * @returns every kind of allowance that is gone, the surest first.
 */
export function readGone(text: string): readonly Gone[] {
  const found = new Set(text.split(CLAUSE).map(readClause))
  return ORDER.filter(kind => found.has(kind))
}
