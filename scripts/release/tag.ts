/** Whether a tag agrees with what it releases. */

/** The headings of CHANGELOG.md, newest first, with what stands below each. */
export function changes(changelog: string): { version: string; text: string }[] {
  return changelog.split(/^## /m).slice(1).map((part) => {
    const [heading = '', ...lines] = part.split('\n')
    return { version: heading.trim(), text: lines.join('\n').trim() }
  })
}

/**
 * What speaks against releasing a tag.
 *
 * @param tag - as it was pushed, `v` and the version.
 * @param version - of package.json.
 * @param changelog - the text of CHANGELOG.md.
 */
export function tagProblems(tag: string, version: string, changelog: string): string[] {
  const problems: string[] = []
  if (tag !== `v${version}`) problems.push(`the tag is "${tag}", but package.json has version ${version}: its tag would be "v${version}"`)
  const [newest] = changes(changelog)
  if (newest?.version !== version) problems.push(`the newest heading of CHANGELOG.md is "${newest?.version ?? ''}", not "${version}"`)
  else if (newest.text === '') problems.push(`CHANGELOG.md says nothing below "${version}"`)
  return problems
}
