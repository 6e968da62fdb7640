/** A process that claims a home's journal and lives until its input ends: `node other-host.ts <storages>`. */
import { join } from 'node:path'
import { Claim, LOOK_MS } from '../../src/host/claim.ts'
import { systemClock } from '../../src/host/clock.ts'
import { OWNER_DIRECTORY } from '../../src/host/journal-store.ts'

const claim = new Claim({ directory: join(process.argv[2]!, OWNER_DIRECTORY), clock: systemClock, onLost: () => { console.log('lost') } })
while ((await claim.look()).kind !== 'held') await new Promise(resolve => setTimeout(resolve, LOOK_MS))
console.log('held')
process.stdin.resume().on('end', () => { process.exit(0) })
