import { describe, expect, it } from 'vitest'
import { readSettingAuthor, readSettingCommand, RESERVED_POOL_NAMES, type SettingChange, writeSettingCommand } from '../../src/events/settings.ts'

const retry = (args: unknown): any => readSettingCommand('quota-retry', args)
const pool = (args: unknown): any => readSettingCommand('quota-pool', args)

describe('the grammar of the switch', () => {
  it.each([
    ['on', ['on', 'enable', 'enabled', ' ON ']],
    ['off', ['off', 'none', 'disable', 'disabled', 'Off\n']],
    ['default', ['default', 'reset', 'auto']],
  ])('%s', (value, words) => {
    for (const word of words) expect(retry(word)).toEqual({ setting: 'retry', value, inherited: false })
  })

  it.each(['', '  ', 'status', 'now', 'banana', 'on off', 'inherit', 'on inherit', 'o n', 'inherit inherit off', 'by-plugin', 'by-plugin on off', 'by-plugin inherit off', 'x'.repeat(501), undefined, 5])('%j changes nothing', (args) => {
    expect(retry(args)).toBeUndefined()
  })
})

describe('the grammar of the pool', () => {
  it('takes a name, in any case', () => {
    expect(pool(' Medium-2 ')).toEqual({ setting: 'pool', value: 'medium-2', inherited: false })
  })

  it('never reads a word that the command answers itself as a pool', () => {
    for (const word of RESERVED_POOL_NAMES) expect([undefined, 'off', 'default']).toContain(pool(word)?.value)
    expect(pool('status')).toBeUndefined()
    expect(pool('error')).toBeUndefined()
  })

  it.each(['__proto__', 'a_b', 'a/b', 'a b', 'ä'])('does not take %s for a name', (args) => {
    expect(pool(args)).toBeUndefined()
  })
})

describe('a setting as a record', () => {
  it.each<SettingChange>([
    { setting: 'retry', value: 'off', inherited: false },
    { setting: 'retry', value: 'default', inherited: true },
    { setting: 'pool', value: 'medium', inherited: true },
    { setting: 'pool', value: 'off', inherited: false },
  ])('%j reads back as itself', (change) => {
    const { name, args } = writeSettingCommand(change)
    expect(readSettingCommand(name, args)).toEqual(change)
  })

  it('says that nobody typed it', () => {
    for (const inherited of [true, false]) expect(readSettingAuthor(writeSettingCommand({ setting: 'retry', value: 'off', inherited }).args, { kind: 'user' })).toBe('plugin')
  })

  it.each([
    [' off', { kind: 'user' }, 'person'],
    [' off', undefined, 'person'],
    [' by-pluginoff', { kind: 'user' }, 'person'],
    // As logs say that were written before newer hosts refused it.
    [' off', { kind: 'plugin', plugin: 'llm-quota-retry' }, 'plugin'],
    [' inherit off', { kind: 'plugin', plugin: 'llm-quota-retry' }, 'plugin'],
    [undefined, { kind: 'user' }, 'person'],
  ])('%j from %j was asked for by a %s', (args, source, by) => {
    expect(readSettingAuthor(args, source)).toBe(by)
  })

  it('is none under another command\'s name', () => {
    expect(readSettingCommand('quota-routes', 'off')).toBeUndefined()
    expect(readSettingCommand('Quota-retry', 'off')).toBeUndefined()
  })
})
