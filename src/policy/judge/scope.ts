import type { Facts } from './rules/facts.ts'

/** Whose a failure is: of the model that was asked (`route`), or of everything that the provider's account asks for. */
export type Scope = 'route' | 'provider'

/** Names under which models go; with a number or without. */
const FAMILY = [
  'opus', 'sonnet', 'haiku', 'fable', 'claude-[a-z0-9.-]+', 'gpt-[a-z0-9.-]+', String.raw`o\d(?:-(?:mini|pro|preview))?`, 'gemini(?:-[a-z0-9.-]+)?', 'flash', 'kimi', 'glm',
  'qwen', 'deepseek', 'llama', 'mistral', 'grok', 'minimax', 'gemma', 'devstral', 'codestral', 'nova',
].join('|')
/** A word that only a model's id is made of: letters and digits with a hyphen, a slash or a point between them. */
const MODEL_ID = String.raw`[a-z][\w]*(?:[-./:][\w]+)*[-./:]?\d[\w.-]*`
const LIMIT = 'limits?|quotas?|allowance|capacity|usage|上限|限额|额度|配额'

/** One model is meant, by a pronoun, by its name or by the code. */
const OF_ONE_MODEL = [
  new RegExp(String.raw`(?:${LIMIT})[^.!?;\n]{0,40}\b(?:for|on|of|with) (?:this|that|the requested|the selected|your selected|the current) model\b`, 'u'),
  new RegExp(String.raw`\b(?:for|on|of|with) (?:this|that) model\b[^.!?;\n]{0,40}(?:${LIMIT})`, 'u'),
  new RegExp(String.raw`\b(?:this|that) model(?:'s)?\b[^.!?;\n]{0,24}(?:${LIMIT})`, 'u'),
  new RegExp(String.raw`(?:${LIMIT})[^!?;\n]{0,24}\b(?:for|on|of) (?:the )?model:?(?: named)? ["'\x60]?[\w./:-]{2,}`, 'u'),
  new RegExp(String.raw`(?:${LIMIT})[^!?;\n]{0,24}\b(?:for|on|of) ["'\x60]?(?:${FAMILY}|${MODEL_ID})\b`, 'u'),
  new RegExp(String.raw`\b(?:your|the) (?:(?:daily|weekly|monthly|hourly|session|free|\d+-hour) ){0,2}(?:${FAMILY})(?: [\d.]+)? (?:(?:usage|weekly|daily|monthly|session|message|request|token) ){0,2}(?:limit|quota|allowance)\b`, 'u'),
  new RegExp(String.raw`\b(?:${FAMILY})(?: [\d.]+)? (?:(?:usage|weekly|daily|monthly|session|message|request|token) ){0,2}(?:limit|quota|allowance)\b.{0,24}\b(?:reached|exceeded|exhausted|hit)\b`, 'u'),
  /\bper[ _-]?(?:base[ _-]?)?model\b|\buser ?by ?model|permodel/u,
  /(?:此|该|這個|该个|当前|所选)模型.{0,12}(?:上限|限额|额度|配额|次数)|模型.{0,6}(?:专属|单独)(?:上限|限额|额度)/u,
  /このモデル.{0,12}(?:上限|制限|枠)|이 모델.{0,12}(?:한도|할당량|제한)/u,
]

/** Another model of the same provider is said to help; a pronoun stands for the one that was asked. */
const ANOTHER_HELPS = /\b(?:switch|change|move|fall back) (?:to|over to) (?:another|a different|other) models?\b|\b(?:switch models|(?:try|use|select|choose|pick) (?:another|a different|other) models?)\b|(?:切换|更换|换用|改用)(?:到)?(?:其他|其它|别的|另一个)模型|別のモデル|다른 모델/u

/** The money or the plan is gone, of which all models live. */
const OF_THE_ACCOUNT = /\b(?:balance|funds?|billing|invoices?|payment|overdue|arrears?|top[ -]?up|recharge)\b|余额|餘額|欠费|欠費|残高|잔액|\b(?:all|any|every) models?\b|所有模型|全部模型/u

/**
 * Whose a failure is.
 *
 * @param facts - what the rules look at.
 */
export function scopeOf({ text }: Pick<Facts, 'text'>): Scope {
  if (OF_THE_ACCOUNT.test(text)) return 'provider'
  return ANOTHER_HELPS.test(text) || OF_ONE_MODEL.some(pattern => pattern.test(text)) ? 'route' : 'provider'
}
