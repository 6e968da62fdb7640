import { describe, expect, it } from 'vitest'
import { mentions } from '../../src/host/config-files.ts'

const ID = 'llm-quota-retry'

describe('a patch file', () => {
  it.each([
    ['YAML', `- id: ${ID}\n  config:\n    longTermDelayMs: 1000\n`, 'config'],
    ['quoted YAML', `- id: '${ID}'\n  config: {}\n`, 'config'],
    ['JSON', JSON.stringify([{ id: ID, config: { failOpen: false } }]), 'config'],
    ['a row that is only disabled', `- id: ${ID}\n  disabled: true\n- id: other\n  config: {}\n`, 'name'],
    ['another row', `- id: ${ID}-more\n  config: {}\n`, 'no'],
    ['a comment', `# - id: ${ID}\n#   config: {}\n`, 'no'],
    ['nothing', '', 'no'],
    ['the second of two rows', `- id: other\n  config: {}\n- id: ${ID}\n  config: {}\n`, 'config'],
  ])('is looked through: %s', (_what, text, expected) => {
    expect(mentions(text, ID)).toBe(expected)
  })
})
