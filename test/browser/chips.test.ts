import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { refusals } from '../../demo/support/provider.ts'
import { violations } from './support/axe.ts'
import { skipBrowser } from './support/chromium.ts'
import { hasFocus, openStage, poolChip, retryChip, row, startWait, type Stage } from './support/stage.ts'

describe.skipIf(skipBrowser)('the chips', { timeout: 150_000 }, () => {
  let stage: Stage
  beforeAll(async () => { stage = await openStage() }, 120_000)
  afterAll(async () => { await (stage as Stage | undefined)?.close() })
  afterEach(() => { expect((stage as Stage | undefined)?.problems() ?? []).toEqual([]) })

  const setting = async (session: string) => (await stage.api.projections(session)).values['quotaRetry']
  const lines = async (session: string) => (await stage.api.events(session))
    .filter(({ type }) => type === 'command/run').map(({ data }) => `/${data.name}${data.args}`)

  it('are set by mouse, each with its one command line', async () => {
    const session = await stage.session()
    const page = await stage.page({ session })
    await expect.poll(() => retryChip(page).innerText()).toContain('Quota retry: On')
    await retryChip(page).click()
    expect(await row(page, /Default/).getAttribute('aria-current')).toBe('true')
    await row(page, /^Off/).click()
    await page.getByText('Quota retry: Off').first().waitFor()
    expect(await setting(session)).toMatchObject({ enabled: false, source: 'session' })
    await retryChip(page).click()
    expect(await row(page, /^Off/).getAttribute('aria-current')).toBe('true')
    await row(page, /Default/).click()
    await page.getByText('Quota retry: On').first().waitFor()
    expect(await setting(session)).toMatchObject({ enabled: true, source: 'default' })
    // A route that two pools hold names neither; this one is in one pool only.
    await expect.poll(() => poolChip(page).innerText()).toContain('Pool: medium')
    await poolChip(page).click()
    await row(page, /^beta\/n/).waitFor()
    expect(await row(page, /.*/).allInnerTexts()).toEqual([
      expect.stringMatching(/^alpha\/m\s+Usable/), expect.stringMatching(/^beta\/n\s+Usable/),
      expect.stringMatching(/^medium/), expect.stringMatching(/^spare/), expect.stringMatching(/^Default/), expect.stringMatching(/^Off/),
    ])
    await row(page, 'spare').click()
    await page.getByText('Pool: spare').first().waitFor()
    await poolChip(page).click()
    await row(page, /^Off/).click()
    await page.getByText('Pool: Off').first().waitFor()
    expect(await lines(session)).toEqual(['/quota-retry off', '/quota-retry default', '/quota-pool spare', '/quota-pool off'])
  })

  it('are set by keyboard, and give the focus back', async () => {
    const session = await stage.session()
    const page = await stage.page({ session })
    await retryChip(page).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => hasFocus(row(page, /Default/))).toBe(true)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByText('Quota retry: Off').first().waitFor()
    expect(await hasFocus(retryChip(page))).toBe(true)
    await page.keyboard.press('Tab')
    expect(await hasFocus(poolChip(page))).toBe(true)
    await page.keyboard.press('ArrowDown')
    await row(page, /^alpha\/m/).waitFor()
    await page.keyboard.press('s')
    expect(await hasFocus(row(page, 'spare'))).toBe(true)
    await page.keyboard.press('Home')
    expect(await hasFocus(row(page, /^alpha\/m/))).toBe(true)
    await page.keyboard.press('Escape')
    await row(page, /^medium/).waitFor({ state: 'detached' })
    expect(await hasFocus(poolChip(page))).toBe(true)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('End')
    await page.keyboard.press('Space')
    await page.getByText('Pool: Off').first().waitFor()
    expect(await lines(session)).toEqual(['/quota-retry off', '/quota-pool off'])
  })

  it('follow in another tab', async () => {
    const session = await stage.session()
    const [first, second] = await Promise.all([stage.page({ session }), stage.page({ session })])
    await retryChip(second).waitFor()
    await retryChip(first).click()
    await row(first, /^Off/).click()
    await second.getByText('Quota retry: Off').first().waitFor()
    await retryChip(second).click()
    expect(await row(second, /^Off/).getAttribute('aria-current')).toBe('true')
  })

  it('say what went wrong when a setting is not taken', async () => {
    const session = await stage.session()
    const page = await stage.page({ session })
    await page.route('**/api/commands/execute', route => route.abort())
    await retryChip(page).click()
    await row(page, /^Off/).click()
    expect(await page.locator('[data-lqr=retry] [role=alert]').innerText()).toContain('The setting was not taken')
    await page.unroute('**/api/commands/execute')
    await retryChip(page).click()
    await row(page, /^Off/).click()
    await page.getByText('Quota retry: Off').first().waitFor()
    expect(await page.locator('[data-lqr=retry] [role=alert]').count()).toBe(0)
  })

  it('have rows for their commands in the transcript, in one line', async () => {
    const session = await stage.session()
    await stage.api.executeCommand(session, '/quota-retry off')
    await stage.api.executeCommand(session, '/quota-routes')
    const page = await stage.page({ session })
    const rows = page.locator('[data-lqr=command]')
    await expect.poll(() => rows.count()).toBe(2)
    expect(await rows.first().innerText()).toContain('Quota retry is off for this session.')
    expect((await rows.nth(1).boundingBox())?.height).toBeLessThan(30)
    await rows.nth(1).getByRole('button').click()
    expect(await rows.nth(1).getByRole('region').innerText()).toContain('beta/n')
  })

  it.each([['light', 'en-GB'], ['dark', 'zh-CN']] as const)('pass axe, open and closed, in a wait (%s, %s)', async (colorScheme, locale) => {
    const session = await stage.session()
    await stage.api.executeCommand(session, '/quota-pool off')
    const page = await stage.page({ session, colorScheme, locale })
    await retryChip(page).waitFor()
    expect(await violations(page, '[data-lqr]')).toEqual([])
    await poolChip(page).click()
    await row(page, /medium/).waitFor()
    expect(await violations(page, '[data-lqr]')).toEqual([])
    await page.keyboard.press('Escape')
    await startWait(stage, session, refusals.insufficientBalance)
    await page.locator('[data-state=waiting]').waitFor()
    await retryChip(page).click()
    await row(page, /Retry now|立即重试/).waitFor()
    expect(await violations(page, '[data-lqr]')).toEqual([])
    await stage.api.cancel(session)
  })
})
