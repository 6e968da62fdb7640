import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { defaultRowId } from '../../demo/support/home.ts'
import { refusals } from '../../demo/support/provider.ts'
import { skipBrowser } from './support/chromium.ts'
import { openStage, poolChip, retryChip, row, startWait, type Stage } from './support/stage.ts'

/** The page answers and none of ours is in it. */
async function expectWhole(page: Page, said = 'from alpha'): Promise<void> {
  await page.getByText(said).first().waitFor()
  await page.getByRole('textbox').first().fill('still here')
  expect(await page.locator('[data-lqr=retry], [data-lqr=pool]').count()).toBe(0)
}

/** Rewrites scripts and answers on their way to the page. */
async function rewrite(context: BrowserContext, url: RegExp, change: (text: string) => string): Promise<void> {
  await context.route(url, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: change(await response.text()) })
  })
}

/** Rewrites the facts on both ways by which they come: with the history, and pushed. */
async function rewriteFacts(context: BrowserContext, change: (text: string) => string): Promise<void> {
  await rewrite(context, /session\.(?:history|list)/, change)
  await context.routeWebSocket(/events\./, (socket) => {
    const server = socket.connectToServer()
    server.onMessage((message) => { socket.send(typeof message === 'string' ? change(message) : message) })
  })
}

describe.skipIf(skipBrowser)('the page stays whole', { timeout: 150_000 }, () => {
  let stage: Stage
  beforeAll(async () => { stage = await openStage() }, 120_000)
  afterAll(async () => { await (stage as Stage | undefined)?.close() })
  afterEach(() => { expect((stage as Stage | undefined)?.problems() ?? []).toEqual([]) })

  it.each([
    ['another version', '"version":1,"enabled"', '"version":2,"enabled"'],
    ['a shape that makes no sense', '"pools":["medium"', '"pools":7,"was":["medium"'],
  ])('with facts of %s', async (_what, right, wrong) => {
    const session = await stage.session()
    let changed = 0
    const change = (text: string): string => {
      if (text.includes(right)) changed += 1
      return text.replaceAll(right, wrong)
    }
    const page = await stage.page({ session, prepare: context => rewriteFacts(context, change) })
    await expectWhole(page)
    expect(changed).toBeGreaterThan(0)
  })

  it('without the host half', async () => {
    const page = await stage.page({
      session: await stage.session(),
      prepare: async (context) => {
        await rewriteFacts(context, text => text.replaceAll('"quotaRetry"', '"nobodysQuotaRetry"'))
        await context.route('**/llm-quota-retry/**', route => route.fulfill({ status: 404, body: 'not found' }))
      },
    })
    await expectWhole(page)
    await page.getByRole('button', { name: 'Settings' }).first().click()
    await page.getByRole('button', { name: 'Quota and routes' }).click()
    await page.getByText(/^Not available here/).waitFor()
    await page.getByRole('button', { name: 'Plugins', exact: true }).click()
    await page.getByText(/^Not available here/).waitFor({ state: 'detached' })
  })

  it('when the channel fails, and when it comes back', async () => {
    const page = await stage.page({ session: await stage.session() })
    await page.route('**/llm-quota-retry/**', route => route.fulfill({ status: 500, body: 'handler failure' }))
    await page.getByRole('button', { name: 'Settings' }).first().click()
    await page.getByRole('button', { name: 'Quota and routes' }).click()
    await page.getByText(/^Not available here/).waitFor()
    await page.unroute('**/llm-quota-retry/**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('region', { name: 'Pools' }).waitFor()
  })

  it.each([
    ['slots', [['conversation.input.right', 'no.such.slot'], ['settings.section', 'no.such.section'], ['conversation.chat.node', 'no.such.node'], ['conversation.chat.commandview', 'no.such.view']]],
    ['services', [['remote.commands', 'remote.nothing'], ['conversationEvents', 'noEvents'], ['"connection"', '"noConnection"']]],
  ] as const)('without the %s that are looked for', async (_what, names) => {
    const session = await stage.session()
    let changed = 0
    const page = await stage.page({
      session,
      prepare: context => rewrite(context, /\/plugins\/dsh-llm-quota-retry\/client\.js/, (code) => {
        changed += 1
        return names.reduce((text, [name, other]) => text.replaceAll(name, other), code)
      }),
    })
    await expectWhole(page)
    expect(changed).toBeGreaterThan(0)
  })

  it('through a restart of the host: the open page finds it again', async () => {
    const session = await stage.session()
    const page = await stage.page({ session })
    await retryChip(page).click()
    await row(page, /^Off/).click()
    await page.getByText('Quota retry: Off').first().waitFor()
    await stage.restart()
    await page.reload()
    await page.getByText('Quota retry: Off').first().waitFor()
    await retryChip(page).click()
    await row(page, /^Default/).click()
    await page.getByText('Quota retry: On').first().waitFor()
  })
})

describe.skipIf(skipBrowser)('a host', () => {
  it('that configures no pools shows one chip', async () => {
    const stage = await openStage({ config: { longTermDelayMs: 60_000 } })
    try {
      const session = await stage.session()
      const page = await stage.page({ session })
      await retryChip(page).waitFor()
      expect(await poolChip(page).count()).toBe(0)
      await startWait(stage, session, refusals.insufficientBalance)
      await page.locator('[data-lqr=retry] [data-state=waiting]').waitFor()
      await page.getByRole('button', { name: 'Settings' }).first().click()
      await page.getByRole('button', { name: 'Quota and routes' }).click()
      await page.getByText(/^No pools are configured/).waitFor()
      expect(stage.problems()).toEqual([])
    } finally {
      await stage.close()
    }
  })

  it('that disables the row shows none of it', async () => {
    const stage = await openStage({ patches: [{ id: defaultRowId, disabled: true }] })
    try {
      const page = await stage.page({ session: await stage.session() })
      await expectWhole(page)
      await page.getByRole('button', { name: 'Settings' }).first().click()
      await page.getByRole('button', { name: 'Plugins', exact: true }).waitFor()
      expect(await page.getByRole('button', { name: 'Quota and routes' }).count()).toBe(0)
      expect(stage.problems()).toEqual([])
    } finally {
      await stage.close()
    }
  })
})
