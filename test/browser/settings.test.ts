import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { refusals } from '../../demo/support/provider.ts'
import { violations } from './support/axe.ts'
import { skipBrowser } from './support/chromium.ts'
import { openStage, POOLS, reply, startWait, type Stage } from './support/stage.ts'

const script = fileURLToPath(new URL('support/reading.mjs', import.meta.url))

const config = {
  pools: POOLS,
  longTermDelayMs: 7_200_000,
  balances: [
    { provider: 'beta', script: ['node', script, '--secret-argument', 'hush'], apiKeyEnv: 'BETA_KEY', env: { REGION: 'not-shown' }, unit: 'usd', minimumRemaining: 1, refreshMs: 1_000, timeoutMs: 20_000 },
  ],
}

/** A request of a page that came from elsewhere. */
function foreign(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/llm-quota-retry/watch`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    request.end(JSON.stringify({ type: 'client-request', rpcId: '1', method: 'watch', payload: { known: null } }))
  })
}

describe.skipIf(skipBrowser)('the settings page', { timeout: 150_000 }, () => {
  let stage: Stage
  beforeAll(async () => { stage = await openStage({ config, patches: [{ id: 'llm-quota-retry', maxWaitMs: 5 } as never] }) }, 120_000)
  afterAll(async () => { await (stage as Stage | undefined)?.close() })
  afterEach(() => { expect((stage as Stage | undefined)?.problems() ?? []).toEqual([]) })

  const open = async (page: Page, name = 'Quota and routes', settings = 'Settings'): Promise<Locator> => {
    await page.getByRole('button', { name: settings }).first().click()
    await page.getByRole('button', { name }).click()
    const part = page.getByRole('dialog').last()
    await part.getByRole('heading', { level: 3 }).first().waitFor()
    return part
  }
  const part = (page: Page, name: string): Locator => page.getByRole('region', { name })

  it('shows pools, readings, waits and the configuration, live', async () => {
    const session = await stage.session()
    const page = await stage.page({ session })
    await open(page)
    const pools = part(page, 'Pools')
    expect(await pools.getByRole('heading', { level: 4 }).allInnerTexts()).toEqual(['medium', 'spare'])
    await pools.getByRole('button', { name: 'Refresh readings' }).click()
    await pools.getByText('3.5 of 10 usd left').first().waitFor()
    expect(await pools.getByRole('meter').first().getAttribute('aria-valuenow')).toBe('3.5')
    expect(await pools.innerText()).toContain('not chosen below 1 usd')
    const waiting = part(page, 'Sessions that wait')
    expect(await waiting.innerText()).toContain('No session waits.')
    await stage.api.executeCommand(session, '/quota-pool off')
    await startWait(stage, session, refusals.insufficientBalance)
    await waiting.getByText(/next check \d\d:\d\d/).waitFor()
    expect(await waiting.innerText()).toMatch(/A short title[^]*alpha\/m[^]*Insufficient Balance/)
    await pools.getByText('Out of allowance').waitFor()
    expect(await pools.innerText()).toMatch(/Marked until \d/)
    // A mark is cleared by one who was told what that may cost.
    await pools.getByRole('button', { name: 'Clear the mark of alpha/m' }).click()
    await pools.getByText('It may cost one refused request.').waitFor()
    await pools.getByRole('button', { name: 'Keep it' }).click()
    expect(await pools.innerText()).toContain('Out of allowance')
    await pools.getByRole('button', { name: 'Clear the mark of alpha/m' }).click()
    await pools.getByRole('button', { name: 'Clear it' }).click()
    await pools.getByText('Out of allowance').waitFor({ state: 'detached' })
    stage.alpha.setAnswer(reply('here again'))
    await waiting.getByRole('button', { name: /^Retry now/ }).click()
    await waiting.getByText('No session waits.').waitFor()
    await pools.getByText('Out of allowance').waitFor({ state: 'detached' })
  })

  it('breaks its titles between words alone, and has nothing beyond its edge, on a phone', async () => {
    const page = await stage.page({ session: await stage.session(), viewport: { width: 390, height: 860 } })
    await page.getByRole('button', { name: 'Open sidebar' }).click()
    await open(page)
    for (const title of await page.locator('[data-lqr=page] h3').all()) {
      const text = await title.innerText()
      const { height } = (await title.boundingBox())!
      expect(height, text).toBeLessThanOrEqual(22 * text.split(' ').length)
    }
    expect(await page.locator('[data-lqr=page]').evaluate((node: any) => node.scrollWidth - node.clientWidth)).toBe(0)
  })

  it('is all in Chinese in a Chinese page, the answers of commands and the balance sources too', async () => {
    const session = await stage.session()
    for (const line of ['/quota-retry off', '/quota-retry default', '/quota-pool status', '/quota-pool nosuch', '/quota-routes']) await stage.api.executeCommand(session, line)
    const page = await stage.page({ session, locale: 'zh-CN' })
    const rows = page.locator('[data-lqr=command]')
    await expect.poll(() => rows.count()).toBe(5)
    for (const text of await rows.allInnerTexts()) expect(text).toMatch(/\p{Script=Han}/u)
    expect(await rows.nth(3).innerText()).toContain('没有名为“nosuch”的路由池')
    await open(page, '额度与路由', '设置')
    const settings = part(page, '生效的配置')
    expect(await settings.innerText()).toMatch(/另有 2 个参数/)
    expect(await settings.innerText()).not.toMatch(/argument|default\)/)
  })

  it('stops a wait, and shows a failover', async () => {
    const session = await stage.session()
    const page = await stage.page({ session })
    await open(page)
    await stage.api.executeCommand(session, '/quota-pool off')
    await startWait(stage, session, refusals.insufficientBalance)
    const waiting = part(page, 'Sessions that wait')
    await waiting.getByRole('button', { name: /^Stop waiting/ }).click()
    await waiting.getByText('No session waits.').waitFor()
    const other = await stage.session()
    stage.alpha.setAnswer(refusals.insufficientBalance)
    await stage.api.ask(other, 'go on')
    const moves = part(page, 'Last failovers of this host')
    await moves.getByText(/after a refusal/).waitFor()
    expect(await moves.getByRole('listitem').first().innerText()).toMatch(/alpha\/m\s*→\s*beta\/n[^]*Pool: medium/)
  })

  it('says in which file the configuration is set, and nothing that is secret', async () => {
    const page = await stage.page({ session: await stage.session() })
    await open(page)
    const settings = part(page, 'Configuration in effect')
    const text = await settings.innerText()
    expect(text).toContain(`Set in ${join(stage.home.dir, 'profiles', 'web', 'cordis.patch.yml')}`)
    expect(text).toMatch(/longTermDelayMs\s+2 hrs?\s/)
    for (const key of ['resumeOnStart', 'resumeConcurrency', 'resumeDelaySeconds', 'continuation']) expect(text).toContain(key)
    expect(text).toContain('Not read, for it stands beside "config:" and not under it: maxWaitMs')
    expect(text).toMatch(/exhaustedCooldownMs\s+1 hr? \(default\)/)
    expect(text).toMatch(/balances\.beta\s+script node .*reading\.mjs, 2 more arguments, apiKeyEnv BETA_KEY, env REGION, unit usd/)
    const answer = JSON.stringify(await stage.api.channel('/llm-quota-retry', 'watch', { known: null }))
    expect(answer).not.toMatch(/hush|not-shown/)
  })

  it.each([['light', 'en-GB', 'Quota and routes', 'Settings'], ['dark', 'zh-CN', '额度与路由', '设置']] as const)('passes axe (%s, %s)', async (colorScheme, locale, name, settings) => {
    const session = await stage.session()
    await stage.api.executeCommand(session, '/quota-pool off')
    const page = await stage.page({ session, colorScheme, locale })
    await startWait(stage, session, refusals.insufficientBalance)
    await open(page, name, settings)
    await page.locator('[data-lqr=page] [data-state=waiting]').waitFor()
    expect(await violations(page, '[data-lqr=page]')).toEqual([])
    await stage.api.cancel(session)
  })

  it('is answered only to pages of this machine, and refuses what it does not know', async () => {
    const { host } = new URL(stage.host.url)
    expect(await foreign(stage.host.url, { origin: 'http://evil.example', host })).toBe(403)
    expect(await foreign(stage.host.url, { origin: 'http://evil.example', host: 'evil.example' })).toBe(403)
    const refused = (endpoint: string, payload: unknown) => stage.api.channel('/llm-quota-retry', endpoint, payload).then(() => 'taken', (error: { code: string }) => error.code)
    expect(await refused('nothing', {})).toBe('bad-request')
    expect(await refused('watch', {})).toBe('bad-request')
    expect(await refused('retry', { session: 7 })).toBe('bad-request')
    expect(await refused('refresh', { more: 1 })).toBe('bad-request')
    expect(await stage.api.channel('/llm-quota-retry', 'stop', { session: await stage.session() })).toEqual({ done: false })
  })
})
