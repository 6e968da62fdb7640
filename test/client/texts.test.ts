import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { en, TEXTS, zh } from '../../client/texts.ts'
import { WAIT_CAUSES } from '../../src/events/policy-key.ts'
import { ROUTE_GRADES } from '../../src/projections/routes.ts'

const client = fileURLToPath(new URL('../../client', import.meta.url))
const sources = readdirSync(client, { recursive: true, encoding: 'utf8' })
  .filter(file => /\.tsx?$/.test(file) && file !== 'texts.ts').map(file => readFileSync(join(client, file), 'utf8')).join('\n')
const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).toSorted()

describe('the texts', () => {
  it('have the same keys in both languages, and no empty one', () => {
    expect(Object.keys(zh)).toEqual(Object.keys(en))
    expect(Object.entries({ ...en }).concat(Object.entries(zh)).filter(([, text]) => text.trim() === '')).toEqual([])
  })

  it('fill in the same values', () => {
    for (const [key, [english, chinese]] of Object.entries(TEXTS)) {
      expect(new Set(placeholders(chinese)), key).toEqual(new Set(placeholders(english)))
      expect(chinese, key).toMatch(/\p{Script=Han}|\{/u)
    }
  })

  it('are all used, and none is asked for that is not there', () => {
    const asked = [...sources.matchAll(/\bt\('([\w.-]+)'/g)].map(([, key]) => key ?? '')
    expect(asked.filter(key => !(key in TEXTS))).toEqual([])
    const prefixes = [...sources.matchAll(/`(\w+)\.\$\{/g)].map(([, prefix]) => `${prefix}.`)
    expect(Object.keys(TEXTS).filter(key => !sources.includes(`'${key}'`) && !prefixes.some(prefix => key.startsWith(prefix)))).toEqual([])
  })

  it('have one for each grade and each early cause', () => {
    expect(ROUTE_GRADES.filter(grade => !(`grade.${grade}` in TEXTS))).toEqual([])
    const early = ['asked', 'message', 'reading', 'answer', 'ramp', 'relay']
    expect(WAIT_CAUSES.filter(cause => early.includes(cause) && !(`why.${cause}` in TEXTS))).toEqual([])
  })

  it('never call the next check a reset', () => {
    expect(Object.entries(TEXTS).filter(([key, texts]) => /^(?:wait|waiting|retry|line)\./.test(key) && /reset|重置/i.test(texts.join()))).toEqual([])
  })
})
