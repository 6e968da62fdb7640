import { describe, expect, it } from 'vitest'
import { evolveJournal, foldJournal, initialJournal, KEPT_MOVES, liveRecords, pruneJournal } from '../../src/reducers/journal.ts'
import { HOUR, NOON } from '../support/build.ts'

const marked = (provider: string, at = NOON) => ({ type: 'providerMarked' as const, provider, at, until: at + HOUR, rule: 'r', message: 'spent' })
const lifted = (provider: string, at = NOON) => ({ type: 'providerLifted' as const, provider, at, by: 'answer' as const })
const waiting = (session: string, at = NOON) => ({ type: 'sessionWaiting' as const, session, at, nextAttemptAt: at + HOUR, provider: 'a' })
const released = (session: string, at = NOON) => ({ type: 'sessionReleased' as const, session, at })
const moved = (at: number) => ({
  type: 'requestMoved' as const, session: 's', at, pool: 'p', from: { provider: 'a', model: 'm' }, to: { provider: 'b', model: 'n' }, why: 'marked',
})

describe('the index of waiting sessions', () => {
  it('holds a session from its wait to its release', () => {
    expect(foldJournal([waiting('s'), waiting('t'), released('s')]).waiting).toEqual({ t: { session: 't', at: NOON, nextAttemptAt: NOON + HOUR, provider: 'a' } })
  })

  it('holds the newest wait of a session', () => {
    expect(foldJournal([waiting('s'), waiting('s', NOON + 1)]).waiting).toMatchObject({ s: { at: NOON + 1 } })
  })
})

describe('the fold of a journal', () => {
  it('passes over what is no record', () => {
    expect(foldJournal([null, 'x', { type: 'later' }, marked('a'), { ...marked('b'), at: 'x' }]).marks).toHaveProperty('a')
  })

  it('is the same state for a record that changes nothing', () => {
    for (const record of [lifted('a'), released('s'), moved(NOON)]) expect(evolveJournal(initialJournal, record)).toBe(initialJournal)
  })
})

describe('pruning', () => {
  it('keeps the last record of each subject that is open, and nothing of those that are closed', () => {
    const live = [marked('a', NOON + 1), waiting('s', NOON + 1)]
    expect(pruneJournal([marked('a'), marked('b'), lifted('b', NOON + 1), waiting('s'), waiting('t'), released('t'), ...live])).toEqual(live)
  })

  it('keeps the order of what it keeps', () => {
    const records = [marked('a', NOON + 1), waiting('s', NOON + 2), moved(NOON + 3), marked('b', NOON + 4)]
    expect(liveRecords(records)).toEqual(records)
    expect(pruneJournal(records)).toEqual(records)
  })

  it('keeps a mark that an older answer did not lift', () => {
    expect(pruneJournal([marked('a', NOON + 5), lifted('a', NOON)])).toEqual([marked('a', NOON + 5)])
  })

  it('keeps what a later version wrote, as it is and where it is', () => {
    const foreign = [{ type: 'later', at: 1 }, null, { ...marked('c'), extra: true }]
    expect(pruneJournal([foreign[0], marked('a'), lifted('a', NOON + 1), foreign[1], foreign[2]])).toEqual(foreign)
  })

  it('tells marks of routes and of providers apart', () => {
    const big = { ...marked('a'), type: 'routeMarked' as const, model: 'big' }
    const answer = { ...lifted('a', NOON + 1), type: 'routeLifted' as const, model: 'small' }
    expect(pruneJournal([big, marked('a'), answer, lifted('a', NOON + 1)])).toEqual([big])
    expect(pruneJournal([big, { ...answer, model: 'big' }])).toEqual([])
  })

  it('drops a mark that an answer lifted after the clock was set back', () => {
    expect(pruneJournal([marked('a', NOON + HOUR), { ...lifted('a', NOON - 1), heardAt: NOON }, lifted('a', NOON - 2)])).toEqual([])
    expect(pruneJournal([marked('a', NOON), { ...lifted('a', NOON - 1), heardAt: NOON }])).toEqual([marked('a', NOON)])
  })

  it('keeps the newest moves, for the audit', () => {
    const kept = pruneJournal(Array.from({ length: KEPT_MOVES + 7 }, (_, index) => moved(index)))
    expect([kept.length, kept[0]]).toEqual([KEPT_MOVES, moved(7)])
  })
})
