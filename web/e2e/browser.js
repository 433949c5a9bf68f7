// Chromium for a test, and a page in it that fails the test when the page complains.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const args = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Nothing in these tests takes longer unless it is broken. */
const DEADLINE_MS = 15_000;

const whole = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** Chromium without windows: with them, each page of a test costs nearly twice as much. */
const shell = '/usr/bin/chromium-headless-shell';
const executablePath = !process.env.CHROMIUM && existsSync(shell) ? shell : whole;

/** The Chromium that runs for all test files, unless it needs other switches or there is none. */
export function openBrowser(more = []) {
  const shared = process.env.TENON_E2E_BROWSER;
  if (shared && more.length === 0) return chromium.connect(shared);
  return chromium.launch({ executablePath: whole, args: [...args, ...more] });
}

export function launchSharedBrowser() {
  return chromium.launchServer({ executablePath, args });
}

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

/** Has a browser be the one person's of a Tenon that answers at this address. */
export async function belongTo(context, { cookie }, url) {
  if (!cookie) return;
  const [name, value] = cookie.split('=');
  const at = new URL(url).origin;
  await context.addCookies([{ name, value, url: at, httpOnly: true, sameSite: 'Lax' }]);
}

/** A page of its own, that remembers nothing but this. `as` is the Tenon whose one person it
    belongs to; without, it is a stranger's. `complaints` is what must stay empty. */
export async function openPage(browser, url, { remembers = {}, as, ...options } = {}) {
  const context = await browser.newContext({
    viewport: desktop,
    locale: 'en-GB',
    colorScheme: 'light',
    reducedMotion: 'reduce',
    // What a test intercepts must come to the page, not to a worker beside it.
    serviceWorkers: 'block',
    ...options,
  });
  context.setDefaultTimeout(DEADLINE_MS);
  await context.addInitScript((remembers) => {
    for (const [key, value] of Object.entries(remembers)) {
      if (localStorage.getItem(key) === null) localStorage.setItem(key, value);
    }
  }, remembers);
  if (as) await belongTo(context, as, url.startsWith('http') ? url : as.url);
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
      /net::ERR_|WebSocket connection|404|status of (400|405|401|403|409|422|429|502)/.test(
        message.text(),
      );
    if (message.type() === 'error' && !network) complaints.push(`console: ${message.text()}`);
  });
  await page.goto(url);
  return { page, context, complaints };
}
