import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { jsonText, oneLine } from '../../src/projections/text.ts'
import { audit, scratch, TestLog } from './helpers.ts'

/** Every character that may not reach a terminal: controls, separators, and marks that turn the direction. */
const HIDDEN = '\u0007\u001b\u007f\u009b\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069'
const SHOWN = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/
const log = new TestLog(`id${HIDDEN}`, { parentSession: HIDDEN }).turn().asks(`a${HIDDEN}`, 'm').fails({ code: HIDDEN, message: `x${HIDDEN}y` })
  .moves(`a${HIDDEN}`, `p${HIDDEN}`, `b${HIDDEN}`, `n${HIDDEN}`).row(`x${HIDDEN}`, {}).ends(HIDDEN)

describe('what goes to a terminal or a page', () => {
  it('holds no character that rewrites it, whatever the log holds, in every form of output', async () => {
    using place = scratch()
    const file = place.put(`a${HIDDEN.replace('\u0007', '')}.jsonl`, log.text)
    const page = join(place.dir, 'page.html')
    for (const args of [[file], ['--json', file], ['--ndjson', file], ['--html', page, file], ['--only', HIDDEN, file], ['--session', `no${HIDDEN}`, file]]) {
      const { out, err } = await audit(args)
      expect([args, SHOWN.exec(out)?.[0], SHOWN.exec(err)?.[0]]).toEqual([args, undefined, undefined])
    }
    expect(SHOWN.exec(readFileSync(page, 'utf8'))).toBeNull()
  }, 60_000)

  it('means the same to whoever reads the JSON', async () => {
    using place = scratch()
    const report = JSON.parse((await audit(['--json', place.put('a.jsonl', log.text)])).out)
    expect(report.sessions[0].session).toBe(`id${HIDDEN}`)
    const value = { [HIDDEN]: [HIDDEN, 'é已\u{1F600}\\u202e'] }
    expect([JSON.parse(jsonText(value)), JSON.parse(jsonText(value, 2))]).toEqual([value, value])
    expect(SHOWN.test(jsonText(value, 2))).toBe(false)
  })

  it('quotes a configuration only so', async () => {
    using place = scratch()
    for (const [name, content] of [['c.json', `{"a": "${HIDDEN}`], ['c.yml', `a: [\u001b[2J\u202e`], ['d.yml', `"\u001b[31m\u061c": 1`], ['d.json', JSON.stringify({ [`x${HIDDEN}`]: 1 })]] as const) {
      const { code, err } = await audit(['--what-if', place.put(name, content), place.put('a.jsonl', log.text)])
      expect([name, code, SHOWN.exec(err)]).toEqual([name, 2, null])
    }
  }, 60_000)

  it('is cut, and keeps what may be shown', () => {
    expect(oneLine(`a${HIDDEN}b已\u{1F600}`, 100)).toBe('a b已\u{1F600}')
  })
})
