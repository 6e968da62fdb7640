/**
 * The parts that a statement about an allowance is made of, in the languages that providers, gateways and clients answer
 * in. None is a sentence: `read.ts` puts them together. Every pattern runs on one clause, lower case, with the hyphens
 * and underscores of its words turned into blanks; none repeats without a bound, so that each is linear.
 */

/** One pattern of many words; all are found in one pass. */
const terms = (...words: readonly string[]): RegExp => new RegExp(words.join('|'), 'gu')

/** Money, and what is bought with it. */
export const MONEY = terms(
  String.raw`\b(?<!load )balances?\b(?! ?(?:er|ing))`, String.raw`\bcredits?\b(?! ?(?:cards?|information|not found|score))`, String.raw`\bfunds?\b`, String.raw`\b(?<!(?:thinking|token|reasoning|time|retry|latency) )budgets?\b(?! tokens)`,
  String.raw`\b(?:wallet|prepaid|overages?|spend(?:ing)? (?:limits?|caps?)|cost limits?)\b`,
  '余额', '餘額', '积分', '點數', '点数', '代币', '金币', '预算', '費用上限', '钱包', '资金',
  '残高', 'クレジット', 'ポイント', 'チャージ残', '残量', '予算', '잔액', '크레딧', '포인트', '잔고', '예산',
  String.raw`\bsaldos?\b`, String.raw`\bcr[eé]ditos?\b`, String.raw`\bcredit[oi]\b`, String.raw`\bfon?dos\b`, String.raw`\b(?:orçamento|presupuesto)`, String.raw`\bsoldes?\b`, String.raw`\bcrédits?\b`,
  'guthaben', 'kontostand', 'kredite?n?', 'budget', 'баланс', 'средств', 'кредит', 'бюджет', 'бакы', 'bakiye', 'krediniz', String.raw`\bkredi(?:ler)?\b`, 'số dư', 'tín dụng', 'ngân sách',
  'رصيد', 'اعتبار', String.raw`\bsald[oa]\b`, 'środk', String.raw`\bkred[iy]t`, 'tegoed', 'кошт', 'เครดิต', 'ยอดเงิน', 'क्रेडिट', 'शेष', String.raw`\bkreditů?\b`, String.raw`\bcrediti?\b`,
)

/** A share of use that a plan, a tier or a window grants. */
export const QUOTA = terms(
  String.raw`\bquotas?\b`, String.raw`\ballowances?\b`, String.raw`\ballotments?\b`, String.raw`\ballocations?\b`, String.raw`\bfree (?:usage|tier|trial|requests?|messages?|generations?|quota|plan|allocation|prompts?|calls?|minutes|hours)\b`,
  String.raw`\b(?:extra|included|premium|plan|monthly|weekly|daily|hourly|session|subscription|token|api|model|account|compute|inference) usage\b`, String.raw`\b(?<!(?:cpu|memory|disk|gpu|ram|storage) )usage\b(?! (?:guidelines|polic|terms))`,
  String.raw`\b(?:your|the account's|account) capacity\b`, String.raw`\b(?:premium|included|fast|agent|chat|user|monthly|daily|weekly|free|paid|remaining) (?:requests?|messages?|prompts?|queries|interactions|generations?|tokens|credits|calls|completions)\b`,
  '额度', '額度', '配额', '配額', '用量', '资源包', '套餐', '流量包', '调用次数', '次数', '使用量', '免费(?:试用|体验)', '体验', '点券', '流量',
  '利用枠', '無料枠', 'クォータ', '使用量', '利用量', '割当', '割り当て', '枠', '회수', '횟수', '할당량', '사용량', '이용량', '쿼터', '이용 ?횟수', '무료 ?(?:사용|이용|체험)',
  String.raw`\bc[uo]{1,2}tas?\b`, String.raw`\bfranquia\b`, String.raw`\bforfaits?\b`, 'kontingent', String.raw`\bvolumen\b`, 'квот', 'kota', String.raw`\bkullanım hakk`, 'hạn mức', 'hạn ngạch', 'lượt', String.raw`\bkuota\b`,
  'الحصة', 'حصت', 'سهمیه', String.raw`\bkwot`, String.raw`\bquotum\b`, 'โควต[าา้]', 'कोटा', String.raw`\bkvót|\bkvot`,
)

