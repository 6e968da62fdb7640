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
  String.raw`\bgauge\b`, 'too (?:quickly|fast|frequent)', 'frequency limit', 'slow down', '频率', '频繁', '頻率', '速率', '限流', '请求过(?:于|快|多)', 'request queue',
)

/** The provider has no room for anybody. */
export const CAPACITY = any(
  'overload', 'at (?:maximum |full |peak |its |max )?capacity', 'out of capacity', 'no (?:available )?capacity', '(?:lacks?|not enough|insufficient|limited) capacity', 'model_capacity_exhausted', 'capacity (?:is )?(?:currently |temporarily )?(?:exceeded|limit|reached|constrain|exhausted|full)',
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
  'context[ _-]?(?:length|window|limit|size)', '(?:context|prompt|input|token)s?(?: token)?(?: length)?(?: is)? too long', near('length of|prompt[ _]tokens|input(?: token)?(?: count)?|sequence length', 40, '(?:must|should) be (?:less|fewer|smaller|lower|no more) than'),
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
  String.raw`\badd (?:more |\d{1,9} )?(?:credits|funds)`, String.raw`\btop[ -]?up\b`, 'recharge', 'raise (?:it|your spending limit)',
  'additional paid', 'buy (?:more )?credits', 'upgrade (?:your plan|to pro|to continue|your subscription)', 'check your billing',
  'enable billing', '充值', '升级套餐', '续费', '续订', '购买资源包', 'チャージして', '충전',
)

export const RATE = any(
  String.raw`rate[ _-]?limit`, 'too many requests', 'throttl', 'too_many_requests', 'receiving too many', 'call rate',
  'request limit reached', 'in cool[ -]?down', '请求(?:次数|数)?(?:过多|超过|限制)', 'リクエストが多', 'レート制限', '集中して', '요청이 너무', '요청 한도', '속도 제한',
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
  'stream (?:closed|ended|error)', 'returned (?:an )?error', 'unknown error', 'connection lost', 'cooling down', 'is not ready', String.raw`status code \(no body\)`,
  'no available (?:channel|key)', '不可用', '高峰', '没有可用', 'đang bận', 'unexpected eof', 'no available accounts', '无可用渠道', '内部错误',
  '服务(?:异常|不可用)', '网络错误', 'サーバーエラー', '서버 오류',
)

/** The wire between us and the provider broke. */
export const TRANSPORT = any(
  'fetch failed', String.raw`\becon(?:nrefused|nreset|naborted)`, 'enotfound', 'eai_again', 'epipe', 'ehostunreach', 'enetunreach', 'socket hang up', 'network[ _-]?(?:error|connection|failure|is unreachable)',
  String.raw`connection (?:error|reset|closed|refused|lost|aborted|dropped|terminated|interrupted)`, 'connectionerror', 'unexpected eof', String.raw`\beof\b`, 'premature(?:ly)? clos', 'closed prematurely', 'peer closed', 'other side closed', 'incomplete (?:chunked|read|message|response|stream)',
  'stream[ _](?:was )?(?:closed|ended|error|disconnected|interrupted|aborted|reset|truncated)', 'stream_closed', 'disconnected', 'error sending request', String.raw`request to {1,3}failed`, String.raw`\b(?:tls|ssl|handshake|certificate|dns)\b.{0,24}(?:fail|error|expired)`, '^\\W{0,3}terminated',
  '网络(?:错误|异常|连接)', '连接(?:被)?(?:断开|重置|中断|失败|关闭)', '流(?:已)?(?:中断|关闭)', 'ネットワーク', '接続(?:エラー|が切|に失敗)', '네트워크', '연결.{0,6}(?:끊|오류|실패)', 'error de (?:red|conexión)', 'erro de (?:rede|conexão)', 'erreur réseau', 'netzwerkfehler', 'verbindung.{0,16}(?:abgebrochen|unterbrochen|fehlgeschlagen)', 'ошибка сети', 'ağ hatası', 'lỗi mạng',
)

