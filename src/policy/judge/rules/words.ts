/**
 * The vocabulary of the rules: what a refusal is about, in the languages providers answer in.
 * Every pattern runs on text that `readFacts` has cut, lower-cased and freed of addresses, so a word in a
 * link ("/rate-limits", "/billing") never counts. Gaps are bounded and no quantifier is nested: matching
 * stays linear in the length of the text.
 */

const any = (...parts: string[]): RegExp => new RegExp(parts.join('|'), 'u')
const near = (a: string, gap: number, b: string): string => `(?:${a}).{0,${gap}}(?:${b})`
const eitherWay = (a: string, gap: number, b: string): string => `${near(a, gap, b)}|${near(b, gap, a)}`

/** A window of seconds or a minute: waiting briefly helps, paying is not needed. */
export const MINUTE = any(
  String.raw`per[ _-]?(?:minute|min|second|sec)(?![a-z])`, String.raw`per \d{1,3} ?s(?:ec|econds?)?\b`,
  String.raw`/ ?\d{0,2} ?(?:min|minute|sec|second)s?\b`, String.raw`per \d{1,3} ?(?:min|sec|minute|second)`,
  String.raw`\b(?:tpm|rpm|qpm|qps|tps|rps|ipm|itpm|otpm)\b`,
  'perminute', 'persecond', 'byminute', String.raw`\dminute`, '(?:每|1|一) ?分钟(?!后|之后)', '每秒', '秒级', '分当たり', '毎分', '毎秒', '分間', '분당', '초당',
  'por minuto', 'por segundo', 'pro minute', 'par minute', 'в минуту',
)

/** A window of hours, a day, a week or a month: an allowance, not a throttle. */
const LONG = [
  String.raw`per[ _-]?(?:hour|day|week|month)(?![a-z])`, String.raw`(?:perday|perweek|permonth|perhour|byday)`,
  String.raw`per (?:3600|86400|604800) ?s`, String.raw`\b(?:each|every) (?:day|week|month)`, String.raw`/ ?(?:hour|day|week|month)s?\b`,
  String.raw`\b(?:daily|weekly|monthly|hourly)\b`, String.raw`\b(?:tpd|rpd|tph|rph)\b`,
  String.raw`(?:per|in|within|every|last|past|each) 24[ -]?h`,
  String.raw`\b24[ -]?h(?:ou)?rs?[ -](?:limit|window|quota|rolling|period|usage)`,
  String.raw`\b(?:hour|day|week|month) allocated`, String.raw`\b(?:billing (?:cycle|period)|rolling window)\b`,
  String.raw`\b(?:for today|for the (?:day|week|month)|this (?:week|month))\b`,
  String.raw`\b(?:today's|week's|month's) (?:quota|limit|usage|allowance)`,
  String.raw`\d ?-?(?:hours?|hrs?|h|days?|weeks?)[ -](?:usage|limit|quota|window|rolling|session|token|request)`,
  String.raw`\d ?(?:个)?小时`, '每[日天周月]', '每小时', '[今当當本][日天周月週]', '日流控', '月度', '月間', '1日', '今月', '日次',
  '일일', '월간', '주간', '하루', '이번 ?달', '오늘', String.raw`por d[ií]a`, 'diári[oa]', 'diari[oa]', 'mensal', 'mensual', 'semanal',
  'hebdomadaire', 'quotidien', 'mensuel', 'täglich', 'wöchentlich', 'monatlich', 'günlük', 'aylık', 'يومي', 'شهري', 'أسبوعي',
  'в (?:день|месяц)',
].join('|')
export const LONG_WINDOW = any(LONG)

