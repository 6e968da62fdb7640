// Runs tests again and again while other processes eat the cores: what fails here waits on luck.
//
//   npm run test:loaded -- [--times 20] [--hogs <three for each core>] [files]     the quick host tests by default
import { spawn, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

/** In one process with the harness's packages, on fake time; those that start a host take minutes each under load. */
const QUICK = [
  'balances', 'delegation', 'durability', 'failover', 'field-cases', 'gates', 'hostile', 'invariant', 'routing', 'scheduler', 'stale',
  'storage-faults', 'switch', 'waiting', 'watch',
].map(name => `test/host/${name}.test.ts`)

const { values, positionals } = parseArgs({ allowPositionals: true, options: { times: { type: 'string' }, hogs: { type: 'string' } } })
const times = Number(values.times ?? 20)
const hogs = Array.from({ length: Number(values.hogs ?? 3 * availableParallelism()) }, () => {
  // Their input ends with this process, however it ends.
  const code = `process.stdin.on('end', () => process.exit()).resume(); (function work() { for (let i = 0; i < 1e8; i += 1); setImmediate(work) })()`
  return spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'ignore', 'ignore'] })
})
let failed = 0
for (let run = 1; run <= times; run += 1) {
  const begun = performance.now()
  const { status } = spawnSync('vitest', ['run', '--reporter=dot', ...positionals.length > 0 ? positionals : QUICK], { stdio: 'inherit' })
  if (status !== 0) failed += 1
  console.log(`run ${run} of ${times} beside ${hogs.length} busy processes: ${status === 0 ? 'passed' : 'FAILED'} in ${Math.round((performance.now() - begun) / 1_000)} s`)
}
for (const hog of hogs) hog.kill()
console.log(`${times - failed} of ${times} runs passed`)
process.exit(failed === 0 ? 0 : 1)
