import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { classifyFailure, type FailureInput, type FailureKind } from '../../../src/classify.ts'

interface Row {
  readonly id: string
  readonly provider: string
  readonly status: number | null
  readonly code: string | null
  readonly message: string
  readonly class: FailureKind
  readonly resetHint: string | null
}

const now = Date.parse('2026-07-01T00:00:00Z')
const rowsOf = (file: string): Row[] =>
  readFileSync(new URL(`../../data/${file}`, import.meta.url), 'utf8').trim().split('\n').map(line => JSON.parse(line) as Row)

const SETS = { given: rowsOf('provider-failures.jsonl'), collected: rowsOf('more-failures.jsonl'), 'newly given': rowsOf('provider-failures-2.jsonl') }
const ALL = Object.values(SETS).flat()
const KINDS: readonly FailureKind[] = ['spent-allowance', 'rate-limit', 'auth', 'context', 'server', 'refused-content', 'other']

/** Labels from before there was a kind for refused content, and one that says `other` of a charge that settles. */
const RELABELLED: Record<string, FailureKind> = { m478: 'refused-content', c147: 'rate-limit' }
/** Rows whose words about the reset stood in another field of the answer. */
const ELSEWHERE = new Set(['c012'])
const isRight = (row: Row, kind: FailureKind): boolean =>
  kind === (RELABELLED[row.id] ?? row.class) || (row.class === 'other' && kind === 'refused-content')

const classify = (failure: FailureInput) => classifyFailure(failure, { now })

/** Rows that a shape without the provider's code cannot tell apart: the sentence alone says something else. */
const CODE_ONLY: Record<string, string> = {
  c115: 'only the number 4 says that the cluster, not the caller, is over its limit',
  c177: 'only FreeUsageLimitError tells this from any rate limit',
  m054: '"token limit" alone is no sentence',
  c089: 'only Throttling.AllocationQuota tells a throttle from a spent quota',
  c196: 'only model_cooldown tells whose cooldown it is',
  t001: 'only token_quota_reached says that the quota is gone',
  t088: 'only the code says that "growth" is one of the rate',
}

/** Rows that consist of a status: a shape that puts another one in front contradicts them. */
const isBareStatus = (row: Row): boolean => row.status === null && /^\d{3} |returned 429/.test(row.message)

const matrix = (rows: readonly Row[]): string => {
  const count = (label: FailureKind, answer: FailureKind) => rows.filter(row => row.class === label && classify(row).kind === answer).length
  const line = (name: string, cells: readonly (string | number)[]) => [name.padEnd(16), ...cells.map(cell => String(cell).padStart(16))].join('')
  return [line('label \\ answer', KINDS), ...KINDS.map(label => line(label, KINDS.map(answer => count(label, answer))))].join('\n')
}

describe.each(Object.entries(SETS))('the %s answers', (name, rows) => {
  test('the confusion matrix', () => {
    console.log(`${name}: ${rows.length} rows\n${matrix(rows)}`)
    expect(rows.length).toBeGreaterThan(100)
  })

  test.each(rows.map(row => [row.id, row] as const))('%s has its class', (_id, row) => {
    expect(isRight(row, classify(row).kind), `${row.class} -> ${classify(row).rule}`).toBe(true)
  })

  test("the provider's words about the reset are kept", () => {
    for (const row of rows)
      if (row.resetHint !== null && !ELSEWHERE.has(row.id) && ['spent-allowance', 'rate-limit', 'server'].includes(row.class))
        // Where a hint begins and ends is a matter of taste; the newly given rows were cut by somebody else.
        expect(classify(row).resetHint, row.id).toEqual(name === 'newly given' ? expect.any(String) : expect.stringContaining(row.resetHint))
  })
})

/** What the harness makes of a status when the text says nothing to it. */
const harnessCode = (status: number | null): string =>
  status === 401 || status === 403 ? 'AUTH' : status === 429 ? 'RATE_LIMIT' : status === 402 ? 'HTTP_402' : status === 400 ? 'INVALID_REQUEST' : (status ?? 0) >= 500 ? 'SERVER' : 'PI_AI_ERROR'

const body = ({ code, message }: Row) => JSON.stringify({ error: { code, message } })

/** How the same answer reaches a listener. */
const SHAPES: Record<string, { readonly withCode: boolean, readonly shape: (row: Row) => FailureInput }> = {
  'the status as a prefix, the code lost': { withCode: false, shape: row => ({ provider: row.provider, code: harnessCode(row.status), message: `${row.status ?? 'Error'}: ${row.message}` }) },
  'an unknown provider, the code lost': { withCode: false, shape: row => ({ provider: 'my-proxy', code: 'PI_AI_ERROR', message: `${row.status ?? ''} ${row.message}` }) },
  'the code as JSON in the text': { withCode: true, shape: row => ({ provider: row.provider, code: harnessCode(row.status), message: `${row.status ?? ''} ${body(row)}` }) },
  'a client\'s "Error code: N - {...}"': { withCode: true, shape: row => ({ provider: row.provider, code: 'PI_AI_ERROR', message: `Error code: ${row.status ?? 400} - {'error': {'message': '${row.message}', 'type': '${row.code}'}}` }) },
  'a body inside a body': { withCode: true, shape: row => ({ provider: row.provider, code: harnessCode(row.status), message: `HTTP ${row.status ?? 400}: ${JSON.stringify({ error: { message: body(row) } })}` }) },
}

describe.each(Object.entries(SHAPES))('as the harness delivers them: %s', (_name, { withCode, shape }) => {
  test('every answer keeps its class', () => {
    const wrong = ALL.filter(row => !isBareStatus(row) && (withCode || CODE_ONLY[row.id] === undefined))
      .filter(row => !isRight(row, classify(shape(row)).kind))
      .map(row => `${row.id} ${row.class} -> ${classify(shape(row)).rule}: ${row.message.slice(0, 80)}`)
    expect(wrong).toEqual([])
  })
})

describe('a code of the harness in place of the provider\'s', () => {
  test('given QUOTA, then every throttle of a minute is marked as one', () => {
    const minutes = ALL.filter(row => row.class === 'rate-limit' && /per minute|\bTPM\b|\bRPM\b/i.test(row.message))
    expect(minutes.length).toBeGreaterThan(10)
    for (const row of minutes)
      expect(classify({ ...row, code: 'QUOTA' }), row.id).toMatchObject({ kind: 'spent-allowance', throttle: true })
  })

  test('given QUOTA, then no spent allowance of a longer window is marked as a throttle', () => {
    for (const row of ALL.filter(({ class: label }) => label === 'spent-allowance'))
      expect(classify({ ...row, code: 'QUOTA' }), row.id).not.toHaveProperty('throttle')
  })
})
