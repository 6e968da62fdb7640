import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { refusals } from '../../demo/support/provider.ts'
import { skipBrowser } from './support/chromium.ts'
import { openStage, poolChip, reply, retryChip, row, startWait, type Stage } from './support/stage.ts'

/** A model whose name has 48 letters. */
const LONG = 'an-exceedingly-long-model-name-with-48-letters-x'
const pools = { medium: { routes: [{ provider: 'alpha', model: 'm' }, { provider: 'beta', model: LONG }] }, spare: { routes: [{ provider: 'beta', model: 'x' }, { provider: 'gone', model: 'g' }] } }

describe.skipIf(skipBrowser)('the composer', { timeout: 150_000 }, () => {
  let stage: Stage
  beforeAll(async () => { stage = await openStage({ models: [LONG], config: { pools } }) }, 120_000)
  afterAll(async () => { await (stage as Stage | undefined)?.close() })
  afterEach(() => { expect((stage as Stage | undefined)?.problems() ?? []).toEqual([]) })

  /** A session that was just moved to the route with the long name. */
  const moved = async (): Promise<string> => {
    const session = await stage.session()
    stage.alpha.setAnswer(refusals.insufficientBalance)
    await stage.api.ask(session, 'go on')
    return session
  }

  /** Everything of the composer that can be pressed, and the composer. */
  const places = async (page: Page) => {
    const card = (await page.locator('[data-composer-card]').boundingBox())!
    const buttons = await page.locator('[data-composer-card] button:visible').all()
    return { card, buttons: await Promise.all(buttons.map(async button => (await button.boundingBox())!)) }
  }

  it.each([1600, 1280, 900, 640, 430, 390])('keeps its buttons within it after a move to a long name (%s px)', async (width) => {
    const session = await moved()
    const page = await stage.page({ session, viewport: { width, height: 800 } })
    await page.getByText('from beta').first().waitFor()
    await expect.poll(() => poolChip(page).innerText()).toContain(`Moved to beta/${LONG}`)
    const { card, buttons } = await places(page)
    expect(buttons.length).toBeGreaterThan(4)
    for (const [index, button] of buttons.entries()) {
      expect(button.x).toBeGreaterThanOrEqual(card.x)
      expect(button.x + button.width).toBeLessThanOrEqual(card.x + card.width)
      // Side by side, or in another row: none lies upon another.
      for (const other of buttons.slice(index + 1)) {
        expect(other.x >= button.x + button.width - 1 || button.x >= other.x + other.width - 1 || other.y >= button.y + button.height - 1 || button.y >= other.y + other.height - 1).toBe(true)
      }
    }
    expect(await poolChip(page).boundingBox()).toMatchObject({ height: 28 })
  })

  it.each(['en-US', 'en-GB', 'zh-CN'])('has chips as wide as what they say (%s)', async (locale) => {
    const session = await stage.session()
    const page = await stage.page({ session, locale })
    await retryChip(page).waitFor()
    for (const chip of [retryChip(page), poolChip(page)]) {
      const gap = await chip.evaluate((node: any) => {
        const range = node.ownerDocument.createRange()
        range.selectNodeContents(node.querySelector('[aria-hidden] > span > span'))
        return node.querySelector('svg:last-child').getBoundingClientRect().left - range.getBoundingClientRect().right
      })
      expect(gap).toBeGreaterThanOrEqual(0)
      expect(gap).toBeLessThan(8)
    }
  })

  it('has the routes of the pool in its menu, with how each stands, and a way to choose one', async () => {
    const session = await moved()
    const page = await stage.page({ session })
    await page.getByText('from beta').first().waitFor()
    await poolChip(page).click()
    await row(page, /^alpha\/m/).waitFor()
    expect(await row(page, /^alpha\/m/).innerText()).toMatch(/Out of allowance until /)
    expect(await row(page, /^beta\//).innerText()).toContain('Usable')
    await expect.poll(() => row(page, /^beta\//).getAttribute('aria-current')).toBe('true')
    stage.alpha.setAnswer(reply('back on alpha'))
    await row(page, /^alpha\/m/).click()
    await poolChip(page).click()
    await expect.poll(() => row(page, /^alpha\/m/).getAttribute('aria-current')).toBe('true')
    await page.keyboard.press('Escape')
    await stage.api.ask(session, 'and on')
    await page.getByText('back on alpha').waitFor()
  })

  it('says of a blank session which pool it will follow', async () => {
    await stage.session()
    const session = await stage.api.createSession()
    const page = await stage.page({ session })
    await expect.poll(() => poolChip(page).innerText()).toContain('Pool: medium')
  })

  it('does not offer a route that the host does not have', async () => {
    const session = await stage.session()
    await stage.api.executeCommand(session, '/quota-pool spare')
    const page = await stage.page({ session })
    await expect.poll(() => poolChip(page).innerText()).toContain('Pool: spare')
    await poolChip(page).click()
    expect(await row(page, /^gone\/g/).innerText()).toContain('Not on this host')
    expect(await row(page, /^gone\/g/).getAttribute('aria-disabled')).toBe('true')
  })

  it('is told by one line how a wait with several attempts went', async () => {
    const session = await stage.session()
    await stage.api.executeCommand(session, '/quota-pool off')
    const page = await stage.page({ session })
    await startWait(stage, session, refusals.insufficientBalance)
    const line = page.locator('[data-lqr=line]')
    for (const asked of [1, 2]) {
      await line.getByText(/^Waiting for the allowance/).waitFor()
      await stage.api.executeCommand(session, '/quota-retry now')
      await line.getByText(`asked ${asked} times so far`).waitFor()
    }
    expect(await line.count()).toBe(1)
    stage.alpha.setAnswer(reply('here again'))
    await stage.api.executeCommand(session, '/quota-retry now')
    await page.getByText('here again').waitFor()
    expect(await line.allInnerTexts()).toEqual([expect.stringMatching(/^Waited .* for the allowance of alpha\/m, asked 3 times; asked because you asked for it/)])
  })
})