/** Verbs that say an amount is gone. */
const GONE = [
  'exceed', 'reached', String.raw`\bhit\b`, 'exhaust', 'used up', 'used all', 'limited to', 'too many', 'run out', 'ran out', 'deplet',
  'no more', 'over limit', '超', '已达', '达到', '達到', '用完', '用尽', '耗尽', '上限', '限额', '使い切', '達し', '超え', '초과', '도달', '소진',
  'atingi', 'alcanz', 'alcanç', 'excedi', 'agotad', 'esgotad', 'atteint', 'dépass', 'épuis', 'erreicht', 'überschritt', 'aufgebraucht',
  'aşıl', 'تجاوز', 'نفد', 'исчерп', 'превыш',
].join('|')
export const EXCEEDED = any(GONE)

/** A longer window and "it is gone" in one breath; Groq and OpenAI put the organisation's id between the two. */
export const LONG_WINDOW_GONE = any(eitherWay(LONG, 160, GONE))

/** Things that are counted and can be used up. */
export const COUNTED = any(
  'limit', 'quota', 'usage', 'request', 'token', 'credit', 'call', 'messages', 'allowance', 'allocation', 'window', '上限', '限额', '额度', '次数',
  '流控', '用量', '配额', '枠', '制限', '한도', '할당', '제한',
  'cota', 'cuota', 'límite', 'kontingent', 'лимит', 'квот', 'الحد', 'حصة',
)

/** Too much at once. */
export const BURST = any(
  'concurren', '并发', '並發', '並行', '同時(?:実行|接続|リクエスト|アクセス)', '동시', 'simultaneous', 'parallel (?:requests|calls)', String.raw`\bburst`,
  'too (?:quickly|fast|frequent)', 'slow down', '频率', '频繁', '頻率', '速率', '限流', '请求过(?:于|快|多)', 'request queue',
)

/** The provider has no room for anybody. */
export const CAPACITY = any(
  'overload', 'at capacity', 'no capacity', 'model_capacity_exhausted', 'capacity (?:is )?(?:exceeded|limit|reached|constrain)',
  String.raw`\b(?:too|is|are|currently|temporarily|server|service|model) busy`, 'high (?:traffic|demand|load)', 'temporarily unavailable',
  'unable to handle additional requests',
  '繁忙', '负载', '負載', '负荷', '过载', '访问量过大', '人数过多', '拥挤', '饱和', '容量(?:上限|不足)', '算力(?:不足|紧张)', '混み合', '混雑', '과부하', '혼잡',
  'sobrecarreg', 'sobrecargad', 'surcharg', 'überlastet', 'перегруж', 'no deployments available',
)

export const TIMEOUT = any(String.raw`tim(?:ed|e)[ -]?out`, 'deadline exceeded', 'deadline_exceeded', 'etimedout', 'no first token', '超时', '逾時', 'タイムアウト', '시간 ?초과')

/** Disk, file and drive space, seats and keys: quotas that are no allowance of model use. */
export const STORAGE = any(
  String.raw`disk (?:quota|space|usage)`, 'no space left', String.raw`\b(?:enospc|edquot)\b`, 'quotaexceedederror', "on 'storage'",
  'localstorage', 'indexeddb', eitherWay(String.raw`\b(?:storage|files?|upload|drive|disk|bucket|mailbox)\b`, 24, 'quota'),
  '(?:磁盘|存储|文件).{0,8}(?:空间|配额)',
)

export const CARD = any(near('card|payment method', 24, 'declined|was rejected|refused|insufficient funds'), 'card_declined')

