import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Script, createContext } from 'node:vm'
import { beforeAll, describe, expect, it } from 'vitest'

const path = fileURLToPath(new URL('../../lib/client.js', import.meta.url))

interface Loaded { id: string; factory: (require: (name: string) => unknown) => Record<string, unknown> }

describe('the bundle of the browser half', () => {
  let code: string
  const loaded: Loaded[] = []
  let names: string[]
  beforeAll(() => {
    code = readFileSync(path, 'utf8')
    const page = createContext({ window: { __ModuleLoader__: { load: (entry: Loaded) => { loaded.push(entry) } } } })
    const before = Object.keys(page)
    new Script(code).runInContext(page)
    names = Object.keys(page).filter(name => !before.includes(name))
  })

  it('is smaller than 60 KB', () => {
    expect(Buffer.byteLength(code)).toBeLessThan(60_000)
  })

  it('is one classic script that hands over one factory and leaves no name behind', () => {
    expect(loaded.map(({ id }) => id)).toEqual(['dsh-llm-quota-retry'])
    expect(names).toEqual([])
    expect(code).toMatch(/^window\.__ModuleLoader__\.load\(\{[^]*\}\);\n$/)
  })

  it('needs nothing but React', () => {
    const asked: string[] = []
    const half = loaded[0]?.factory((name) => {
      asked.push(name)
      return { Component: class {} }
    })
    expect(asked).toEqual(['react'])
    expect(half).toEqual({ apply: expect.any(Function), inject: ['slots', 'locale'] })
  })

  it('uses the theme\'s own colours alone', () => {
    expect(code.match(/#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/gi) ?? []).toEqual([])
  })
})
