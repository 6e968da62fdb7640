import { describe, expect, it } from 'vitest'
import { changes, tagProblems } from '../../scripts/release/tag.ts'

const CHANGELOG = '# Changelog\n\n## 1.2.0\n\n- New.\n\n## 1.1.0\n\nOld.\n'

describe('a tag', () => {
  it('that names the version of the manifest and of the newest changes may go out', () => {
    expect(tagProblems('v1.2.0', '1.2.0', CHANGELOG)).toEqual([])
    expect(changes(CHANGELOG)).toEqual([{ version: '1.2.0', text: '- New.' }, { version: '1.1.0', text: 'Old.' }])
  })

  it.each([
    ['v1.2.1', '1.2.0', CHANGELOG, ['the tag is "v1.2.1", but package.json has version 1.2.0: its tag would be "v1.2.0"']],
    ['1.2.0', '1.2.0', CHANGELOG, [expect.stringContaining('its tag would be "v1.2.0"')]],
    ['v1.1.0', '1.1.0', CHANGELOG, ['the newest heading of CHANGELOG.md is "1.2.0", not "1.1.0"']],
    ['v1.2.0', '1.2.0', '# Changelog\n', ['the newest heading of CHANGELOG.md is "", not "1.2.0"']],
    ['v1.2.0', '1.2.0', '# Changelog\n\n## 1.2.0\n\n## 1.1.0\n\nOld.\n', ['CHANGELOG.md says nothing below "1.2.0"']],
    ['v1.2.0', '1.2.0', '# Changelog\n\n## Unreleased\n\n- x\n\n## 1.2.0\n\n- New.\n', ['the newest heading of CHANGELOG.md is "Unreleased", not "1.2.0"']],
  ])('%s of version %s is refused where they disagree', (tag, version, changelog, problems) => {
    expect(tagProblems(tag, version, changelog)).toEqual(problems)
  })
})
