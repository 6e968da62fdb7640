import { describe, expect, it } from 'vitest'
import { readJournalRecord } from '../../src/events/journal.ts'
import { NOON } from '../support/build.ts'

const route = { provider: 'a', model: 'm' }
const MARKED = { type: 'providerMarked', provider: 'a', at: NOON, until: NOON + 1, rule: 'r', message: 'spent' }

describe('a journal record', () => {
  it.each([
    MARKED,
    { ...MARKED, resetHint: 'tomorrow', resetsAt: NOON },
    { type: 'providerLifted', provider: 'a', at: NOON, by: 'answer' },
    { type: 'providerLifted', provider: 'a', at: NOON, by: 'answer', heardAt: NOON + 1 },
    { ...MARKED, type: 'routeMarked', model: 'm' },
    { type: 'routeLifted', provider: 'a', model: 'm', at: NOON, by: 'answer' },
    { type: 'sessionWaiting', session: 's', at: NOON, nextAttemptAt: NOON + 1, provider: 'a' },
    { type: 'sessionReleased', session: 's', at: NOON },
    { type: 'requestMoved', session: 's', at: NOON, pool: 'p', from: route, to: { ...route, provider: 'b' }, why: 'marked' },
  ])('reads back: $type', (record) => {
    expect(readJournalRecord(JSON.parse(JSON.stringify(record)))).toEqual(record)
  })

  it.each([
    ['of a later version', { type: 'providerBlessed', provider: 'a', at: NOON }],
    ['without a provider', { ...MARKED, provider: undefined }],
    ['with a provider that is no name', { ...MARKED, provider: '' }],
    ['of a provider whose name is no safe key', { ...MARKED, provider: '__proto__' }],
    ['of a route without its model', { ...MARKED, type: 'routeMarked' }],
    ['with a time before the epoch', { ...MARKED, at: -1 }],
    ['with a time that is no number', { ...MARKED, until: 'later' }],
    ['with an endless message', { ...MARKED, message: 'x'.repeat(2_001) }],
    ['lifted by nobody known', { type: 'providerLifted', provider: 'a', at: NOON, by: 'luck' }],
  ])('%s is none', (_name, record) => {
    expect(readJournalRecord(record)).toBeUndefined()
  })

  it.each([undefined, null, 7, 'x', [], {}, [MARKED]])('is not %j', (value) => {
    expect(readJournalRecord(value)).toBeUndefined()
  })
})
