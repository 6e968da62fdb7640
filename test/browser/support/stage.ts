/** The real `dsh web` with the packed plugin, loopback providers, and a page in Chromium. */
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { startWeb, type WebHost } from '../../../demo/support/dsh.ts'
import { makeHome, type Home, type HomeOptions } from '../../../demo/support/home.ts'
import { startProvider, type Provider } from '../../../demo/support/provider.ts'
import { packedCheckout } from '../../../demo/support/templates.ts'
import { connectWeb, type WebApi } from '../../../demo/support/web-api.ts'
import { launchChromium } from './chromium.ts'

/** Two routes of one pool; `alpha` is the default. */
export const POOLS = { medium: { routes: [{ provider: 'alpha', model: 'm' }, { provider: 'beta', model: 'n' }] }, spare: { routes: [{ provider: 'beta', model: 'x' }] } }

/** Options of {@link openStage}. */
export interface StageOptions {
  /** Configuration of the row; the pools above by default. */
  readonly config?: Record<string, unknown>
  readonly patches?: HomeOptions['patches']
  /** Models of `beta` besides `n` and `x`. */
  readonly models?: readonly string[]
  /** False for a host without the plugin. */
  readonly plugin?: boolean
}

/** How a page is opened. */
export interface PageOptions extends BrowserContextOptions {
  /** The session that it shows. */
  readonly session: string
  /** Changes the page before any script runs. */
  readonly prepare?: (context: BrowserContext) => Promise<void>
}

/** Everything that a browser test works with. */
export interface Stage {
  readonly alpha: Provider
  readonly beta: Provider
  readonly home: Home
  readonly browser: Browser
  host: WebHost
  api: WebApi
  /** A session that has one answer of `alpha`. */
  session(): Promise<string>
  /** Opens a page; what goes wrong in it is in {@link problems}. */
  page(options: PageOptions): Promise<Page>
  /** Errors that no script caught, in any page since the last look, which closes the pages. */
  problems(): string[]
  /** Ends the host and starts another on the same home. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** Answers that tell who they are from. */
export const reply = (text: string) => ({ kind: 'answer', text }) as const

async function openHome(options: StageOptions, alpha: Provider, beta: Provider): Promise<Home> {
  const plugin = options.plugin === false ? undefined : { spec: packedCheckout().tarball, config: options.config ?? { pools: POOLS } }
  return makeHome({
    profile: 'web',
    providers: { alpha: { url: alpha.url, models: ['m'] }, beta: { url: beta.url, models: ['n', 'x', ...options.models ?? []] } },
    defaultModel: { provider: 'alpha', model: 'm' },
    // The notice that every new home greets with.
    settings: { 'ui-onboarding': { welcomeNoticeVersion: '2026-08-13.1' } },
    ...options.patches === undefined ? {} : { patches: options.patches },
    ...plugin === undefined ? {} : { plugin },
  })
}

/**
 * Opens a stage.
 * @param options - see {@link StageOptions}.
 */
export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const [alpha, beta, browser] = await Promise.all([
    startProvider({ name: 'alpha', answer: reply('from alpha') }), startProvider({ name: 'beta', answer: reply('from beta') }), launchChromium(),
  ])
  const home = await openHome(options, alpha, beta)
  const host = await startWeb(home)
  const api = await connectWeb(host.url)
  const contexts: BrowserContext[] = []
  let problems: string[] = []
  const stage: Stage = {
    alpha, beta, home, browser, host, api,
    async session() {
      alpha.setAnswer(reply('from alpha'))
      beta.setAnswer(reply('from beta'))
      // Asks alpha whatever the tests before left of it; its answer ends its mark.
      const lifter = await stage.api.createSession()
      await stage.api.executeCommand(lifter, '/quota-pool off')
      await stage.api.ask(lifter, 'hello')
      const id = await stage.api.createSession()
      await stage.api.ask(id, 'hello')
      return id
    },
    async page({ session, prepare, ...more }) {
      const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 }, ...more })
      contexts.push(context)
      context.setDefaultTimeout(45_000)
      await context.addInitScript(`localStorage.setItem('dsh.sessions.current', JSON.stringify({ sessionId: ${JSON.stringify(session)} }))`)
      await prepare?.(context)
      const page = await context.newPage()
      page.on('pageerror', (error) => { problems.push(error.message) })
      await page.goto(stage.host.url)
      await page.getByRole('textbox').first().waitFor()
      return page
    },
    problems() {
      const found = problems
      problems = []
      // Pages that stay open slow down those of the tests that follow.
      for (const context of contexts.splice(0)) void context.close().catch(() => {})
      return found
    },
    async restart() {
      stage.api.close()
      await stage.host.stop()
      // On the same port, so that open pages find it again.
      stage.host = await startWeb(home, { port: Number(new URL(stage.host.url).port) })
      stage.api = await connectWeb(stage.host.url)
    },
    async close() {
      await Promise.all(contexts.map(context => context.close()))
      await browser.close()
      stage.api.close()
      await stage.host.stop()
      await Promise.all([home.dispose(), alpha.close(), beta.close()])
    },
  }
  return stage
}

/** The chips of a page. */
export const retryChip = (page: Page): Locator => page.locator('[data-lqr=retry] > button')
/** The other one. */
export const poolChip = (page: Page): Locator => page.locator('[data-lqr=pool] > button')
/** Where the person writes; the page has other fields. */
export const field = (page: Page): Locator => page.locator('[data-composer-card]').getByRole('textbox')
/** The rows of the menu that is open. */
export const row = (page: Page, name: string | RegExp): Locator => page.locator('[data-lqr]').getByRole('menuitem', { name })

/** Whether the focus is on a part. */
export const hasFocus = (part: Locator): Promise<boolean> => part.evaluate((node: any) => node === node.ownerDocument.activeElement)

/** A computed style of a part. */
export const styleOf = (part: Locator, name: string, pseudo?: string): Promise<string> =>
  part.evaluate((node: any, [key, of]) => node.ownerDocument.defaultView.getComputedStyle(node, of)[key!], [name, pseudo] as const)

/** Asks a session something that it waits with. */
export async function startWait(stage: Stage, session: string, said: Parameters<Provider['setAnswer']>[0]): Promise<void> {
  stage.alpha.setAnswer(said)
  const from = stage.api.frames.length
  await stage.api.prompt(session, 'go on')
  await stage.api.frame(({ type, sessionId, event }) => type === 'session/event' && sessionId === session && event.type === 'llm/retry', from)
}