/** The request itself is too long. */
export const CONTEXT = any(
  'context[ _-]?(?:length|window|limit|size)',
  '(?:prompt|input|request|message|messages|conversation|content) (?:is |are )?too (?:long|large|big)', 'too large for model',
  'request[ _]too[ _]large', 'reduce the length', 'maximum context', 'model limit of', 'model token limit',
  'max(?:imum)? input (?:characters|tokens|length)', 'range of input length', 'maximum prompt length',
  near('token count|input tokens|prompt tokens|input length|total tokens|request', 40, String.raw`exceeds? (?:the |this |its )?(?:limit of \d|configured limit|context|available context|model|max)|is longer than`),
  'string too long', near(String.raw`\b(?:content|prompt|input)`, 16, String.raw`exceeds? (?:the )?max`),
  'maximum (?:allowed )?number of (?:input )?tokens', 'max_model_len', 'content length exceeds', '输入token', '最大长度', '长度超', 'body too large',
  'exceeds? max message tokens',
  near('exceeds? the (?:maximum|max)', 20, 'size|tokens allowed|length'), near('input token count', 40, 'exceed'), 'tokens? too long',
  'prompt tokens too long', '超长', '过长', '過長', '上下文.{0,8}(?:超|过)', '長すぎ', '너무 깁니다',
  '精简输入', 'payload too large', 'entity too large', 'too many (?:input )?tokens in',
)

/** Money or credit is gone. */
export const BALANCE = any(
  near(String.raw`insufficient|not enough|out of|run out of|ran out of|used all|used up|exhausted|depleted|low on`, 30, String.raw`balance\b|credits?\b(?! card)|funds?\b|budget\b|allowance|extra usage|premium requests|points\b`),
  near(String.raw`\b(?:balance|funds?)\b`, 24, 'too low|insufficient|not enough|negative|overdue|depleted|exhausted|used up|empty'),
  String.raw`\bcredits?(?: balance)? (?:is |are |has |have |been )*(?:too low|insufficient|not enough|exhausted|depleted|expired|used up|run out|ran out|gone)`,
  String.raw`(?:not|n't) (?:have )?enough (?:balance|credits?|funds|quota|points)`,
  String.raw`\b(?:no|zero|any|0) (?:\w+ )?credits?\b(?! card)`, String.raw`\b(?:no|zero) (?:remaining |available |account )?balance\b`,
  'requires more credits', 'can only afford', 'paid balance', 'payment required', 'overdue', 'arrear', 'past due', 'unpaid',
  'failure to pay',
  'account is in good standing', '余额是否充足', 'check (?:if |whether |that )?your .{0,20}balance',
  String.raw`(?:no|not have an?|without an?) (?:valid|active) .{0,20}(?:subscription|plan)\b`, 'billing issue',
  'pre ?consumed? ?(?:token )?quota', 'budget.{0,40}(?:exceeded|exhausted|reached)', 'exceeded.{0,20}budget', 'over budget',
  'credits? (?:are |is )?required', 'dunning', 'prepayment credits', 'need (?:to )?(?:top up|recharge)', 'please (?:recharge|top up)',
  '余额不足', '餘額不足', '余额.{0,6}(?:不足|不够|用尽|耗尽|用完|为负|<)', '欠费', '欠費', '充值后', '请.{0,4}充值', '进行充值', '(?:积分|点数|代币|金币)(?:不足|已用|用完|耗尽)',
  '(?:额度|額度).{0,8}(?:不足|已用|用尽|用完|耗尽|不够|耗盡)', '预扣费', '(?:计费|付费)资源.{0,4}(?:耗尽|用完|用尽)',
  '(?:残高|クレジット|ポイント|残量|チャージ).{0,10}(?:不足|足り|ありません|使い切|切れ|なくな)', '(?:잔액|크레딧|포인트|잔고).{0,10}(?:부족|없|소진|모자|모두 사용|다 사용)',
  '(?:saldo|crédito|créditos|crediti|credito).{0,16}(?:insuficiente|insufficiente|esgotad|agotad|esaurit)', 'sem (?:saldo|créditos)',
  'sin (?:saldo|créditos)', '(?:solde|crédits?).{0,12}(?:insuffisant|épuisé)',
  '(?:guthaben|kontostand).{0,20}(?:aufgebraucht|erschöpft|nicht ausreich|reicht nicht|unzureichend|leer)',
  'недостаточно (?:средств|кредит)', 'баланс.{0,16}(?:исчерп|недостат)', '(?:bakiye|kredi).{0,12}(?:yetersiz|tükendi|bitti)',
  '(?:số dư|tín dụng).{0,10}(?:không đủ|hết)',
  '(?:رصيد|الرصيد).{0,16}(?:غير كاف|نفد|انته)', '(?:saldo|kredit).{0,12}(?:tidak cukup|habis)',
)

