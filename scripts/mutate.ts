/**
 * Mutation testing of the pure core: `npm run mutate`, or with the files or globs to change.
 *
 *   npm run mutate -- src/policy/respond.ts     only this file (src/policy/respond.ts:10-40: only these lines)
 *   npm run mutate -- --properties              how many the properties kill alone
 *   npm run mutate -- --fresh                   nothing is taken over from the last run
 *   npm run mutate -- --concurrency 2           how many mutants are tried at the same time (1)
 *
 * It prints a table by file; the report with every mutant is mutation/<with>.html. A second run only tries what
 * changed, in the source or in the tests.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Stryker } from '@stryker-mutator/core'
import { table } from '../bench/table.ts'
import { count, type Figures, rows } from './mutate/table.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, 'mutation')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { properties: { type: 'boolean' }, fresh: { type: 'boolean' }, concurrency: { type: 'string' } },
})
const name = values.properties === true ? 'properties' : 'all'
const concurrency = Number(values.concurrency ?? 1)
if (!Number.isInteger(concurrency) || concurrency < 1) throw new Error(`--concurrency must be a whole number above 0, got "${values.concurrency}"`)

/** Figures of earlier runs: a run of one file keeps those of the others. */
const figuresOf = (which: string): Figures => {
  const file = join(folder, `${which}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Figures : {}
}

process.chdir(root)
process.env['MUTATE_WITH'] = name
const stryker = new Stryker({
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'vitest.mutate.config.ts', related: false },
  mutate: positionals.length > 0 ? positionals : ['src/reducers/**/*.ts', 'src/policy/**/*.ts'],
  coverageAnalysis: 'perTest',
  incremental: true,
  incrementalFile: join('mutation', `${name}.incremental.json`),
  force: values.fresh === true,
  // Everything else would be copied for each run.
  ignorePatterns: ['lib', 'mutation', 'docs', 'examples', 'test/browser', 'test/host', 'test/package', '*.tgz'],
  tempDirName: join('mutation', 'tmp'),
  reporters: ['progress', 'html'],
  htmlReporter: { fileName: join('mutation', `${name}.html`) },
  concurrency,
  // A property that a mutant sends round in circles is killed by this.
  timeoutMS: 30_000,
  allowEmpty: false,
})
// What went wrong was printed already.
const mutants = await stryker.runMutationTest().catch(() => process.exit(1))
const found = count(mutants, fileName => isAbsolute(fileName) ? relative(root, fileName) : fileName)

mkdirSync(folder, { recursive: true })
const known = { all: figuresOf('all'), properties: figuresOf('properties'), [name]: { ...figuresOf(name), ...found } }
writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(known[name], null, 2)}\n`)
console.log(`\n${table(rows(known.all, known.properties, Object.keys(found)))}`)