/**
 * A limit, a cap or a window; which one, the words in front of it say. In a language that writes it as one word with its
 * window ("Wochenlimit") they are part of the match.
 */
export const LIMIT = terms(
  String.raw`\b(?:limits?|caps?|ceilings?|thresholds?)\b`, String.raw`\b(?:\d{1,4} ?(?:hours?|hrs?|h|days?)|weekly|daily|monthly|session|usage|rolling|billing) window\b`,
  '上限', '限额', '限額', '限度', '封顶', '制限', '한도', '제한', '상한', String.raw`\bl[ií]mites?\b`, String.raw`\btetos?\b`, String.raw`\btopes?\b`, String.raw`\bplafonds?\b`, String.raw`(?:\b|nachrichten|wochen|monats|tages|stunden|nutzungs|ausgaben|token|kosten|anfrage|sitzungs|plan)limit(?!ed|ing|ation|less)\p{L}{0,7}`, 'nutzungsgrenze',
  'лимит', 'ліміт', 'предел', 'sınır', 'giới hạn', String.raw`\bbatas\b`, 'حد (?:الاستخدام|الاستعمال)', 'الحد', String.raw`\blimiet`, 'ขีดจำกัด', 'सीमा', String.raw`\bgräns`,
)

/** Units that a plan counts; alone they are no allowance ("too many tokens"), none of them left is. */
export const COUNTED = terms(
  String.raw`\b(?<!too many )(?:messages?|requests?|tokens?|prompts?|quer(?:y|ies)|generations?|calls?|completions?|invocations?|interactions?|hours|minutes|points?|coins?|units?|neurons?|images?|tries|attempts|uses|turns|runs|sessions?)\b`,
  '消息', '请求', '令牌', '条数', '次', 'トークン', 'メッセージ', 'リクエスト', '回数', '토큰', '메시지', '요청', String.raw`\bmensaje?ns?\b|\bmensagens\b|\bsolicitudes\b|\brequisições\b|\bpeticiones\b|\bmessaggi\b|\brichieste\b|\brequêtes\b`,
  'nachrichten', 'anfragen', 'запрос', 'сообщени', 'токен', String.raw`\bjeton|\bmesaj|\bistek`, 'tin nhắn', 'yêu cầu', String.raw`\bpesan\b|\bpermintaan\b`, 'รีเควส', 'ข้อความ',
)