/** The provider answered, and said nothing. */
export const EMPTY_ANSWER = any(
  String.raw`\b(?:empty|blank) (?:response|completion|answer|output|message|reply|content|body|choices|stream)`, String.raw`\b(?:response|completion|answer|output|content|body|choices|candidates|stream)\b.{0,16}\b(?:was|is|were|are|came back) (?:empty|blank)`,
  String.raw`\b(?:returned|with|has|had|contains?|containing|produced|received|got) (?:an? )?(?:no|zero|0) (?:content|output|choices|candidates|text|completion|tokens|messages?|response|data)\b`, 'without (?:any )?(?:content|output|text|choices)', 'no (?:choices|candidates) (?:in|were|returned)', 'empty_?(?:response|answer|completion)',
  '(?:返回|响应|回复|回答).{0,6}(?:为空|空白)', '空(?:响应|回复|内容|回答)', '(?:応答|レスポンス|回答).{0,6}空', '空の(?:応答|レスポンス|回答)', '빈 (?:응답|답변)', '(?:응답|답변).{0,6}비어',
)

/** The content is refused by a policy; asked again it will be refused again. */
export const CONTENT = any(
  'content[ _-]?(?:policy|filter|management|moderation|safety|violation|blocked)', 'responsible ?ai', 'moderation (?:blocked|flagged|system|policy|endpoint)', 'safety (?:system|filter|settings|policy|reasons|check|guidelines|violation)', 'data ?inspection', 'safetycheck', 'blocked by .{0,24}(?:policy|policies|filter|safety|guardrail)', 'guardrail.{0,16}(?:blocked|intervened|triggered)',
  near(String.raw`\b(?:content|prompt|input|output|response|messages?|image|text|request|completion|question)\b`, 48, String.raw`\b(?:flagged|inappropriate|prohibited|harmful|unsafe|disallowed|offensive|sensitive|violat(?:es|ed|ing|ion)|was (?:blocked|filtered)|illegal|nsfw|not allowed by our|against our)\b`),
  near(String.raw`\b(?:flagged|inappropriate|prohibited|harmful|unsafe|disallowed|offensive|sensitive|blocked|filtered|illegal|violat(?:es|ed|ing|ion))\b`, 24, String.raw`\b(?:content|prompt|input|output|words?|usage polic|usage guideline|our polic|material)`),
  '(?:内容|输入|输出|文本|提示词|问题|图片).{0,12}(?:敏感|违规|违法|不合规|不当|审核|安全(?:策略|检测|风险)|拦截|不安全)', '敏感(?:词|内容|信息)', '内容安全', '审核(?:未通过|不通过|失败)', '涉(?:黄|政|暴)', '違規',
  '不適切な(?:内容|コンテンツ|表現)', 'コンテンツ(?:ポリシー|フィルタ)', '부적절한|콘텐츠 ?(?:정책|필터)|유해', 'contenido (?:inapropiado|prohibido)|política de contenido', 'conteúdo (?:impróprio|inadequado|proibido)|política de conteúdo', 'contenu (?:inapproprié|interdit)|politique de contenu', 'unangemessene inhalte|inhaltsrichtlinie', 'недопустим|политик\\p{L} содержан',
)

/** A charge or a request that is under way holds the credit: it settles by itself. */
export const SETTLING = any(
  String.raw`\bin[ -]flight\b`, 'reconcil', String.raw`\bsettl(?:e|es|ed|ing|ement)\b`, near(String.raw`\b(?:charges?|payments?|transactions?|holds?|authori[sz]ations?|reservations?|billing|invoices?|top[ -]?up)\b`, 24, String.raw`\b(?:being (?:processed|verified|confirmed|applied)|pending|processing|in progress|unresolved)\b`),
  String.raw`\bpending (?:charges?|payments?|transactions?|holds?|reservations?)\b`, 'temporarily (?:held|reserved)', '正在(?:结算|对账|扣费)', '(?:结算|扣费|支付)中', '精算中', '(?:決済|支払い).{0,6}処理中', '정산 ?중', '결제.{0,6}처리 ?중',
)

