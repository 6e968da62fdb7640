import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { audit, scratch, TestLog } from './helpers.ts'

const EVIL = '</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\u2028&'

async function pageOf(log: TestLog): Promise<string> {
  using place = scratch()
  const target = join(place.dir, 'out.html')
  const { code } = await audit(['--no-timeline', '--html', target, place.put('a.jsonl', log.text)])
  expect(code).toBe(0)
  return readFileSync(target, 'utf8')
}

const evil = new TestLog(EVIL).turn().asks(EVIL, EVIL).fails({ code: EVIL, message: EVIL }).moves(EVIL, EVIL, 'b', EVIL).answers('b', EVIL).ends(EVIL)

describe('the page', () => {
  it('holds the audit as data, with foreign text that cannot leave it', async () => {
    const page = await pageOf(evil)
    expect(page.match(/<\/?script/g)).toHaveLength(4)
    expect(page).not.toContain('<img')
    expect(page).not.toContain('<!--')
    const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? ''
    expect(JSON.parse(data).sessions[0].session).toBe(EVIL)
  })

  it('needs nothing from outside and forbids it', async () => {
    const page = (await pageOf(evil)).replace(/<script type="application\/json".*?<\/script>/s, '')
    expect(page).toContain('default-src \'none\'')
    expect(page).not.toMatch(/\bsrc=|<link|@import|url\(\s*['"]?(?!#)|fetch\(|innerHTML|insertAdjacentHTML|document\.write|eval\(/)
  })

  it('has a script that parses', async () => {
    const script = /<script>(.*?)<\/script>/s.exec(await pageOf(evil))?.[1] ?? ''
    expect(script.length).toBeGreaterThan(5_000)
    expect(() => new Script(script)).not.toThrow()
  })
})
