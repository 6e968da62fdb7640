/**
 * What our commands answer, in Chinese. The log has one text for everybody who reads it, and so it is English; the page
 * reads it by its sentences. One that is not known here, and whatever a provider said, stays as it is.
 */

/** Sentences of an answer, a line each; `{name}` is whatever stands there. */
const LINES: readonly (readonly [en: string, zh: string])[] = [
  ['Quota retry is {a} for this session.', '此会话的额度重试：{a}。'],
  ['Quota retry follows the deployment\'s default ({a}).', '额度重试跟随部署的默认值（{a}）。'],
  ['Quota retry is {a} ({b}).', '额度重试：{a}（{b}）。'],
  ['Asking the provider again now.', '正在立即重新请求提供方。'],
  ['Nothing holds this session, so there is nothing to try again.', '此会话没有在等待，无需重试。'],
  ['Nothing holds this session, so there is nothing to stop.', '此会话没有在等待，无需停止。'],
  ['Nothing holds this session.', '此会话没有在等待。'],
  ['Retry is {a} for this session.', '此会话的重试：{a}。'],
  ['Retry follows the deployment\'s default ({a}).', '重试跟随部署的默认值（{a}）。'],
  ['This session does not go on by itself any more. Your next message asks again.', '此会话不再自行继续。你的下一条消息会再次请求。'],
  ['The wait is stopped. Your next message asks again.', '已停止等待。你的下一条消息会再次请求。'],
  ['This session is not out of allowance.', '此会话的额度没有用尽。'],
  ['Out of allowance on {a} since {b}, {c} wait so far.', '{a} 的额度自 {b} 起用尽，至今等待 {c} 次。'],
  ['Out of allowance on {a} since {b}, {c} waits so far.', '{a} 的额度自 {b} 起用尽，至今等待 {c} 次。'],
  ['Every route of pool {a} is out of allowance; {b} is asked first.', '路由池 {a} 的路由额度均已用尽；会先请求 {b}。'],
  ['Every route of pool {a} is out of allowance.', '路由池 {a} 的路由额度均已用尽。'],
  ['The provider said: {text}', '提供方原文：{text}'],
  ['Read as: {text}', '判断依据：{text}'],
  ['Next check {a}, in {d}. /quota-retry now asks at once; cancel stops waiting.', '下次检查 {a}，{d}后。/quota-retry now 立即请求；取消即停止等待。'],
  ['Next check {a}, in {d}: the host ended while this session waited, and it goes on by itself. /quota-retry now has it go on at once, /quota-retry off has it stay.', '下次检查 {a}，{d}后：等待期间主机结束，此会话会自行继续。/quota-retry now 立即继续，/quota-retry off 使其保持不动。'],
  ['No check is planned: the turn ended. The next message tries again.', '未安排检查：回合已结束。下一条消息会再次请求。'],
  ['No check is planned: a request is on its way.', '未安排检查：请求正在进行。'],
  ['This session never changes provider.', '此会话从不更换提供方。'],
  ['This session never changes provider ({a}); {b}.', '此会话从不更换提供方（{a}）；{b}。'],
  ['The pool of this session follows the route it is on.', '此会话的路由池跟随其所在的路由。'],
  ['This session is in pool {a}: its next request goes to the first usable route of the pool.', '此会话使用路由池 {a}：下一次请求发往池中第一条可用的路由。'],
  ['This session states pool "{a}", which the configuration does not have; {b}.', '此会话指定了路由池“{a}”，但配置中没有它；{b}。'],
  ['There is no pool "{a}". Pools: {b}.', '没有名为“{a}”的路由池。现有路由池：{b}。'],
  ['No pools are configured.', '未配置路由池。'],
  ['No pool governs this session; {b}.', '此会话没有路由池；{b}。'],
  ['This session follows the pool of its first request; {b}.', '此会话跟随首次请求所在的路由池；{b}。'],
  ['Pool {a} ({b}); {c}.', '路由池 {a}（{b}）；{c}。'],
  ['Pool {a}; /quota-pool {b} would choose {c} ({d}):', '路由池 {a}；/quota-pool {b} 会选择 {c}（{d}）：'],
  ['Pool {a}; none of its routes has allowance, and {b} would be asked first:', '路由池 {a}；没有可用的路由，会先请求 {b}：'],
  ['Pool {a}; this host has none of its routes:', '路由池 {a}；此主机没有其中任何路由：'],
  ['refused {d} ago ({text}); marked until {b}; it says: {more}', '{d}前被拒绝（{text}）；标记至 {b}；提供方称：{more}'],
  ['refused {d} ago ({text}); marked until {b}', '{d}前被拒绝（{text}）；标记至 {b}'],
  ['not fit for a session {d} ago: {text}', '{d}前不适用于会话：{text}'],
  ['this host would not send to it: {text}', '此主机不会向其发送：{text}'],
  ['Not marked any more: {a}. The next request there may be refused once.', '已清除标记：{a}。下一次请求可能会被拒绝一次。'],
  ['{a} is not marked. Marked: {b}.', '{a} 没有标记。现有标记：{b}。'],
  ['Requests go to {a}, which you picked.', '请求发往你选择的 {a}。'],
  ['Requests go to {a} (pool {b}): {c} is out of allowance.', '请求发往 {a}（路由池 {b}）：{c} 的额度已用尽。'],
  ['Requests go to {a}: the session was put in pool {b}.', '请求发往 {a}：此会话被置于路由池 {b}。'],
  ['Requests go to {a}: pool {b} prefers {c}, and it is usable again.', '请求发往 {a}：路由池 {b} 优先使用 {c}，且它已恢复可用。'],
  ['Requests go to {a}: this session was put in a pool after {b} was picked.', '请求发往 {a}：选择 {b} 之后，此会话被置于路由池。'],
  ['{a}, which you picked, is out of allowance: requests go to {b} until it can be asked again.', '你选择的 {a} 额度已用尽：在它可以再次请求之前，请求发往 {b}。'],
  ['Usage: {a}. {text}', '用法：{a}。'],
]

