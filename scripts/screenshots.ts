/**
 * Takes the screenshots of the README, and with a directory as argument every view that is to be looked at:
 *
 *   node scripts/run.mjs node scripts/screenshots.ts [directory [names]]
 *
 * The pictures come from the packed plugin on the real host, with loopback providers.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { usageLimitUntil } from '../demo/support/provider.ts'
import { openStage, poolChip, reply, retryChip, startWait, type Stage } from '../test/browser/support/stage.ts'

const docs = fileURLToPath(new URL('../docs', import.meta.url))
const script = fileURLToPath(new URL('../test/browser/support/reading.mjs', import.meta.url))
const views = process.argv[2]
/** Which of them, by their name: `en-dark-1280`. */
const only = new RegExp(process.argv[3] ?? '')

const config = {
  pools: { medium: { routes: [{ provider: 'alpha', model: 'm' }, { provider: 'beta', model: 'n' }] }, spare: { routes: [{ provider: 'beta', model: 'x' }] } },
  balances: [{ provider: 'beta', script: ['node', script], unit: 'usd', minimumRemaining: 1, refreshMs: 1_000, timeoutMs: 20_000 }],
}

interface View {
  readonly name: string
  readonly locale: string
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
}

const WORDS = {
  en: { sidebar: 'Open sidebar', settings: 'Settings', page: 'Quota and routes', refresh: 'Refresh readings' },
  zh: { sidebar: '打开侧边栏', settings: '设置', page: '额度与路由', refresh: '刷新读数' },
}

/** What is looked at: a session that waits because it must not move, and one that moved. */
interface Sessions { readonly waits: string; readonly moved: string }

async function play(stage: Stage): Promise<Sessions> {
  const session = await stage.session()
  stage.alpha.setAnswer(usageLimitUntil(new Date(Date.now() + 2.5 * 3_600_000)))
  stage.beta.setAnswer(reply('Moved, and answered from the other route.'))
  await stage.api.ask(session, 'Go on with the report.')
  await stage.api.executeCommand(session, '/quota-pool status')
  const second = await stage.session()
  await stage.api.executeCommand(second, '/quota-pool off')
  await startWait(stage, second, usageLimitUntil(new Date(Date.now() + 2.5 * 3_600_000)))
  await stage.api.executeCommand(session, '/quota-routes')
  return { waits: second, moved: session }
}

async function openSettings(page: Page, words: typeof WORDS.en): Promise<void> {
  await page.getByRole('button', { name: words.settings }).first().click()
  await page.getByRole('button', { name: words.page }).click()
  await page.getByRole('button', { name: words.refresh }).click()
  await page.getByRole('meter').first().waitFor()
}

/** Every view of one language, colour scheme and width. */
async function look(stage: Stage, sessions: Sessions, dir: string, { name, locale, colorScheme, width }: View): Promise<void> {
  const page = await stage.page({ session: sessions.waits, locale, colorScheme, viewport: { width, height: 860 } })
  const shot = (view: string) => page.screenshot({ path: join(dir, `${name}-${view}.png`), animations: 'disabled' })
  await page.locator('[data-state=waiting]').first().waitFor()
  await shot('wait')
  await retryChip(page).hover()
  await page.getByRole('tooltip').first().waitFor()
  await shot('card')
  await retryChip(page).click()
  await shot('menu')
  await page.keyboard.press('Escape')
  await page.locator('[data-lqr=line]').last().getByRole('button').click()
  await shot('line')
  const words = locale.startsWith('zh') ? WORDS.zh : WORDS.en
  if (width < 600) await page.getByRole('button', { name: words.sidebar }).click()
  await openSettings(page, words)
  await shot('settings')
  await page.locator('[data-lqr=page] dl').scrollIntoViewIfNeeded()
  await shot('settings-end')
  await page.close()
  const other = await stage.page({ session: sessions.moved, locale, colorScheme, viewport: { width, height: 860 } })
  await poolChip(other).click()
  await other.locator('[data-lqr=pool] [role=menuitem]').nth(4).waitFor()
  await other.screenshot({ path: join(dir, `${name}-pools.png`), animations: 'disabled' })
  await other.keyboard.press('Escape')
  await other.screenshot({ path: join(dir, `${name}-moved.png`), animations: 'disabled' })
  await other.close()
}

/** The two pictures of the README. */
async function picture(stage: Stage, session: string): Promise<void> {
  const page = await stage.page({ session, viewport: { width: 1280, height: 800 } })
  await page.locator('[data-state=waiting]').first().waitFor()
  await retryChip(page).click()
  await page.screenshot({ path: join(docs, 'composer.png'), animations: 'disabled', clip: { x: 370, y: 150, width: 812, height: 650 } })
  await page.keyboard.press('Escape')
  await openSettings(page, WORDS.en)
  await page.getByRole('dialog').last().screenshot({ path: join(docs, 'settings.png') })
  await page.close()
}

const stage = await openStage({ config })
try {
  mkdirSync(docs, { recursive: true })
  const sessions = await play(stage)
  await picture(stage, sessions.waits)
  if (views !== undefined) {
    mkdirSync(views, { recursive: true })
    for (const [language, locale] of [['en', 'en-US'], ['zh', 'zh-CN']] as const) {
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const width of [390, 430, 1280, 1600]) {
          const name = `${language}-${colorScheme}-${width}`
          if (only.test(name)) await look(stage, sessions, views, { name, locale, colorScheme, width })
        }
      }
    }
  }
} finally {
  await stage.close()
}
