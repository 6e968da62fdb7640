import { describe, expect, it } from 'vitest'
import type { Route } from '../../../src/events/route.ts'
import { type ConfigInput, parseConfig } from '../../../src/policy/config.ts'
import type { World } from '../../../src/policy/pool/choose.ts'
import { chooseAfterWait } from '../../../src/policy/pool/after-wait.ts'
import { foldSession } from '../../../src/reducers/session.ts'
import { deepFreeze, log, type Log, waitingLog } from '../../support/build.ts'
import { A, B, C, world } from '../../support/world.ts'

const pools = { medium: { routes: [A, { ...B, reasoningEffort: 'high' }, C] } }
const elsewhere = { provider: 'd', model: 'p' }

interface More { given?: Log; due?: Route; waitedOn?: Route; unfit?: readonly Route[]; known?: World; input?: ConfigInput }

/** Where the attempt goes after a wait of a session that is on `a`. */
const after = ({ given = waitingLog().starts(), due, waitedOn, unfit = [], known = world(), input = { pools } }: More = {}) =>
  chooseAfterWait(due, waitedOn, deepFreeze({ state: foldSession(given.rows), unfit, world: known }), parseConfig(input))

describe('the attempt after a wait', () => {
  it('goes to the route whose time came, as the pool has it', () => {
    expect(after({ due: B })).toEqual({ pool: 'medium', route: { ...B, reasoningEffort: 'high' } })
    expect(after({ due: C, known: world({ marked: ['a', 'b', 'c'] }) })).toEqual({ pool: 'medium', route: C })
  })

  it('stays where it is when the time of its own route came', () => {
    expect(after({ due: A })).toBeUndefined()
    expect(after({ due: A, known: world({ marked: ['a'] }), waitedOn: C })).toBeUndefined()
  })

  it('goes to the first of the pool that is not out of allowance where no single route was due', () => {
    expect(after({ known: world({ marked: ['a'] }) })).toEqual({ pool: 'medium', route: { ...B, reasoningEffort: 'high' } })
    expect(after({ known: world({ marked: ['a', 'b'] }) })).toEqual({ pool: 'medium', route: C })
    expect(after({ known: world({ marked: ['a', 'b'] }), waitedOn: B })).toEqual({ pool: 'medium', route: C })
  })

  it('stays where its own route is the first of the pool again', () => {
    expect(after()).toBeUndefined()
    expect(after({ waitedOn: B })).toBeUndefined()
  })

  it('does not go to one that cannot serve the step', () => {
    expect(after({ unfit: [B], known: world({ marked: ['a'] }) })).toEqual({ pool: 'medium', route: C })
    expect(after({ unfit: [A] })).toEqual({ pool: 'medium', route: { ...B, reasoningEffort: 'high' } })
  })

  it('goes back to the one that was waited for when the whole pool is out of allowance', () => {
    const spent = world({ marked: ['a', 'b', 'c'] })
    expect(after({ known: spent, waitedOn: B })).toEqual({ pool: 'medium', route: { ...B, reasoningEffort: 'high' } })
    expect(after({ known: spent, waitedOn: A })).toBeUndefined()
    expect(after({ known: spent })).toBeUndefined()
  })

  it('is no move within a pool where no pool governs, or where the route is none of it', () => {
    expect(after({ input: {}, due: B })).toEqual({ pool: null, route: B })
    expect(after({ input: {}, waitedOn: B })).toEqual({ pool: null, route: B })
    expect(after({ input: {} })).toBeUndefined()
    expect(after({ due: elsewhere })).toEqual({ pool: null, route: elsewhere })
    // One that shares only its provider, or only its model, is another.
    expect(after({ due: { provider: 'b', model: 'm' } })).toEqual({ pool: null, route: { provider: 'b', model: 'm' } })
  })

  it('follows the pool that the session was put in, or none', () => {
    const known = world({ marked: ['a'] })
    const input = { pools: { ...pools, other: { routes: [C, A] } } }
    const inPool = (line: string): Log => log().head().command(line).turn().asks().refused().waits().starts()
    expect(after({ given: inPool('/quota-pool other'), known, input })).toEqual({ pool: 'other', route: C })
    expect(after({ given: inPool('/quota-pool medium'), known, input })).toEqual({ pool: 'medium', route: { ...B, reasoningEffort: 'high' } })
    expect(after({ given: inPool('/quota-pool off'), known, input })).toBeUndefined()
    expect(after({ given: inPool('/quota-pool gone'), known, input })).toBeUndefined()
  })
})
