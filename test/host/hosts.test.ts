/** Several real hosts on one home. `npm run bench -- hosts` makes twenty trials of each arrangement. */
import { describe, expect, it } from 'vitest'
import { ARRANGEMENTS, hasNamespaces, trial } from '../support/hosts.ts'

const TRIALS = Number(process.env['HOSTS_TRIALS'] ?? 1)

describe('several hosts on one home', { timeout: 150_000 * TRIALS }, () => {
  for (const arrangement of ARRANGEMENTS) {
    const isPossible = arrangement !== 'two pid namespaces' || hasNamespaces()
    it.skipIf(!isPossible)(`${arrangement}${isPossible ? '' : ' (not seen: this machine refuses unshare)'}: the session goes on once, and its log loads`, async () => {
      for (let number = 0; number < TRIALS; number += 1) {
        expect(await trial(arrangement, (number + 0.5) / TRIALS)).toMatchObject({ continued: 1, completed: true, loads: true })
      }
    })
  }
})
