import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Bound of what is waited for, in ms. Nothing is measured by it: it only ends a test whose event never comes. */
const PATIENCE_MS = 150_000

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS / 2 } },
    // By default one core is left alone, which on two cores means one file at a time; and a file that drives a host or a
    // browser waits for most of its time.
    maxWorkers: availableParallelism() + 1,
    // The harness packages ship plain ESM; letting Node load them keeps one copy of each.
    server: { deps: { external: [/node_modules/] } },
    reporters: ['default'],
  },
})
