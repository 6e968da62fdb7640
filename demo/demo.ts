/** The main job on the real pinned host: no key, no network, nothing left behind. */
import { sceneFailover } from './scene-failover.ts'
import { sceneOutage } from './scene-outage.ts'
import { sceneWait } from './scene-wait.ts'
import { DemoFailure } from './support/checks.ts'

const say = (line: string): void => { console.log(line) }

try {
  say('A real dsh, loopback providers, and this plugin. It takes about a minute.\n')
  await sceneWait(say)
  say('')
  await sceneFailover(say)
  say('')
  await sceneOutage(say)
  say('\nThe demo passed.')
} catch (error) {
  console.error(error instanceof DemoFailure
    ? `\nThe demo failed: ${error.message}`
    : `\nThe demo broke, which is a bug of the demo or of this checkout: ${error instanceof Error ? error.stack : String(error)}`)
  process.exitCode = 1
}
