// Chromium for a test, and a page in it that fails the test when the page complains.
import { chromium } from 'playwright-core';

const args = [
  '--no-sandbox',
  '--headless=new',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Nothing in these tests takes longer unless it is broken. */
const DEADLINE_MS = 15_000;

export function openBrowser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
}

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

/** A page of its own, with nothing remembered. `complaints` is what must stay empty. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({
    viewport: desktop,
    locale: 'en-GB',
    colorScheme: 'light',
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(DEADLINE_MS);
  const page = await context.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // A server that is away on purpose makes the browser complain, not the page.
    // So does a refusal, which the page puts into words.
    const network =
      /ERR_CONNECTION|ERR_INTERNET|ERR_FAILED|WebSocket connection|404|status of (400|401|403|409|422|429|502)/.test(
        message.text(),
      );
    if (message.type() === 'error' && !network) complaints.push(`console: ${message.text()}`);
  });
  await page.goto(url);
  return { page, context, complaints };
}
