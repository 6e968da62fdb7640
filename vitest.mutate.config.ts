import { defineConfig } from 'vitest/config'

/** What `npm run mutate` asks of every mutant: the pure tests and the properties, or the properties alone. */
const properties = ['test/properties/**/*.test.ts', 'test/policy/**/*.property.test.ts', 'test/reducers/**/*.property.test.ts']
const pure = ['reducers', 'policy', 'properties', 'events', 'projections'].map(folder => `test/${folder}/**/*.test.ts`)

export default defineConfig({
  test: {
    include: process.env['MUTATE_WITH'] === 'properties' ? properties : pure,
    // The same examples for every mutant, or one that lives and one that dies could change places between two runs.
    setupFiles: ['test/support/fixed-seed.ts'],
    testTimeout: 60_000,
    server: { deps: { external: [/node_modules/] } },
  },
})
