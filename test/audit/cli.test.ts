import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { audit, frame, HOUR, root, scratch, SPENT, START, story, TestLog } from './helpers.ts'

const HOSTILE = '\u001b[2J\u001b]0;x\u0007\r\nfake line'

describe('dsh-quota-audit', () => {
  it('tells the whole story of a session to a person', async () => {
    using place = scratch()
    const { code, out, err } = await audit([place.put('a.jsonl', story().text)])
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n').map(line => line.replace(/^ +\d{4}-\S+ /, '')).slice(2, 16)).toEqual([
      '12:00:00  requests go to a/m',
      '12:00:00  request refused by a/m: spent-allowance by rule host-quota (QUOTA 402: 402: Insufficient Balance)',
      '12:00:00  wait 1: next check in 1 h (the interval)',
      '13:00:00  asking again after 1 h',
      '13:00:00  request refused by a/m: spent-allowance by rule host-quota (QUOTA 402: 402: Insufficient Balance)',
      '13:00:00  wait 2: next check in 1 h (the interval)',
      '14:00:00  asking again after 1 h',
      '14:00:01  answered by a/m; recovered after 2 h and 2 waits',
      '14:00:02  request refused by a/m: spent-allowance by rule host-quota (QUOTA 402: 402: Insufficient Balance)',
      '14:00:02  moved from a/m to b/n (pool pool) because of rule host-quota',
      '14:00:02  requests go to b/n',
      '14:00:03  answered by b/n',
      '  = 2 answers, 3 refusals (3 for a spent allowance); 1 move; 2 waits, 2 h waited, 2 attempts after them',
      '',
    ])
    expect(out).toContain('Failovers: 1, 1 confirmed by a request\n  a/m -> b/n: 1\n')
    expect(out).toContain('Longest outage: 2 h on a/m')
  })

  it('says the same to machines, whole or line by line', async () => {
    using place = scratch()
    const file = place.put('a.jsonl', story().text)
    const report = JSON.parse((await audit(['--json', file])).out)
    expect(report).toMatchObject({ version: 1, sessions: [{ session: 's1', file, totals: { answered: 2, refused: 3, spent: 3, moves: 1, waits: 2, attempts: 2, waitedMs: 2 * HOUR, entries: 1 } }] })
    expect(report.sessions[0].waits.map((wait: any) => [wait.plannedMs, wait.keptMs, wait.endedBy])).toEqual([[HOUR, HOUR, 'attempt'], [HOUR, HOUR, 'attempt']])
    expect(report.sessions[0].moves).toMatchObject([{ from: { provider: 'a', model: 'm' }, to: { provider: 'b', model: 'n' }, pool: 'pool', reason: 'spent-allowance by rule host-quota', confirmedAt: START + 2 * HOUR + 2_000 }])
    const lines = (await audit(['--ndjson', file])).out.trimEnd().split('\n').map(line => JSON.parse(line))
    expect(lines.every(line => line.version === 1)).toBe(true)
    expect(lines.filter(line => line.record === 'wait').map(({ version: _v, session: _s, file: _f, ...wait }) => wait)).toEqual(report.sessions[0].waits)
    expect(lines.at(-1)).toEqual({ version: 1, record: 'summary', ...report.summary })
  })

  it('narrows by time, provider and kind', async () => {
    using place = scratch()
    const file = place.put('a.jsonl', story().text)
    place.put('b.jsonl', new TestLog('s2').turn().asks('z', 'm').answers('z', 'm').ends().text)
    const later = await audit(['--since', '2026-09-01T14:00:02Z', file])
    expect(later.out).toContain('moved from')
    expect(later.out).not.toContain('wait 1')
    const other = await audit(['--provider', 'z', place.dir])
    expect(other.out).toContain('Session s2')
    expect(other.out).not.toContain('Session s1')
    const moves = await audit(['--only', 'failovers', place.dir])
    expect(moves.out.split('\n').filter(line => line.startsWith('  2026'))).toEqual([expect.stringContaining('moved from a/m to b/n')])
    expect(moves.out).not.toContain('Session s2')
    const one = await audit(['--session', 's2', place.dir])
    expect([one.code, one.out.includes('Session s2'), one.out.includes('Session s1')]).toEqual([0, true, false])
    expect((await audit(['--no-timeline', file])).out).not.toContain('2026-09-01 13:00:00')
  })

  it('finds a session in a home, with the journal beside the logs', async () => {
    using place = scratch()
    const project = join(place.dir, 'sessions', '--work--', 's~0031x')
    mkdirSync(project, { recursive: true })
    mkdirSync(join(place.dir, 'storages'))
    writeFileSync(join(project, 'session.jsonl.zstd'), frame(new TestLog('s1x').turn().asks('b', 'n').answers('b', 'n').ends().text))
    mkdirSync(join(place.dir, 'sessions', '--work--', 's1'))
    writeFileSync(join(place.dir, 'sessions', '--work--', 's1', 'session.jsonl.zstd'), frame(new TestLog('s1').turn().asks('b', 'n').answers('b', 'n').ends().text))
    const moved = { type: 'requestMoved', session: 's1', at: START, pool: 'p', from: { provider: 'a', model: 'm' }, to: { provider: 'b', model: 'n' }, why: 'a is marked' }
    writeFileSync(join(place.dir, 'storages', 'llm_quota_retry.json'), JSON.stringify({ unit: { name: 'llm_quota_retry', version: 0 }, global: null, tables: { journal: { moves: { records: [moved, { type: 'of a later version' }] } } } }))
    for (const [args, env] of [[['--home', place.dir, '--session', 's1'], {}], [['--session', 's1'], { DSH_HOME: place.dir }]] as const) {
      const { code, out } = await audit(args, { env })
      expect(code).toBe(0)
      expect(out).toContain('moved before sending from a/m to b/n (pool p): a is marked')
      expect(out).toContain('Failovers: 1, 1 confirmed')
    }
    expect(await audit(['--home', place.dir, '--session', 'nobody'])).toMatchObject({ code: 1, err: expect.stringContaining('no log of a session "nobody"') })
  })

  it('reads standard input, plain or packed', async () => {
    for (const input of [Buffer.from(story().text), frame(story().text)]) {
      expect((await audit(['-'], { input })).out).toContain('Session s1\n  standard input')
    }
    expect((await audit([], { input: story().text })).out).toContain('Session s1')
  })

  it('takes logs that were put end to end for one session after another', async () => {
    const input = story().text + new TestLog('s2').turn().asks('b', 'n').answers('b', 'n').ends().text
    const { out } = await audit(['--no-timeline', '-'], { input })
    expect(out).toMatch(/Session s1\n[^]*Session s2\n[^]*2 sessions, 1 of them out of allowance/)
    expect((await audit(['--no-timeline', '--session', 's2', '-'], { input })).out).toMatch(/^Session s2\n[^]*1 session, 0 of them out of allowance/)
    const lines = (await audit(['--ndjson', '-'], { input })).out.trimEnd().split('\n').map(line => JSON.parse(line))
    expect(lines.filter(({ record }) => record === 'session-end').map(({ session }) => session)).toEqual(['s1', 's2'])
  })

  it('says what it cannot read, goes on, and ends with 1', async () => {
    using place = scratch()
    const good = place.put('a.jsonl', story().text)
    const { code, out, err } = await audit([place.put('no.jsonl', 'hello\n'), join(place.dir, 'gone.jsonl'), good])
    expect(code).toBe(1)
    expect(out).toContain('Session s1')
    expect(err.trimEnd().split('\n')).toEqual([expect.stringMatching(/no\.jsonl: no row of a session log/), expect.stringMatching(/gone\.jsonl: there is no such file/)])
    expect((await audit([place.put('cut.jsonl', story().text.slice(0, -5))])).code).toBe(0)
  })

  it.each([
    [['--bogus']], [['--only', 'waits', 'x']], [['--since', 'yesterday', 'x']], [['--json', '--ndjson', 'x']], [['--home', 'a', 'b']], [['--session', '', 'x']], [['--what-if', '/nowhere.json', 'x']],
  ])('%j makes no sense: 2', async (args) => {
    const { code, out, err } = await audit(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^dsh-quota-audit: .+\n/)
  })

  it('helps, and says its version', async () => {
    expect(await audit(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('Usage: dsh-quota-audit'), err: '' })
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(await audit(['--version'])).toMatchObject({ code: 0, out: `${version}\n` })
  })

  it('never sends control characters of a log to a terminal', async () => {
    using place = scratch()
    const log = new TestLog(`id${HOSTILE}`, { parentSession: HOSTILE }).turn().asks(`a${HOSTILE}`, 'm').fails({ code: HOSTILE, message: HOSTILE })
      .moves(`a${HOSTILE}`, 'p', HOSTILE, HOSTILE).row('future/x', {}).row(`x${HOSTILE}`, {}).ends(HOSTILE).text
    const { out, err } = await audit([place.put('a.jsonl', log)])
    expect(out + err).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/)
    expect(out).not.toMatch(/^fake line/m)
  })

  it('ends quietly when its reader has enough', async () => {
    using place = scratch()
    const log = new TestLog().turn()
    for (let count = 0; count < 5_000; count += 1) log.fails(SPENT).waits(1, 1).starts(1)
    for (let copy = 0; copy < 5; copy += 1) place.put(`${copy}.jsonl`, log.text)
    const child = spawn(process.execPath, [join(root, 'src/audit/cli.ts'), place.dir], { stdio: ['ignore', 'pipe', 'pipe'] })
    let err = ''
    child.stderr.on('data', (part) => { err += String(part) })
    child.stdout.once('data', () => { child.stdout.destroy() })
    const code = await new Promise(resolve => child.on('close', resolve))
    expect([code, err]).toEqual([0, ''])
  })
})