/** Says that it is gone: active or passive, verb or adjective, wherever it stands. */
export const GONE = terms(
  String.raw`\bexhaust(?:ed|ion|s|ing)?\b`, String.raw`\bdeplet(?:ed|ion|es?|ing)\b`, String.raw`\bused (?:up|all)\b`, String.raw`\b(?:all|fully|completely|entirely) used\b`, String.raw`\buse up\b`, String.raw`\bexceed(?:ed|s|ing)?\b`, String.raw`\bexceeds?\b`,
  String.raw`\breach(?:ed|es)?\b(?! \d{1,2} ?%)`, String.raw`\bhit\b`, String.raw`\b(?:ran|run|runs|running) out\b`, String.raw`\b(?:is|are|was|were|you're|have been|i'm|we're|currently|account) (?:all )?out of\b`, String.raw`^\W{0,3}out of\b`, String.raw`\bout of\b`,
  String.raw`\binsufficient(?:ly)?\b`, String.raw`\binadequate\b`, String.raw`\b(?:not|isn't|aren't|doesn't|don't) (?:have )?(?:enough|sufficient)\b`, String.raw`\bnot sufficient\b`, String.raw`\btoo low\b`, String.raw`\b(?:is|are|was) (?:low|empty|zero|0|negative|gone|spent|over|used|finished|full|maxed|exhausted|blown|drained)\b`,
  String.raw`\bconsumed\b`, String.raw`\bdrained\b`, String.raw`\bmaxed(?: out)?\b`, String.raw`\boverdrawn\b`, String.raw`\boverdue\b`, String.raw`\bpast due\b`, String.raw`\bin arrears\b`, String.raw`\bcrossed\b`, String.raw`\bsurpass(?:ed|es)?\b`, String.raw`\bover (?:your|its|the|their|my|our)\b`, String.raw`\bgone over\b`,
  String.raw`\b(?:no|zero|without) (?!longer)(?:[a-z]{2,12} ){0,2}(?=(?:credits?|balances?|funds?|quotas?|allowances?|budget|usage|tokens?|messages?|requests?|prompts?|generations?|capacity left|free)\b)`,
  String.raw`\b(?:no|zero|0|none|nothing) (?:\w{1,24} )?(?:left|remaining|remain|available)\b`, String.raw`\b0 (?:left|remaining)\b`, String.raw`\bremaining (?:is )?0\b`, String.raw`(?:don't|doesn't|do not|does not|didn't) have (?:any|enough|sufficient|more)\b`, String.raw`\blacks?\b`, String.raw`\bexpired\b`,
  String.raw`\b(?:has|have|had) (?:all )?(?:been )?(?:used|spent|finished)\b`, String.raw`\b(?:already )?used (?:100 ?%|your (?:entire|whole|full))`, String.raw`\bat (?:its|your|the) limit\b`, String.raw`\blimit reached\b`, String.raw`\b(?:requires?|required|need|needs) (?:more|additional|to add)\b`, String.raw`(?<=\b(?:credits?|balance|funds)) (?:is |are )?required\b`, String.raw`\b(?:is|are) required\b`, String.raw`\b100 ?% (?:used|of)\b`,
  '不足', '不够', '不夠', '用完', '用尽', '用盡', '用光', '耗尽', '耗盡', '已满', '已滿', '用满', '超出', '超过', '超過', '超限', '超额', '已达', '已達', '达到', '達到', '触达', '触及', '为负', '透支', '欠费', '欠費', '告罄', '枯竭', '为零', '为 ?0', '没有(?:剩余|可用)', '无可用', '已无', '已用(?:完|尽|光|罄)',
  '達し', '到達', '超え', '使い切', '使い果た', '足り(?:ない|ません|ず)', 'なくな', 'ありません', '切れ', '尽き', '枯渇', 'オーバー', '消費し(?:ました|切)', 'に?なりました',
  '부족', '초과', '도달', '소진', '모두 ?(?:사용|소모|썼)', '다 ?(?:사용|썼|소모)', '모자', '없(?:습니다|어요|음)', '넘(?:었|어)', '바닥', '만료',
  'agotad', 'agotó', 'agotaron', 'excedi', 'supera(?:d|t|s)', 'alcanz', 'insuficient', 'insufficient', String.raw`\bsin\b`, 'consumid', 'terminad', 'llegado al?', 'acabad', String.raw`se acab`,
  'esgot', 'atingi', 'alcanç', 'ultrapass', String.raw`\bsem\b`, 'acabou', 'acabaram', 'estour', 'esaurit', 'raggiunt', 'terminat', 'finit[oiae]',
  'épuis', 'dépass', 'atteint', 'insuffisant', String.raw`\bplus (?:de|aucun)\b`, 'consommé', 'aufgebraucht', 'erschöpft', 'überschritt', 'erreicht', 'verbraucht', 'ausgeschöpft', 'unzureichend', 'nicht ausreich', 'reicht nicht', 'nicht genug', String.raw`\bleer\b`, String.raw`\bkein(?:e|en)? (?:\w{1,24} )?(?=guthaben|credits|kontingent)`,
  'исчерп', 'превыш', 'недостаточн', 'не хватает', 'законч', 'израсходов', 'достиг', 'кончил', 'вичерп', 'перевищ', 'недостатн', 'досяг',
  'doldu', 'aşıl', 'aştı', 'tükendi', 'tükenmiş', 'bitti', 'yetersiz', 'ulaş', 'yetmiyor', 'không đủ', String.raw`\bhết\b`, 'vượt', 'đã đạt', 'cạn', String.raw`\bhabis\b`, 'tercapai', 'terlampaui', 'tidak (?:cukup|mencukupi)', 'melebihi', 'mencapai',
  'تجاوز', 'نفد', 'نفذ', 'انته', 'استنف', 'غير كاف', 'وصلت', 'تمام شد', 'کافی نیست', 'wyczerpa', 'przekrocz', 'osiągn', 'niewystarczaj', String.raw`\bbrak\b`, 'skończ', 'bereikt', 'overschreden', 'onvoldoende', String.raw`\bop\b(?= ?[.!]?$)`,
  'หมด', 'เกิน', 'ไม่พอ', 'ไม่เพียงพอ', 'ครบ', 'समाप्त', 'अपर्याप्त', 'पार', 'vyčerp', 'překroč', 'nedostat', String.raw`\bslut\b`, 'överskrid', 'uppnå',
)

