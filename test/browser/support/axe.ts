import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe finds within a part of a page, as readable lines.
 * @param page - the page.
 * @param selector - the part.
 */
export async function violations(page: Page, selector: string): Promise<string[]> {
  await page.evaluate(source)
  const run = `axe.run(${JSON.stringify(selector)}, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(node => id + ': ' + node.html + ' ' + node.failureSummary)))`
  return await page.evaluate(run)
}
