import { execFile } from 'node:child_process'
import { resolveCommands } from '../../host/pool/balances.ts'
import { type Config, ConfigError } from '../../policy/config.ts'
import { parseReading } from '../../policy/pool/readings.ts'
import { type Finding, note, ok, wrong } from './finding.ts'

/** What a script printed; never an error, whose text could hold what nobody should see. */
const run = (argv: readonly string[], env: NodeJS.ProcessEnv, timeout: number): Promise<{ out: string } | { why: string }> => new Promise((resolve) => {
  const [command = '', ...args] = argv
  const child = execFile(command, args, { env, timeout, encoding: 'utf8', maxBuffer: 64 * 1024 }, (error, out) => {
    if (error === null) resolve({ out })
    else resolve({ why: error.killed === true ? `it did not end within ${timeout} ms` : typeof error.code === 'number' ? `it ended with ${error.code}` : `it cannot be run (${error.code ?? 'unknown'})` })
  })
  child.stdin?.end()
})

/**
 * Ask the balance scripts of a configuration. They use keys, so that this is only done when a person asks for it.
 *
 * @param profile - name of the profile.
 * @param config - its configuration.
 * @param asked - whether the person asked for it.
 */
export async function checkBalances(profile: string, config: Config, asked: boolean): Promise<Finding[]> {
  if (config.balances.length === 0) return []
  if (!asked) return [note(`profile ${profile}: ${config.balances.length === 1 ? 'one balance script was' : `${config.balances.length} balance scripts were`} not run, for they use keys`, 'run this again with --run-balances')]
  let commands
  try {
    commands = resolveCommands(config)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(problem => wrong(`profile ${profile}: ${problem}`, 'mend the key'))
    throw error
  }
  return Promise.all(config.balances.map(async ({ provider, env, timeoutMs }) => {
    const command = commands.get(provider)
    const name = `profile ${profile}: balance of ${provider}`
    if (command === undefined) return wrong(`${name}: it has no command`, 'give it a script or a preset')
    const key = command.keyEnv
    if (key !== undefined && process.env[key] === undefined) return note(`${name}: not run, for ${key} is not set here`, `set it for this command, or look at what the host says: it also takes it from its own credential store`)
    const came = await run(command.argv, { ...process.env, ...env }, timeoutMs)
    if ('why' in came) return wrong(`${name}: ${came.why}`, 'run the script by hand and see what it says; until it answers, its routes count as failOpen says')
    const reading = parseReading(came.out, Date.now())
    return reading !== undefined ? ok(`${name}: it answers`) : wrong(`${name}: it prints something else than one reading`, 'it must print one JSON object with "remaining", and nothing else on its standard output')
  }))
}