/** All of a counted thing is gone: what "reached" and "exceeded" do not say of it. */
export const ALL_GONE = terms(
  String.raw`\bout of\b`, String.raw`\b(?:ran|run|running) out\b`, String.raw`\bused (?:up|all)\b`, String.raw`\b(?:all|fully) used\b`, String.raw`\bexhaust(?:ed|ion)\b`, String.raw`\bdepleted\b`, String.raw`\bno (?:more|remaining)\b`, String.raw`\b(?:no|zero|0|none) (?:\w{1,24} )?(?:left|remaining|remain)\b`, String.raw`\bdon't have any\b`, String.raw`\binsufficient\b`, String.raw`\bnot enough\b`, String.raw`\bn't have enough\b`,
  '用完', '用尽', '耗尽', '用光', '不足', '使い切', '使い果た', '足り(?:ない|ません)', 'なくな', '모두 ?사용', '다 ?사용', '소진', '부족', 'agotad', 'esgotad', 'épuis', 'aufgebraucht', 'verbraucht', 'исчерп', 'законч', 'недостаточн', 'tükendi', 'bitti', 'doldu', String.raw`\bhết\b`, String.raw`\bhabis\b`, 'หมด',
)

/** A plan, package or trial. */
export const PLAN = terms(
  String.raw`\b(?:subscriptions?|plans?|package|trial|membership|licen[cs]e|free period|coding plan|token plan|billing account)\b`, '套餐', '订阅', '訂閱', '会员', '會員', '试用', '資源包', '资源包', '订购', 'プラン', 'サブスクリプション', '구독', '요금제',
  String.raw`\b(?:suscripción|assinatura|abbonamento|abonnement|abo|abonelik|подписк\w{0,3}|gói|langganan|subskrypcj\w{0,2}|plano)\b`,
)
/** It is over. */
export const OVER = terms(
  String.raw`\bexpired\b`, String.raw`\blapsed\b`, String.raw`\binactive\b`, String.raw`\bcancel?led\b`, String.raw`\b(?:has|have|is|was) (?:already )?(?:ended|over)\b`, String.raw`\bnot active\b`, String.raw`\bran out\b`, String.raw`\b(?:no|not have (?:an?|any)|n't have (?:an?|any)|without an?) (?:valid|active|current|paid) `,
  '到期', '过期', '過期', '失效', '已结束', '期限切れ', '終了', '切れ', '만료', '종료', 'venci', 'caduc', 'expir', 'scadut', 'abgelaufen', 'истек', 'süresi doldu', 'hết hạn', 'kedaluwarsa', 'berakhir', 'wygas',
)

/** A bill that was not paid. */
export const UNPAID = new RegExp([
  String.raw`\b(?:outstanding|unpaid|open|overdue|past due) (?:invoices?|bills?|balance|payments?|amount)`, String.raw`\b(?:invoices?|bills?|payments?|accounts?|balance)\b.{0,24}\b(?:overdue|outstanding|unpaid|past due|in arrears)\b`, String.raw`\barrear`, 'overdue', 'past due', 'unpaid', 'failure to pay', 'dunning', 'payment required',
  'billing issue', String.raw`check (?:if |whether |that )?your (?:[\w ]{0,20})(?:balance|credits?)`, '余额是否充足', 'draw from your extra usage', String.raw`account (?:is )?in good standing`, String.raw`(?:add|enter|provide|update) (?:a |your )?(?:valid )?payment (?:method|info\w{0,8})(?=.{0,60}(?:continue|use|billing|access))`, '欠费', '欠費', 'ausstehende rechnung', 'factura(?:s)? (?:pendiente|vencid)', 'facture(?:s)? impayée', 'просрочен', '未支払', '未払', '미납',
].join('|'), 'u')
