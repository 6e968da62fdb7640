import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newestGenerations } from '../../src/audit/find.ts'
import { audit, frame, HOUR, scratch, TestLog } from './helpers.ts'

/** A home with sessions, each with the files of its directory. */
function home(dir: string, sessions: Readonly<Record<string, Readonly<Record<string, string | Buffer>>>>): string {
  for (const [id, files] of Object.entries(sessions)) {
    const directory = join(dir, 'sessions', '--work--', id)
    mkdirSync(directory, { recursive: true })
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  }
  return dir
}
const log = (id: string): string => new TestLog(id).turn().asks('b', 'n').answers('b', 'n').ends().text

describe('--session', () => {
  it('takes an id that is given whole, and not those that begin like it', async () => {
    using place = scratch()
    home(place.dir, Object.fromEntries(['session-5', 'session-50', 'session-51'].map(id => [id, { 'session.jsonl': log(id) }])))
    for (const asked of ['session-5', '5']) {
      const { code, out, err } = await audit(['--no-timeline', '--home', place.dir, '--session', asked])
      expect([code, err, out.match(/^Session .*/gm)]).toEqual([0, '', ['Session session-5']])
    }
    expect((await audit(['--session', '50', join(place.dir, 'sessions')])).out).toMatch(/^Session session-50\n/)
  })

  it('refuses a beginning of several, and names them', async () => {
    using place = scratch()
    home(place.dir, Object.fromEntries(['session-50', 'session-51', 'other'].map(id => [id, { 'session.jsonl': log(id) }])))
    expect(await audit(['--home', place.dir, '--session', '5'])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--session 5: 2 sessions begin like this: session-50, session-51; give more of the id') })
    const input = log('session-50') + log('session-51')
    const piped = await audit(['--no-timeline', '--session', '5', '-'], { input })
    expect([piped.code, piped.out.match(/^Session .*/gm)]).toEqual([1, ['Session session-50']])
    expect(piped.err).toContain('session-51 begins like session-50, and is left out')
  })
})

describe('formats of logs', () => {
  it('are told by the name of the file, and the newest is read', () => {
    expect(newestGenerations(['session.jsonl.zstd', 'session.v1.jsonl.zstd', 'session.v12.jsonl', 'session.v3.jsonl.zstd', 'a.jsonl'])).toEqual(['session.v12.jsonl', 'a.jsonl'])
    expect(newestGenerations(['session.jsonl', 'session.jsonl.zstd'])).toEqual(['session.jsonl.zstd'])
    expect(newestGenerations(['session.v03.jsonl', 'x.jsonl', 'session.V4.jsonl'])).toEqual(['session.v03.jsonl', 'x.jsonl', 'session.V4.jsonl'])
    expect(newestGenerations([])).toEqual([])
  })

  it('count a session once, and read what later formats write', async () => {
    using place = scratch()
    const old = new TestLog('s1').turn().asks('a', 'm').fails().waits(1).after(HOUR).starts(1).answers('a', 'm').ends().text
    const failure = { code: 'QUOTA', message: '402: Insufficient Balance', status: 402 }
    const later = new TestLog('s1', { version: 4, isSeeded: false }).turn().asks('a', 'm')
      .row('assistant/attempt', { turn: 1, step: 1, stream: [{ chunk: { type: 'finish', reason: { kind: 'error', failure } } }] })
      .waits(1).after(HOUR).starts(1)
      .row('assistant/message', { turn: 1, step: 1, stream: [], message: { role: 'assistant', content: [], source: { kind: 'model', provider: 'a', model: 'm' } } })
      .ends('forked').row('user/message', { source: { kind: 'plugin:llm-quota-retry' }, content: [] }).turn(2).answers('a', 'm', 2).ends('completed', 2).text
    home(place.dir, { s1: { 'session.jsonl.zstd': frame(old), 'session.v4.jsonl.zstd': frame(later) } })
    const { code, out, err } = await audit(['--home', place.dir])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('1 session, 1 of them out of allowance at some time\nRequests: 2 answered, 1 refused, 1 spent')
    expect(out).toContain('turn 1 ended: forked')
    expect(out).toContain('session.v4.jsonl.zstd')
  })
})

describe('the longest outage', () => {
  it('is put on the route that was waited for, not on the one that was asked for a moment on the way out', async () => {
    using place = scratch()
    const story = new TestLog('s1').turn().asks('a', 'm').fails().waits(1, HOUR, 'a').after(HOUR).starts(1).fails()
      .moves('a', 'p', 'b', 'n').fails().waits(1, 60_000, 'b').after(60_000).starts(1).answers('b', 'n').ends()
    const { out } = await audit([place.put('a.jsonl', story.text)])
    expect(out).toContain('Longest outage: 1 h 1 min on a/m')
  })
})
