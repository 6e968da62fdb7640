/** The patterns of the judgement are linear by how they are made: what repeats without a bound is read from their own trees. */
import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp'
import { describe, expect, it } from 'vitest'
import * as terms from '../../../src/policy/judge/allowance/terms.ts'
import { RULES } from '../../../src/policy/judge/rules/table.ts'
import * as resetWords from '../../../src/policy/judge/resets/words.ts'

const patterns = [
  ...RULES.flatMap(rule => Object.values(rule)), ...Object.values(terms), ...Object.values(resetWords),
].filter((value): value is RegExp => value instanceof RegExp)

/** A repetition of whole words: each begins with a letter of its own and has two or more, so there is one way to read a text. */
const ofWords = ({ element }: AST.Quantifier): boolean =>
  (element.type === 'Group') && element.alternatives.every(({ elements }) => elements.length >= 2)

function unbounded(pattern: RegExp): string[] {
  const found: string[] = []
  visitRegExpAST(new RegExpParser().parsePattern(pattern.source, undefined, undefined, { unicode: pattern.flags.includes('u') }), {
    onQuantifierEnter(node) { if (node.max === Number.POSITIVE_INFINITY && !ofWords(node)) found.push(node.raw) },
  })
  return found
}

/** The most steps that one start of a pattern can cost by its gaps: bounded repetitions inside one another multiply. */
function deepest(pattern: RegExp): number {
  let [most, here] = [1, 1]
  const width = ({ max }: AST.Quantifier): number => Number.isFinite(max) ? Math.max(1, max) : 1
  visitRegExpAST(new RegExpParser().parsePattern(pattern.source, undefined, undefined, { unicode: pattern.flags.includes('u') }), {
    onQuantifierEnter(node) { here *= width(node); most = Math.max(most, here) },
    onQuantifierLeave(node) { here /= width(node) },
  })
  return most
}

describe('a pattern of the judgement', () => {
  it('repeats nothing without a bound but whole words, so its steps grow with the text and no faster', () => {
    expect(patterns.length).toBeGreaterThan(60)
    for (const pattern of patterns) {
      expect(unbounded(pattern), pattern.source.slice(0, 80)).toEqual([])
      expect(deepest(pattern), pattern.source.slice(0, 80)).toBeLessThanOrEqual(200)
    }
  })
})
