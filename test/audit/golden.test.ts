import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { audit, root } from './helpers.ts'

const directory = join(root, 'test/golden')
const names = readdirSync(directory).filter(file => file.endsWith('.jsonl')).map(file => file.slice(0, -'.jsonl'.length))
const stored = (file: string): string => readFileSync(join(directory, file), 'utf8')

/**
 * Logs of real runs of the pinned host, and what the audit said of them when they were stored. A change of a reducer or
 * of a rule shows itself here as a difference that a person can judge; when it is meant, write them anew:
 * `node scripts/record-golden.ts --audits`.
 */
describe('the golden logs', () => {
  it('cover the ordinary paths', () => {
    expect(names).toEqual(expect.arrayContaining(['failover', 'failover-then-wait', 'cancelled-wait-then-recovered', 'ordinary-401', 'ordinary-429', 'recovered-wait', 'switched-off-in-a-wait']))
  })

  it.each(names)('%s', async (name) => {
    const log = `test/golden/${name}.jsonl`
    const text = await audit([log])
    expect([text.code, text.err]).toEqual([0, ''])
    expect(text.out).toBe(stored(`${name}.txt`))
    expect(JSON.parse((await audit(['--json', log])).out)).toEqual(JSON.parse(stored(`${name}.audit.json`)))
    expect((await audit(['--full-parse', log])).out).toBe(text.out)
  })

  it('hold no path of the machine that recorded them', () => {
    for (const name of names) expect(stored(`${name}.jsonl`)).not.toMatch(/\/tmp\/|\/root\/|dsh-home-/)
  })
})
