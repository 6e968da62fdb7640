import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { refusals, usageLimitUntil } from '../../demo/support/provider.ts'
import { skipBrowser } from './support/chromium.ts'
import { field, openStage, poolChip, reply, retryChip, row, startWait, styleOf, type Stage } from './support/stage.ts'

const NEXT = /Next check \d\d:\d\d/

describe.skipIf(skipBrowser)('a wait', { timeout: 150_000 }, () => {
  let stage: Stage
  beforeAll(async () => { stage = await openStage() }, 120_000)
  afterAll(async () => { await (stage as Stage | undefined)?.close() })
  afterEach(() => { expect((stage as Stage | undefined)?.problems() ?? []).toEqual([]) })

  /** A session that stays on its route. */
  const alone = async (): Promise<string> => {
    const session = await stage.session()
    await stage.api.executeCommand(session, '/quota-pool off')
    return session
  }

  it('shows on the chip without moving anything, is retried now and recovers', async () => {
    const session = await alone()
    const page = await stage.page({ session })
    await retryChip(page).waitFor()
    await page.getByText('from alpha').waitFor()
    // The chip grows to its left, where nothing stands.
    const boxes = async () => Promise.all([field(page), poolChip(page)].map(part => part.boundingBox()))
    const before = await boxes()
    await startWait(stage, session, refusals.insufficientBalance)
    await page.locator('[data-lqr=retry]').getByText(NEXT).first().waitFor()
    expect(await boxes()).toEqual(before)
    await retryChip(page).hover()
    const tip = page.getByRole('tooltip').filter({ hasText: 'Out of allowance' })
    expect(await tip.innerText()).toMatch(/Route\s+alpha\/m\s+Since\s+\d\d:\d\d[^\n]*\s+Next check\s+\d\d:\d\d\s+It answered\s+Insufficient Balance$/)
    await page.mouse.move(0, 0)
    await tip.waitFor({ state: 'detached' })
    stage.alpha.setAnswer(reply('here again'))
    await retryChip(page).click()
    await row(page, 'Retry now').click()
    await page.getByText('here again').waitFor()
    await page.locator('[data-lqr=retry]').getByText('Quota retry: On').first().waitFor()
    // One line for the whole wait.
    expect(await page.locator('[data-lqr=line]').allInnerTexts()).toEqual([
      expect.stringMatching(/^Waited \d+ secs? for the allowance of alpha\/m; asked because you asked for it/),
    ])
  })

  it.each([1280, 900, 640, 560, 480])('moves nothing in the composer of a page %s wide, and its card is in view', async (width) => {
    const session = await alone()
    const page = await stage.page({ session, viewport: { width, height: 800 } })
    await retryChip(page).waitFor()
    await page.getByText('from alpha').waitFor()
    const send = page.locator('[data-composer-card] button').last()
    const boxes = async () => Promise.all([field(page), send, retryChip(page)].map(part => part.boundingBox()))
    const [box, button, retry] = await boxes()
    await startWait(stage, session, refusals.insufficientBalance)
    await page.locator('[data-lqr=retry] [data-state=waiting]').waitFor()
    const [fieldNow, buttonNow, retryNow] = await boxes()
    expect([fieldNow, buttonNow]).toEqual([box, button])
    expect(retryNow).toMatchObject({ y: retry?.y, height: retry?.height })
    await retryChip(page).click()
    const pane = await page.locator('[data-conversation-scroll]').boundingBox()
    const card = await row(page, 'Retry now').locator('xpath=ancestor::*[@role="menu"]/..').boundingBox()
    expect(card!.x).toBeGreaterThanOrEqual(pane!.x)
    expect(card!.x + card!.width).toBeLessThanOrEqual(pane!.x + pane!.width)
    expect(card!.y).toBeGreaterThanOrEqual(0)
    await stage.api.cancel(session)
  })

  it('lets through what a person does in the composer while its card shows', async () => {
    const session = await alone()
    const page = await stage.page({ session })
    await startWait(stage, session, refusals.insufficientBalance)
    await page.locator('[data-lqr=retry]').getByText(NEXT).first().waitFor()
    await retryChip(page).hover()
    const tip = page.getByRole('tooltip').filter({ hasText: 'Out of allowance' })
    const [card, box] = [await tip.boundingBox(), await field(page).boundingBox()]
    // Straight from the chip to a place of the composer that the card covers.
    const place = { x: card!.x + card!.width / 2, y: box!.y + box!.height / 2 }
    expect(place.y).toBeGreaterThan(card!.y)
    expect(place.y).toBeLessThan(card!.y + card!.height)
    await page.mouse.move(place.x, place.y)
    await page.mouse.down()
    await page.mouse.up()
    await page.keyboard.type('and more')
    expect(await field(page).evaluate((node: any) => node.value ?? node.textContent)).toContain('and more')
    await tip.waitFor({ state: 'detached' })
    await stage.api.cancel(session)
  })

  it('says when the provider is back in the reader\'s own time, and counts the last seconds', async () => {
    const session = await alone()
    const page = await stage.page({ session, timezoneId: 'Asia/Tokyo' })
    await startWait(stage, session, usageLimitUntil(new Date(Date.now() + 100_000)))
    await page.locator('[data-lqr=retry]').getByText(/Next check in \d+ sec/).first().waitFor()
    await retryChip(page).click()
    const card = row(page, 'Retry now').locator('xpath=ancestor::*[@role="menu"]/..')
    const back = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'Asia/Tokyo' }).format(Date.now() + 100_000)
    expect(await card.innerText()).toMatch(/It is back\s+\d\d:\d\d/)
    expect(await card.innerText()).toContain(back.slice(0, 3))
    const text = await retryChip(page).innerText()
    await expect.poll(() => retryChip(page).innerText()).not.toBe(text)
    await stage.api.cancel(session)
  })

  it('shows its card on keyboard focus, until Escape', async () => {
    const session = await alone()
    const page = await stage.page({ session })
    await startWait(stage, session, refusals.insufficientBalance)
    await page.locator('[data-lqr=retry]').getByText(NEXT).first().waitFor()
    await poolChip(page).focus()
    await page.keyboard.press('Shift+Tab')
    const tip = page.getByRole('tooltip').filter({ hasText: 'Insufficient Balance' })
    await tip.waitFor()
    expect(await retryChip(page).getAttribute('aria-describedby')).toBe(await tip.getAttribute('id'))
    await page.keyboard.press('Escape')
    await tip.waitFor({ state: 'detached' })
    await stage.api.cancel(session)
  })

  it('is still under reduced motion', async () => {
    const session = await alone()
    const page = await stage.page({ session, reducedMotion: 'reduce' })
    await startWait(stage, session, refusals.insufficientBalance)
    const dot = page.locator('[data-lqr=retry] [data-state=waiting]')
    await dot.waitFor()
    expect(await styleOf(dot, 'animationName', '::before')).toBe('none')
    await stage.api.cancel(session)
  })

  it('is stopped, which cancels the turn and asks nobody', async () => {
    const session = await alone()
    const page = await stage.page({ session })
    await startWait(stage, session, refusals.insufficientBalance)
    await page.locator('[data-lqr=retry]').getByText(NEXT).first().waitFor()
    const asked = stage.alpha.agentRequests().length
    await retryChip(page).click()
    await row(page, /Stop waiting/).click()
    const end = await stage.api.event(session, ({ type, data }) => type === 'turn/end' && data.reason.kind !== 'completed')
    expect(end.data.reason).toMatchObject({ kind: 'aborted' })
    await page.locator('[data-lqr=retry]').getByText('Quota retry: On').first().waitFor()
    await page.getByText('Stopped waiting for the allowance of alpha/m').waitFor()
    expect(stage.alpha.agentRequests()).toHaveLength(asked)
    await retryChip(page).click()
    expect(await row(page, 'Retry now').count()).toBe(0)
  })

  it('is there in another tab and after a reload', async () => {
    const session = await alone()
    const [first, second] = await Promise.all([stage.page({ session }), stage.page({ session })])
    await startWait(stage, session, refusals.insufficientBalance)
    await Promise.all([first, second].map(page => page.locator('[data-lqr=retry]').getByText(NEXT).first().waitFor()))
    await first.reload()
    await first.locator('[data-lqr=retry]').getByText(NEXT).first().waitFor()
    await first.getByText(/Waiting for the allowance of alpha\/m, next check \d\d:\d\d/).waitFor()
    await retryChip(first).click()
    await row(first, /Stop waiting/).click()
    await second.locator('[data-lqr=retry]').getByText('Quota retry: On').first().waitFor()
  })

  it('is shown in Chinese, and in the dark', async () => {
    const session = await alone()
    const page = await stage.page({ session, locale: 'zh-CN', colorScheme: 'dark' })
    await startWait(stage, session, refusals.insufficientBalance)
    await page.locator('[data-lqr=retry]').getByText(/下次检查 \d\d:\d\d/).first().waitFor()
    await retryChip(page).click()
    await row(page, '立即重试').waitFor()
    const card = row(page, '立即重试').locator('xpath=ancestor::*[@role="menu"]/..')
    const [red = 255] = (await styleOf(card, 'backgroundColor')).match(/\d+/g)?.map(Number) ?? []
    expect(red).toBeLessThan(100)
    await row(page, /停止等待/).click()
    await page.locator('[data-lqr=retry]').getByText('额度重试：开').first().waitFor()
  })

  it('moves to another route, and says where, from where and why; branching stays possible', async () => {
    const session = await stage.session()
    const page = await stage.page({ session })
    await expect.poll(() => poolChip(page).innerText()).toContain('Pool: medium')
    const until = new Date(Date.now() + 3 * 3_600_000)
    stage.alpha.setAnswer(usageLimitUntil(until))
    await stage.api.ask(session, 'go on')
    await page.getByText('from beta').waitFor()
    await expect.poll(() => poolChip(page).innerText()).toContain('Moved to beta/n')
    const line = page.locator('[data-lqr=line][data-kind=move]')
    expect(await line.innerText()).toMatch(/^Moved from alpha\/m to beta\/n, pool medium, because alpha\/m is out of allowance until (\w+ )?\d\d:\d\d/)
    const branches = page.getByRole('button', { name: /branch/i })
    expect(await branches.count()).toBeGreaterThan(0)
    expect(await branches.last().isEnabled()).toBe(true)
    await poolChip(page).hover()
    expect(await page.getByRole('tooltip').filter({ hasText: 'Moved to another route' }).innerText()).toMatch(/From\s+alpha\/m\s+To\s+beta\/n\s+Pool\s+medium\s+At\s+\d\d:\d\d\s+Because\s+alpha\/m is out of allowance/)
    stage.beta.setAnswer(reply('the next turn'))
    await stage.api.ask(session, 'and on')
    await page.getByText('the next turn').waitFor()
    await expect.poll(() => poolChip(page).innerText()).toContain('Pool: medium')
  })

  it('has the whole text of the provider to open and to copy', async () => {
    const session = await alone()
    const page = await stage.page({ session, permissions: ['clipboard-read', 'clipboard-write'] })
    const words = `You have insufficient balance. ${'Please top up. '.repeat(60)}The end.`
    await startWait(stage, session, { kind: 'refuse', status: 402, body: { error: { message: words } } })
    const line = page.locator('[data-lqr=line]')
    await line.getByRole('button', { name: 'What the provider said' }).click()
    expect(await line.getByRole('region').innerText()).toContain('The end.')
    await line.getByRole('button', { name: 'Copy' }).click()
    await line.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await line.getByRole('region').innerText())
    await stage.api.cancel(session)
  })
})
