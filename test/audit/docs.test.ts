import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { USAGE } from '../../src/audit/options.ts'
import { audit, root, scratch } from './helpers.ts'

const page = readFileSync(join(root, 'docs/AUDIT.md'), 'utf8')
const blocks = (language: string): string[] => [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(match => match[1] === language).map(match => match[2]!)
const golden = readdirSync(join(root, 'test/golden')).filter(file => file.endsWith('.jsonl'))

/** Every name of a field in a value, without those of free maps. */
function fields(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fields)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => ['byKind', 'byRule'].includes(key) ? [key] : [key, ...fields(inner)])
}

describe('docs/AUDIT.md', () => {
  it.each(blocks('console').map(block => [block.split('\n')[0]!, block]))('%s: prints what the page says', async (_name, block) => {
    using place = scratch()
    for (const file of golden) copyFileSync(join(root, 'test/golden', file), join(place.dir, file))
    place.put('other.yml', blocks('yaml')[0]!)
    const [command, ...output] = block.split('\n')
    const { out } = await audit(command!.replace('$ dsh-quota-audit ', '').split(' '), { cwd: place.dir })
    expect(out.trimEnd()).toBe(output.join('\n').trimEnd())
  })

  it('names every option of the command', () => {
    const options = new Set(USAGE.match(/--[a-z-]+/g))
    expect([...options].filter(option => !page.includes(`\`${option}`))).toEqual([])
  })

  it('names every field of the document', async () => {
    using place = scratch()
    const { out } = await audit(['--json', '--what-if', place.put('c.json', '{"longTermDelayMs":500,"maxWaitMs":600}'), ...golden.map(file => join(root, 'test/golden', file))])
    expect([...new Set(fields(JSON.parse(out)))].filter(field => !page.includes(`\`${field}\``))).toEqual([])
  })
})