/** Parts of a sentence, and of the line of a route. */
const WORDS: readonly (readonly [en: string, zh: string])[] = [
  ['on', '开'], ['off', '关'], ['nothing', '无'], ['none is configured', '未配置'],
  ['the deployment\'s default', '部署的默认值'], ['set in this session', '在此会话中设置'], ['inherited from the session it was started from', '沿用自父会话'],
  ['the only pool that holds its route', '唯一包含其路由的池'], ['no request yet', '尚无请求'], ['on {a}', '当前路由 {a}'],
  ['usable', '可用'], ['below its minimum', '低于下限'], ['not read, and failOpen is off', '未读取，且 failOpen 关闭'], ['nothing left', '已无余量'],
  ['out of allowance', '额度已用尽'], ['not on this host', '此主机没有'],
  ['no reading', '没有读数'], ['no reading ({a})', '没有读数（{a}）'], ['{a} of {b} left', '剩余 {a} / {b}'], ['{a} left', '剩余 {a}'], ['read {d} ago', '{d}前读取'],
  ['not chosen below {a}', '低于 {a} 时不选用'], ['resets {text}', '重置时间 {text}'], ['the provider says: {text}', '提供方称：{text}'],
]

/** The line of a route in `/quota-routes`, which is made of parts. */
const ROUTE = /^(> )?(\d+\. \S+(?: \([^)]*\))?): (.+)$/

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

type Sentence = readonly [pattern: RegExp, zh: string]

const compiled = (pairs: typeof LINES): readonly Sentence[] => pairs.map(([en, zh]) =>
  [new RegExp(`^${escaped(en).replace(/\\\{(\w+)\\\}/g, (_all, name: string) => `(?<${name}>.+${name === 'text' || name === 'more' ? '' : '?'})`)}$`), zh])

let lines: readonly Sentence[] | undefined
let words: readonly Sentence[] | undefined

/** What follows where an acknowledged word could not be stored, and its Chinese. */
const UNSTORED = [' It is not on the disk yet: the storage is slow or fails.', '尚未写入磁盘：存储缓慢或失败。'] as const
/** A longer line, in UTF-16 units, is none of ours, or holds what somebody else said at length. */
const LONGEST = 2_000

const UNITS: Readonly<Record<string, string>> = { ms: '毫秒', s: '秒', min: '分钟', h: '小时', d: '天' }

/** A value in a sentence: a duration in `{d}`, nothing of what others said, else a part that is known. */
function valueText(name: string, value: string): string {
  if (name === 'text' || name === 'more') return value
  if (name === 'd' && /^\d/.test(value)) return value.replace(/(\d+) (ms|s|min|h|d)\b/g, (_all, count: string, unit: string) => `${count} ${UNITS[unit] ?? unit}`)
  return say(value, words ??= compiled(WORDS)) ?? value
}

function say(text: string, sentences: readonly Sentence[]): string | undefined {
  for (const [pattern, zh] of sentences) {
    const found = pattern.exec(text)
    if (found !== null) return zh.replace(/\{(\w+)\}/g, (_all, name: string) => valueText(name, found.groups?.[name] ?? ''))
  }
  return undefined
}

/** The parts of a route's line. What a provider says is the last of them, and may hold commas of its own. */
function routeText(parts: string): string {
  const [own = '', provider] = parts.split(/, (?=the provider says: )/)
  return [...own.split(/; |, (?!and )/), ...provider === undefined ? [] : [provider]].map(part => valueText('a', part)).join('；')
}

/**
 * An answer of a command of ours in Chinese.
 *
 * @param text - the answer, as the log has it.
 */
export function chineseAnswer(text: string): string {
  return text.split('\n').map((line) => {
    if (line.length > LONGEST) return line
    if (line.endsWith(UNSTORED[0])) return chineseAnswer(line.slice(0, -UNSTORED[0].length)) + UNSTORED[1]
    const indent = /^ */.exec(line)?.[0] ?? ''
    const plain = line.slice(indent.length)
    const route = ROUTE.exec(plain)
    if (route !== null) return `${indent}${route[1] ?? ''}${route[2] ?? ''}：${routeText(route[3] ?? '')}`
    return indent + (say(plain, lines ??= compiled(LINES)) ?? plain)
  }).join('\n')
}
