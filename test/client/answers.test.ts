import { describe, expect, it } from 'vitest'
import { chineseAnswer } from '../../client/transcript/answers.ts'
import { MOVED_WHYS } from '../../src/events/route-notes.ts'
import { parseConfig } from '../../src/policy/config.ts'
import { noteText } from '../../src/projections/notes.ts'
import { routesReport, routesText } from '../../src/projections/routes.ts'
import { poolStatusText, retryStatusText } from '../../src/projections/status.ts'
import { foldSession } from '../../src/reducers/session.ts'
import { log, MINUTE, NOON, waitingLog } from '../support/build.ts'
import { A, B, mark, world } from '../support/world.ts'

const config = parseConfig({ pools: { medium: { routes: [A, B] } }, balances: [{ provider: 'b', script: ['node', 'x.mjs'], minimumRemaining: 5 }] })

/** What is left in English once names, commands and what a provider said are taken out. */
const english = (text: string): string[] => chineseAnswer(text).split('\n').filter(line => !/\p{Script=Han}/u.test(line))

describe('answers of commands in a Chinese page', () => {
  it.each([
    ['before anything', log()], ['on a route', log().turn().asks()], ['in a wait', waitingLog()], ['after a cancel', waitingLog().after(MINUTE).cancels()],
    ['switched off', log().command('/quota-retry off').command('/quota-pool off')], ['cut off', waitingLog().crashes()],
  ])('say how a session stands: %s', (_what, of) => {
    const state = foldSession(of.rows)
    expect(english(retryStatusText(state, config, NOON + 2 * MINUTE))).toEqual([])
    expect(english(poolStatusText(state, config))).toEqual([])
  })

  it('say how the routes stand, part by part, and leave a provider\'s words alone', () => {
    const known = { ...world({ marks: [mark('a', { message: 'usable, they said; nothing left', resetHint: 'try again at 5pm' })], now: NOON + MINUTE }), readings: { b: { remaining: 8, maximum: 10, unit: 'usd', resetsAt: 'on Monday', error: 'slow, very', at: NOON } } }
    const text = chineseAnswer(routesText(routesReport(known, config, { unfit: [], absent: [{ route: A, why: 'no such model', at: NOON }] }))!)
    expect(text.split('\n')).toEqual([
      '路由池 medium；/quota-pool medium 会选择 b/n（可用）：',
      '    1. a/m：此主机没有；没有读数',
      expect.stringMatching(/^ {7}1 分钟前被拒绝（spent: usable, they said; nothing left）；标记至 .+；提供方称：try again at 5pm$/),
      '       此主机不会向其发送：no such model',
      '  > 2. b/n：可用；剩余 8 / 10 usd；1 分钟前读取；低于 5 usd 时不选用；重置时间 on Monday；提供方称：slow, very',
    ])
  })

  it('say where requests go', () => {
    const from = { provider: 'a', model: 'm' }
    const to = { provider: 'b', model: 'n' }
    const state = foldSession(log().turn().asks().rows)
    for (const why of MOVED_WHYS) expect(english(noteText({ kind: 'moved', base: from, from, to, pool: 'medium', why }, state))).toEqual([])
    expect(english(noteText({ kind: 'picked', route: to }, state))).toEqual([])
    expect(english(noteText({ kind: 'stands', route: to }, state))).toEqual([])
  })

  it.each([
    ['Quota retry is off for this session.', '此会话的额度重试：关。'],
    ['There is no pool "large". Pools: medium, spare.', '没有名为“large”的路由池。现有路由池：medium, spare。'],
    ['Quota retry is on for this session. It is not on the disk yet: the storage is slow or fails.', '此会话的额度重试：开。尚未写入磁盘：存储缓慢或失败。'],
    ['Asking the provider again now.', '正在立即重新请求提供方。'],
    ['A sentence of a later version.', 'A sentence of a later version.'],
  ])('say %s', (text, expected) => {
    expect(chineseAnswer(text)).toBe(expected)
  })

  it('that are longer than any of ours stay as they are', () => {
    const long = 'refused ago ('.repeat(2_000)
    expect(chineseAnswer(long)).toBe(long)
  })
})