const TIER = String.raw`\b(?:plans?|tiers?|regions?|countr(?:y|ies)|territor(?:y|ies)|subscriptions?|accounts?|locations?|billing|keys?|organi[sz]ations?|workspaces?|projects?|groups?|teams?|users?)\b`
/** The caller may not have this model, at this place or with this plan: nothing is used up. */
export const ACCESS = any(
  near(String.raw`(?:\bnot|n't|cannot be) (?:currently |yet |be )?(?:available|supported|included|accessible|offered|enabled|activated|allowed|permitted|served?|open|usable|accessed|used)\b`, 40, TIER),
  near(String.raw`\b(?:requires?|needs?|only (?:available|accessible|open|offered|supported) (?:to|for|on|with|in)|restricted to|limited to|reserved for|exclusive to|only for)\b`, 32, String.raw`\b(?:subscriptions?|plans?|tiers?|enterprise|memberships?|upgrades?|paid|scenarios?|customers|members|verification)\b`),
  String.raw`\bnot (?:subscribed|eligible|entitled|licensed|whitelisted|allowlisted|enrolled)\b`, String.raw`\b(?:no|multiple|missing|without an?) (?:[\w ]{1,30} )?licen[cs]es?\b`, 'promotion has ended', near(String.raw`\b(?:organi[sz]ation|account|workspace|project|credits|access|key|user)\b`, 24, String.raw`\b(?:has been|is|have|been) (?:restricted|disabled|deactivated|banned|blocked|terminated|locked)\b`),
  'restricted access', '(?:details|form|agreement|terms)\\b.{0,24}not been (?:submitted|accepted|signed|completed)', 'could not (?:load|find|resolve) (?:any )?credentials', 'credentials? (?:not|could not be|were not) (?:found|loaded|provided)', 'user account exceeded', 'bring your own key|\\bbyok\\b',
  '(?:无权|没有权限|沒有權限|无访问权限|未授权)', '不支持.{0,8}(?:地区|国家|区域)', '所在(?:地区|国家|区域)', '仅(?:限|支持).{0,12}(?:会员|企业|订阅|套餐|用户)', '(?:令牌|密钥|key).{0,16}(?:已过期|无效|已禁用|不存在|被禁用)', '(?:権限|アクセス権)(?:が|は)?(?:ありません|ない|不足)', '許可されて(?:い)?ません', '無効な(?:api)?キー', '(?:ご利用の)?(?:国|地域)では', '권한이 ?없', '접근.{0,6}(?:거부|권한)', '유효하지 ?않은.{0,8}키',
  String.raw`keine? (?:berechtigung|zugriff|zugang)`, 'nicht (?:berechtigt|autorisiert|freigeschaltet)', 'ungültige[rs]? (?:api|schlüssel|token|zugangsdaten)', 'no (?:tiene|tienes) (?:acceso|permiso)|no autorizado|acceso denegado|clave.{0,16}(?:inválida|no válida|incorrecta)', 'não (?:autorizad|tem (?:acesso|permissão))|acesso negado|chave.{0,16}inválida', "non autorisé|accès (?:refusé|interdit)|n'avez pas accès|clé.{0,16}(?:invalide|incorrecte)", 'non autorizzato|accesso negato|chiave.{0,16}non valida',
  'нет (?:доступа|прав)|доступ (?:запрещ|закрыт)|недействительн\\p{L}{1,3} ключ|неверный (?:api|ключ)', 'yetki(?:niz)? (?:yok|siz)|yetkisiz|geçersiz.{0,12}anahtar', 'không có quyền|khóa.{0,12}không hợp lệ', 'tidak (?:memiliki|punya) (?:akses|izin)|kunci.{0,12}tidak valid', 'brak (?:uprawnień|dostępu)|nieprawidłowy klucz', 'geen (?:toegang|rechten)|ongeldige.{0,8}sleutel', 'غير مصرح|مفتاح.{0,12}غير صالح',
)

/** Says when an allowance is back, and nothing more. */
export const RESETS = any(near(
  String.raw`\b(?:usage limits?|quotas?|allowance|credits|session limit|weekly limit|monthly limit|daily limit)\b|l[ií]mites? (?:de uso|d'utilisation|di utilizzo)|\bc[uo]{1,2}ta\b|nutzungslimit|kontingent|лимит использования|kullanım limiti|利用(?:上限|制限)|使用制限|사용 ?한도|额度|额度|配额`, 32,
  String.raw`\b(?:resets?|renews?|refreshes|replenish\w{0,3})\b|restablec|reinici|renueva|redefin|renovad|réinitialis|renouvel|zurückgesetzt|erneuert|обнов|сброс|sıfırlan|yenilen|リセット|回復|초기화|갱신|重置|恢复|刷新`))

/** The remedy named is to add money so as to go on. */
export const PAY_TO_GO_ON = any(near(String.raw`\b(?:add|buy|purchase|get|top up)\b(?: (?:more|additional|extra|your))?(?: \w{1,12})? (?:credits?|usage|balance|funds|tokens|requests)`, 24, String.raw`\bto (?:keep|continue|proceed|go on|resume)\b`))