const PLAN_NOUN = String.raw`\b(?:usage|session|weekly|monthly|daily|hourly|annual|plan|spend|spending|spend cap|credits?|quota|billing(?: hard)?|budget|hard|token plan|subscription|premium requests?|messages?|key|trial|free|free tier|fair usage|extra usage|\d+ ?-?(?:hours?|hrs?|h|days?))`
const PLAN_LIMIT = String.raw`${PLAN_NOUN} (?:usage |request |token |spend(?:ing)? |quota |message )?(?:limits?|cap|allowance|quota|budget)\b`

/** The allowance of a plan or a window is gone. */
export const USAGE_LIMIT = any(
  near(PLAN_LIMIT, 50, String.raw`\b(?:reached|exceeded|hit|exhausted|depleted)\b|used up`),
  near(String.raw`\b(?:hit|reached|reaching|exceeded|exceeds|exhausted|over)\b|used up`, 50, PLAN_LIMIT),
  'set inference limit', 'free (?:tier|trial|allocation|quota).{0,40}(?:exhausted|used up|reached|exceeded)', 'api total request limit reached',
  'hit your limit', 'reached your limit', String.raw`reached the limit\.`,
  near('exceeded your', 40, String.raw`\b(?:usage|allowance|included credits)\b`),
  String.raw`\busage (?:has been )?exceeded`, near(String.raw`\bout of`, 16, String.raw`\b(?:usage|messages|quota|requests|generations)\b`),
  near('used (?:up|all)', 30, 'quota|usage|requests|tokens|messages'),
  'extra usage is required', 'draw from your extra usage', near('exhausted', 24, 'usage limit|capacity on this model'),
  '(?:用量|使用|消费|支出|预算|配额|限额).{0,6}(?:上限|已达|用完|用尽|耗尽|超出|超限)', '配额(?:不足|已|用|超)', '(?:达到|超过|超出).{0,24}(?:使用上限|用量上限|次数限额|额度上限|消费上限)',
  '次数.{0,8}(?:用完|用尽|耗尽|已达)', '已达.{0,12}限额',
  '(?:资源包|套餐|体验|试用|免费|额度).{0,16}(?:用尽|耗尽|用完|已满|不足|耗盡)', '使用量.{0,6}上限', '額度上限', '(?:週次?|月次|日次).{0,4}(?:上限|制限).{0,10}(?:達し|超え|到達)',
  '(?:利用|使用|月間|1日|今月|本日|無料|メッセージ|プラン|トークン|週間).{0,16}(?:上限|制限|枠).{0,10}(?:達し|超え|到達|使い切|なくな)', 'クォータ.{0,8}(?:超|上限|使い切)',
  '(?:사용|이용|구독|월간|일일|주간|무료|요금제|메시지).{0,12}(?:한도|제한|할당량|량).{0,14}(?:도달|초과|소진)', '할당량.{0,6}(?:초과|소진)',
  near('limites? (?:de|semanal|mensal|diári)|límites? (?:de|semanal|mensual|diari)', 60, 'atingi|alcan|excedi|esgot|agot|redefinid'),
  near('ating|alcanz|exced|alcanç', 24, String.raw`l[ií]mites? d[eo] (?:uso|mensa|gasto|cr[eé]dito)`),
  '(?:cota|cuota|quota).{0,16}(?:excedid|esgotad|agotad|dépassé|épuisé|superat|esaurit|überschritten|erschöpft)',
  "(?:atteint|dépassé).{0,16}limites? d'utilisation", "limites? d'utilisation.{0,20}(?:atteint|dépass)",
  'limite (?:settimanal|mensil|giornalier|di utilizzo).{0,16}(?:esaurit|superat|raggiunt)',
  '(?:(?:nutzungs|nachrichten|ausgaben|monats|wochen|tages)limit|(?:wöchentlich|monatlich|täglich)\\w{0,3} limit|kontingent|nutzungsgrenze).{0,20}(?:erreicht|aufgebraucht|erschöpft|überschritten)',
  '(?:квота|лимит(?: использования)?).{0,16}(?:исчерпан|превышен)', 'исчерпа.{0,24}(?:лимит|квот)',
  '(?:kota|(?:kullanım|aylık|günlük|haftalık) (?:limit|sınır)).{0,16}(?:aşıl|doldu|ulaş)', 'hạn mức.{0,12}(?:hết|vượt|đạt)',
  '(?:الحصة|حصت|حد الاستخدام).{0,20}(?:تجاوز|نفد|انته|استنف)', '(?:تجاوزت|وصلت).{0,20}حد الاستخدام',
)

