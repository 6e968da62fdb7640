import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // The harness packages ship plain ESM; letting Node load them keeps one copy of each.
    server: { deps: { external: [/node_modules/] } },
    reporters: ['default'],
  },
})
