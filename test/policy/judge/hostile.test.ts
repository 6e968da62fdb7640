/** A megabyte of adversarial text is looked at in a bounded part, however it is made: counted, not timed. */
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { classifyFailure, parseReset } from '../../../src/classify.ts'

const MEGABYTE = 1_000_000
const PIECES = [
  'a', ' ', '\n', '(', '[', '"', '\\', '=', ':', '.', '0', '9', '-', '|', '/', '余', '上限', '　', '\u0000', '\u001B[2J', '\uD800', '\uDC00', '\uFDFA', 'ﷺ', '\u0300', '😀',
  'quota ', 'limit ', 'reset', 'resets at ', 'retry-after: ', 'in 3h', 'per ', 'per minute ', '10:30', '2026-09-01', 'balance ', 'insufficient ', 'exceeded ', 'http://', 'https://a.b/',
  'code:"', '"type": "', '<b>', '&#x27;', 'error 429 ', 'exceeded your ', 'usage ', 'in an ', 'try again ', 'wait for ', 'reset_after_seconds: ', 'rate-limit', 'AccountQuotaExceeded', '__proto__',
]

/** What regular expressions were made to look at: every match of every kind goes through `exec`. */
interface Looked {
  calls: number
  longest: number
  total: number
}

function count(run: () => void): Looked {
  const looked: Looked = { calls: 0, longest: 0, total: 0 }
  const { exec } = RegExp.prototype
  vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0
    looked.calls += 1
    looked.longest = Math.max(looked.longest, text.length)
    looked.total += Math.max(0, text.length - from)
    return exec.call(this, text)
  })
  try {
    run()
  } finally {
    vi.restoreAllMocks()
  }
  return looked
}

const megabyteOf = (piece: string): string => piece.repeat(Math.ceil(MEGABYTE / piece.length))

describe('a megabyte of anything', () => {
  afterEach(() => { vi.restoreAllMocks() })

  const adversarial = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }).map(parts => parts.join(''))

  it('has a bounded part of it looked at by every rule, and by every reader of a time', () => {
    let longest = 0
    fc.assert(fc.property(adversarial, adversarial, (head, body) => {
      const message = (head + megabyteOf(body)).slice(0, MEGABYTE)
      const looked = count(() => {
        classifyFailure({ message, code: megabyteOf(head), provider: megabyteOf(body), status: 429 }, { now: 0 })
        parseReset(message, { now: 0 })
      })
      longest = Math.max(longest, looked.longest)
      // Eight thousand characters, and the words of the codes in them.
      expect(looked.longest).toBeLessThan(20_000)
    }), { numRuns: 60, examples: PIECES.map(piece => [piece, piece] as [string, string]) })
    expect(longest).toBeGreaterThan(8_000)
  }, 120_000)

  it('costs no more looks than eight thousand characters do', () => {
    fc.assert(fc.property(adversarial, (piece) => {
      const [long, short] = [megabyteOf(piece), megabyteOf(piece).slice(0, 8_000)].map(message => count(() => { classifyFailure({ message }, { now: 0 }) }))
      expect(long!.calls).toBeLessThanOrEqual(2 * short!.calls + 1_000)
    }), { numRuns: 40 })
  }, 120_000)
})