/** Says that an allowance is not gone, or speaks of one in the abstract: a share of it, a flag, a schema, an echo of the talk. */
export const NOT_GONE = any(
  String.raw`\b(?:not|never)\b (?:yet |been |be |currently )*(?:reached|exceeded|hit|exhausted|affected|used up|depleted)`, String.raw`n't (?:yet |been |be )*(?:reached|exceeded|hit|exhausted|affected|used up)`,
  String.raw`\b(?:does|do|will) not count (?:against|toward)`, String.raw`\breached \d{1,2} ?%`, String.raw`(?:limit|quota|balance)\w{0,24}["']? ?[:=] ?["']?false\b`,
  String.raw`failed to (?:check|determine|verify|read) (?:whether|if|the)`, 'input_value=', String.raw`must be (?:a )?boolean`, String.raw`\bin text "`,
  '尚未(?:用完|用尽|达到|超)', '(?:未|没有)(?:用完|用尽|超出|超过|达到)', '(?:達して|超えて)いません', '초과하지 않', '도달하지 않',
)

const FOREIGN = String.raw`thinking (?:block|signature)|thought[ _]signature|reasoning (?:block|item|field|signature)|signature in (?:the )?thinking|encrypted[ _]content`
/** Blocks that another model left in the conversation. */
export const FOREIGN_HISTORY = any(eitherWay(FOREIGN, 60, String.raw`\b(?:invalid|mismatch|not valid|unsupported|not supported|missing|corrupt|unexpected|unknown|does not match|could not be (?:verified|decrypted))`))

/** A plan, package or trial is over. */
export const EXPIRED_PLAN = any(
  String.raw`\b(?:subscription|plan|package|trial|membership|credits?|license) (?:expired|lapsed|inactive|cancell?ed)`,
  near(String.raw`\b(?:subscription|plan|package|trial|membership|credits?|license)\b`, 30, String.raw`\b(?:has|have|is|are|was|been|already) (?:expired|lapsed|ended|cancell?ed|inactive)\b`),
  near(String.raw`\bexpired\b`, 12, String.raw`\b(?:subscription|plan|package|trial)\b`), '(?:套餐|订阅|会员|试用|资源包|订购).{0,12}(?:到期|过期|失效)',
  '(?:プラン|サブスクリプション).{0,12}(?:期限|終了)', '(?:구독|요금제).{0,8}만료',
)

export const SUSPENDED_FOR_MONEY = any('not active.{0,60}billing', near('exhausted|depleted', 16, 'balance'), near('suspend', 160, 'balance|spend|billing|invoice|payment|recharge|overdue|credit'))

