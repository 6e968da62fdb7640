/**
 * Chromium for the browser tests. On a machine without one, DSH_QUOTA_RETRY_NO_BROWSER=1 skips them; where CI=true is
 * set they always run, and fail without it. CHROMIUM names an executable that stands elsewhere.
 */
import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

const executablePath = process.env['CHROMIUM'] ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

/** Whether the browser tests are to be skipped. */
export const skipBrowser = process.env['DSH_QUOTA_RETRY_NO_BROWSER'] === '1' && process.env['CI'] !== 'true'

/** Starts Chromium; says in one line what is missing where there is none. */
export async function launchChromium(): Promise<Browser> {
  if (executablePath === undefined || !existsSync(executablePath)) {
    throw new Error('The browser tests need Chromium: install Debian\'s "chromium", name another executable in CHROMIUM, or set DSH_QUOTA_RETRY_NO_BROWSER=1 to skip them.')
  }
  return chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  })
}
