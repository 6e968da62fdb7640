import { describe, expect, it } from 'vitest'
import { count, rows } from '../../scripts/mutate/table.ts'

const mutants = (fileName: string, ...statuses: string[]) => statuses.map(status => ({ fileName, status }))

describe('the figures of a mutation run', () => {
  it('count what no test covers as alive, and leave out what says nothing of the tests', () => {
    expect(count(mutants('a', 'Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'CompileError'))).toEqual({ a: { killed: 2, survived: 2 } })
  })

  it('are shown worst first, with sums for folders whose every file was run', () => {
    const all = count([...mutants('src/policy/b.ts', 'Killed', 'Killed'), ...mutants('src/policy/a/c.ts', 'Killed', 'Survived'), ...mutants('src/reducers/d.ts', 'Killed')])
    const properties = count([...mutants('src/policy/b.ts', 'Killed', 'Survived'), ...mutants('src/reducers/d.ts', 'Survived')])
    expect(rows(all, properties, Object.keys(all)).slice(1)).toEqual([
      ['src/policy/a/c.ts', '2', '50.0 %', '', '1'],
      ['src/policy/b.ts', '2', '100.0 %', '50.0 %', '0'],
      ['src/reducers/d.ts', '1', '100.0 %', '0.0 %', '0'],
      ['src/policy', '4', '75.0 %', '', '1'],
      ['src/reducers', '1', '100.0 %', '0.0 %', '0'],
      ['all', '5', '80.0 %', '', '1'],
    ])
  })

  it('are shown for the properties alone where nothing else was run', () => {
    expect(rows({}, count(mutants('src/policy/b.ts', 'Killed', 'Survived')), ['src/policy/b.ts'])[1]).toEqual(['src/policy/b.ts', '2', '', '50.0 %', ''])
  })
})
