/**
 * The benches of this package: `pnpm bench`, or `pnpm bench sim`, `hot`, `audit`, `soak`.
 *
 * Prints tables for people, and as its last line one JSON object with every figure.
 */
import { machine } from './machine.ts'

type Bench = (print: (line: string) => void) => Promise<unknown>

/** Loaded only when named: each brings modules that the others need not wait for. */
const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  sim: async () => (await import('./sim/run.ts')).benchSim,
  hot: async () => (await import('./hot.ts')).benchHot,
  audit: async () => (await import('./audit.ts')).benchAudit,
  soak: async () => (await import('./soak.ts')).benchSoak,
  hosts: async () => (await import('./hosts.ts')).benchHosts,
}

const named = process.argv.slice(2).filter(name => !name.startsWith('-'))
const unknown = named.filter(name => !Object.hasOwn(BENCHES, name))
if (unknown.length > 0) {
  console.error(`bench: no bench is called ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`)
  process.exit(1)
}

const print = (line: string): void => { console.log(line) }
const facts = machine()
print(`${facts.cpu}, ${facts.cores} cores, node ${facts.node}, ${facts.platform}\n`)
const figures: Record<string, unknown> = { machine: facts }
for (const name of named.length > 0 ? named : Object.keys(BENCHES).filter(name => name !== 'hosts')) {
  const bench = await BENCHES[name]!()
  figures[name] = await bench(print)
  print('')
}
print(JSON.stringify(figures))