/** "Quota" is gone, without saying which: an allowance unless a shorter window is named elsewhere. */
export const QUOTA_GONE = any(
  'quota (?:limit )?(?:has been |was |is |have been )?(?:exceeded|exhausted|reached|used up|depleted|not enough)',
  near('exceed|exhaust|deplet', 40, String.raw`\bquota`),
  String.raw`\b(?:no|out of|over) quota`, near('insufficient', 16, 'quota'), near('quota', 60, 'not enough'), 'exceeded current quota',
  'reached.{0,30}quota',
)

/** The remedy named is money or a bigger plan. */
export const PAY = any(
  'check your plan and billing', '请购买', '购买(?:额度|流量|套餐)', String.raw`purchase (?:more |additional |extra )?(?:credits|usage|tokens)`,
  String.raw`\badd (?:more |\d+ )?(?:credits|funds)`, String.raw`\btop[ -]?up\b`, 'recharge', 'raise (?:it|your spending limit)',
  'additional paid', 'buy (?:more )?credits', 'upgrade (?:your plan|to pro|to continue|your subscription)', 'check your billing',
  'enable billing', '充值', '升级套餐', '续费', '续订', '购买资源包', 'チャージして', '충전',
)

export const RATE = any(
  String.raw`rate[ _-]?limit`, 'too many requests', 'throttl', 'too_many_requests', 'receiving too many', 'call rate',
  'request limit reached', '请求(?:次数|数)?(?:过多|超过|限制)', 'リクエストが多', 'レート制限', '集中して', '요청이 너무', '요청 한도', '속도 제한',
  'muitas solicitações', 'demasiadas solicitudes', 'trop de requêtes', 'zu viele anfragen', 'слишком много запросов',
)

export const AUTH = any(
  near('invalid|incorrect|wrong|missing|expired|revoked', 16, String.raw`api[ -]?key|x-api-key|token\b|credential|令牌`),
  near(String.raw`api[ -]?key|access token|oauth token|refresh token|this key|credentials?`, 40, 'invalid|incorrect|expired|revoked|not valid|missing|not found|disabled|suspended|leaked|not enabled'),
  'unauthori[sz]ed', 'authenticat', String.raw`\bpermission`, 'forbidden', 'access (?:was |has been )?(?:denied|terminated)', 'not authori[sz]ed',
  "(?:do|does)(?:n't| not) have access", 'no auth', 'membership', 'deactivated', '(?:has been|is) (?:disabled|banned|suspended)',
  'no access to', 'no active credentials', '(?:sign|log) ?in again', '无效令牌', '允许访问', 'not activated', 'only available for',
  '未授权', '授权错误', '无权', '鉴权', '认证失败', '身份验证', '(?:令牌|密钥|金鑰).{0,6}(?:无效|無效|过期|過期|不可用|错误)', '[无無]效的(?:令牌|密钥|金鑰|api)', '锁定', '封禁', 'must be verified',
  'only authori[sz]ed', 'carry the api secret', 'not supported in your|region, or territory', '未开通', '暂未开放', '認証', '인증',
  'not support model',
)

export const NOT_FOUND = any(String.raw`\bnot found\b`, 'does not exist', 'model_not_found', '不存在')

export const SERVER = any(
  'internal (?:server )?error', 'server (?:had an )?error', 'bad gateway', 'load balancer', 'service unavailable', 'gateway', 'upstream',
  'fetch failed', 'econn(?:refused|reset|aborted)', 'enotfound', 'socket hang up', 'network error',
  'connection (?:error|reset|closed|refused)', 'terminated', 'unavailable', 'disconnect', 'error sending request',
  'stream (?:closed|ended|error)', 'returned an error while', 'unknown error', 'connection lost', 'cooling down', 'is not ready',
  'no available (?:channel|key)', '不可用', '高峰', '没有可用', 'đang bận', 'unexpected eof', 'no available accounts', '无可用渠道', '内部错误',
  '服务(?:异常|不可用)', '网络错误', 'サーバーエラー', '서버 오류',
)
