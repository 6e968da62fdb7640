/** Namespace of the texts in the page. */
export const NAMESPACE = 'llm-quota-retry'

/** Every text in English and in Simplified Chinese; `{name}` is filled in. Side by side, so that none can lack one. */
export const TEXTS = {
  'on': ['On', '开'],
  'off': ['Off', '关'],
  'default': ['Default', '默认'],
  'retry.chip': ['Quota retry: {value}', '额度重试：{value}'],
  'retry.menu': ['When the allowance is spent', '额度用尽时'],
  'retry.on.hint': ['Move to another route of the pool, or wait and ask again', '切换到池中另一条路由，或等待后再次请求'],
  'retry.off.hint': ['Let the request fail', '让请求失败'],
  'retry.default.hint': ['As this host is configured: {value}', '按此主机的配置：{value}'],
  'retry.inherited': ['Taken over from the parent session', '沿用自父会话'],
  'retry.now': ['Retry now', '立即重试'],
  'retry.stop': ['Stop waiting', '停止等待'],
  'retry.stop.hint': ['Cancels this turn', '取消当前回合'],

  'wait.next': ['Next check {time}', '下次检查 {time}'],
  'wait.title': ['Out of allowance', '额度已用尽'],
  'wait.provider': ['Provider', '提供方'],
  'wait.model': ['Model', '模型'],
  'wait.reason': ['Reason', '原因'],
  'wait.reason.spent': ['The allowance is spent', '额度已用完'],
  'wait.since': ['Since', '开始于'],
  'wait.sinceFor': ['{time} ({duration})', '{time}（{duration}）'],
  'wait.attempts': ['Checks', '检查次数'],
  'wait.nextLabel': ['Next check', '下次检查'],
  'wait.asking': ['Asking now', '正在请求'],
  'wait.idle': ['None planned; your next message asks again', '未安排；你的下一条消息会再次请求'],
  'wait.said': ['It answered', '原文'],

  'pool.chip': ['Pool: {value}', '路由池：{value}'],
  'pool.menu': ['Routes this session may move to', '此会话可以切换到的路由'],
  'pool.none': ['none', '无'],
  'pool.off.hint': ['Never change provider', '从不更换提供方'],
  'pool.default.follow': ['Follow the route in use', '跟随正在使用的路由'],
  'pool.default.hint': ['Follow the route in use: {value}', '跟随正在使用的路由：{value}'],
  'pool.default.none': ['Follow the route in use: it is in no pool, or in several', '跟随正在使用的路由：它不在任何池中，或同时在多个池中'],
  'pool.moved.short': ['Moved to {route}', '已切换到 {route}'],
  'pool.moved.title': ['Moved to another route', '已切换到另一条路由'],
  'pool.from': ['From', '原路由'],
  'pool.to': ['To', '新路由'],
  'pool.pool': ['Pool', '路由池'],
  'pool.at': ['At', '时间'],

  'failed.command': ['The setting was not taken: {reason}', '设置未生效：{reason}'],
  'failed.stop': ['The turn could not be cancelled: {reason}', '无法取消此回合：{reason}'],
  'failed.unknown': ['this host has no such command', '此主机没有这个命令'],

  'command.running': ['running', '执行中'],
  'command.failed': ['failed', '失败'],
  'command.done': ['done', '完成'],
  'command.more': ['Show all of it', '显示全部'],

  'line.waiting': ['Waiting for the allowance of {route}, next check {time}', '正在等待 {route} 的额度，下次检查 {time}'],
  'line.waited': ['Waited for the allowance of {route}', '曾等待 {route} 的额度'],
  'line.waited.many': ['Waited for the allowance of {route}, {count} checks', '曾等待 {route} 的额度，检查 {count} 次'],
  'line.stopped': ['Stopped waiting for the allowance of {route}', '已停止等待 {route} 的额度'],
  'line.moved': ['Moved from {from} to {to}, pool {pool}, because {from} is out of allowance', '已从 {from} 切换到 {to}（路由池 {pool}），因为 {from} 的额度已用尽'],
  'line.until': [' until {time}', '，直到 {time}'],
  'line.asked': ['Asked again: {why}', '再次请求：{why}'],
  'line.said': ['What the provider said', '提供方原文'],
  'line.copy': ['Copy', '复制'],
  'line.copied': ['Copied', '已复制'],
  'why.asked': ['you asked for it', '你要求立即重试'],
  'why.message': ['you sent a message', '你发送了消息'],
  'why.reading': ['a reading shows allowance again', '余量读数显示额度已恢复'],
  'why.answer': ['the provider answers again', '提供方已恢复应答'],
  'why.ramp': ['the route answers again', '该路由已恢复应答'],
  'why.relay': ['the session that asked before got no answer', '先前请求的会话未得到应答'],

  'page.nav': ['Quota and routes', '额度与路由'],
  'page.loading': ['Loading', '加载中'],
  'page.gone': ['Not available here: only a browser on the machine of the host sees this.', '此处不可用：仅主机所在机器的浏览器可见。'],
  'page.stale': ['The host does not answer. This is what it said at {time}.', '主机没有应答。以下是 {time} 的状态。'],
  'page.again': ['Try again', '重试'],
  'page.refresh': ['Refresh readings', '刷新读数'],
  'page.refreshing': ['Reading', '读取中'],

  'pools.title': ['Pools', '路由池'],
  'pools.none': ['No pools are configured, so a session waits on its own route.', '未配置路由池，会话只会在自己的路由上等待。'],
  'pools.start': ['Would be chosen now', '现在会选择它'],
  'pools.threshold': ['chosen from {value}', '不低于 {value} 才会选用'],
  'grade.usable': ['Usable', '可用'],
  'grade.low': ['Low', '余量低'],
  'grade.unread': ['Not read', '未读取'],
  'grade.empty': ['Nothing left', '已无余量'],
  'grade.marked': ['Out of allowance', '额度已用尽'],
  'grade.low.why': ['below its threshold of {value}', '低于阈值 {value}'],
  'grade.unread.why': ['routes without a reading are not used', '没有读数的路由不使用'],
  'grade.open.why': ['counts as usable', '视为可用'],
  'reading.left': ['{value} left', '剩余 {value}'],
  'reading.leftOf': ['{value} of {maximum} left', '剩余 {value} / {maximum}'],
  'reading.age': ['read {duration} ago', '{duration}前读取'],
  'reading.none': ['No reading', '没有读数'],
  'reading.source': ['No balance source', '没有余量来源'],
  'reading.resets': ['the provider says it resets {when}', '提供方称重置时间为 {when}'],
  'reading.error': ['The provider says: {text}', '提供方称：{text}'],
  'missing.exit': ['the script failed', '脚本失败'],
  'missing.timeout': ['the script took too long', '脚本超时'],
  'missing.output': ['the script printed no reading', '脚本没有输出读数'],
  'missing.no-service': ['this host runs no scripts', '此主机不运行脚本'],
  'missing.spawn': ['the script could not be started', '脚本无法启动'],
  'mark.until': ['Marked until {time}', '标记至 {time}'],
  'mark.model': ['This model is marked until {time}', '此模型标记至 {time}'],
  'mark.since': ['refused {duration} ago', '{duration}前被拒绝'],
  'unfit': ['Not fit for a session: {why}', '不适用于会话：{why}'],

  'waiting.title': ['Sessions that wait', '正在等待的会话'],
  'waiting.none': ['No session waits.', '没有会话在等待。'],
  'waiting.next': ['next check {time}', '下次检查 {time}'],
  'waiting.since': ['since {time}', '自 {time}'],
  'waiting.closed': ['not opened since the host started', '主机启动后尚未打开'],
  'waiting.stopOf': ['Stop waiting: {session}', '停止等待：{session}'],
  'waiting.nowOf': ['Retry now: {session}', '立即重试：{session}'],
  'waiting.failed': ['It did not work: this session waits no more.', '未成功：此会话已不在等待。'],

  'moves.title': ['Last failovers of this host', '此主机最近的切换'],
  'moves.none': ['No session was moved since the host started.', '主机启动以来没有会话被切换。'],
  'moves.failover': ['after a refusal', '被拒绝之后'],
  'moves.before': ['before the request', '请求之前'],

  'config.title': ['Configuration in effect', '生效的配置'],
  'config.file': ['Set in {file}', '设置于 {file}'],
  'config.files': ['Set in {file}; also named in {others}', '设置于 {file}；{others} 也提到'],
  'config.nofile': ['No file sets anything: these are the defaults.', '没有文件设置任何内容：以下为默认值。'],
  'config.unset': ['default', '默认'],
  'config.none': ['none', '无'],
} satisfies Record<string, readonly [en: string, zh: string]>

/** A key of the texts. */
export type Key = keyof typeof TEXTS

/** One language, as the page takes it. */
const dictionary = (index: 0 | 1): Record<Key, string> =>
  Object.fromEntries(Object.entries(TEXTS).map(([key, texts]) => [key, texts[index]])) as Record<Key, string>

/** English. */
export const en = dictionary(0)
/** Simplified Chinese. */
export const zh = dictionary(1)
