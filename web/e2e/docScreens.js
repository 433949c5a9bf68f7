// The dozen pictures of docs/screens: both themes, two widths, three languages. Each shows one thing.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { desktop, openPage, phone } from './browser.js';
import { Provider } from './provider.js';

const folder = fileURLToPath(new URL('../../docs/screens/', import.meta.url));

const answer = `The *launch* notes name three dates. Here they are, with the days that are left:

| Milestone | Date | Days left |
| :-- | :-- | --: |
| Freeze | 1 December | 14 |
| Release | 8 December | 21 |
| Review | 15 December | 28 |

\`\`\`python
from datetime import date

def days_left(day: date, today: date) -> int:
    """Whole days until a milestone."""
    return (day - today).days
\`\`\`

The mean is $\\bar{d} = \\frac{14 + 21 + 28}{3} = 21$ days.`;

const questions = {
  'en-GB': 'What time is it in Tokyo?',
  'zh-CN': '东京现在几点？',
  'zh-TW': '計算 (17+4)*23',
};

/** Name, theme, width and language of each picture, and how the page gets there. */
const screens = [
  ['answer', 'light', desktop, 'en-GB', showAnswer],
  ['answer', 'dark', phone, 'zh-CN', showAnswer],
  ['chat', 'dark', desktop, 'zh-TW', showChat],
  ['chat', 'light', phone, 'en-GB', showChat],
  ['approval', 'light', desktop, 'zh-CN', showApproval],
  ['approval', 'dark', phone, 'en-GB', showApproval],
  ['tools', 'light', desktop, 'en-GB', showTools],
  ['tools', 'light', phone, 'zh-TW', showTools],
  ['settings', 'light', desktop, 'zh-TW', (page) => showSettings(page, '/appearance')],
  ['settings', 'light', phone, 'zh-CN', (page) => showSettings(page, '')],
  ['palette', 'dark', desktop, 'en-GB', showPalette],
  ['write-tool', 'dark', desktop, 'zh-CN', showWriter],
];

export async function shootForDocs(browser, tenon) {
  await mkdir(folder, { recursive: true });
  const provider = await Provider.start();
  provider.says = answer;
  try {
    for (const [name, colorScheme, viewport, locale, show] of screens) {
      const { page, context } = await openPage(browser, tenon.url, {
        as: tenon,
        colorScheme,
        viewport,
        locale,
        deviceScaleFactor: viewport === phone ? 2 : 1,
      });
      await page.locator('main').waitFor();
      await show(page, { tenon, provider, locale });
      await page.evaluate(() => document.fonts.ready);
      const language = locale.split('-')[0] === 'en' ? 'en' : locale;
      const file = `${name}-${viewport.width}-${colorScheme}-${language}.png`;
      await page.screenshot({ path: join(folder, file) });
      await context.close();
    }
  } finally {
    provider.stop();
  }
}

async function tell(tenon, method, path, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await tenon.fetch(`/api${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return response.status === 204 ? undefined : response.json();
}

async function ask(page, words) {
  const field = page.locator('textarea').last();
  await field.fill(words);
  await field.press('Enter');
}

async function answered(page) {
  await page.locator('article .foot button').first().waitFor();
  await page.locator('.stop').waitFor({ state: 'detached' });
}

async function showAnswer(page, { tenon, provider, locale }) {
  const { id } = await tell(tenon, 'POST', '/models', {
    provider: 'openai',
    baseUrl: `${provider.url}/v1`,
    key: provider.key,
    model: 'fake-large',
    name: 'gpt-x',
    isDefault: true,
  });
  await page.reload();
  await ask(
    page,
    locale === 'en-GB' ? 'What is in my notes about the launch?' : '我的笔记里关于发布写了什么？',
  );
  await answered(page);
  await page.locator('.katex').first().waitFor();
  await page.locator('pre .hljs-keyword').first().waitFor();
  await tenon.fetch(`/api/models/${id}`, { method: 'DELETE' });
}

async function showChat(page, { locale }) {
  await ask(page, questions[locale]);
  await answered(page);
  await page.locator('.card').first().getByRole('button').first().click();
}

async function showApproval(page, { tenon, locale }) {
  const policy = (policy) =>
    tell(tenon, 'PATCH', '/tools', {
      layer: 'user',
      tools: [{ toolId: 'builtin_current_time', policy }],
    }).catch(() => {});
  await policy('ask');
  await ask(page, questions[locale]);
  await page.locator('.card[data-status=asking]').waitFor();
  await policy(null);
}

async function showTools(page) {
  await page.keyboard.press('Alt+Shift+L');
  await page.locator('dialog li').first().waitFor();
}

async function showSettings(page, section) {
  await page.evaluate((section) => (location.hash = `#/settings${section}`), section);
  await page.locator('dialog nav a').first().waitFor();
}

async function showPalette(page) {
  await page.keyboard.press('Control+k');
  await page.locator('[role=option]').nth(20).waitFor();
  await page.keyboard.type('set');
}

async function showWriter(page) {
  await page.evaluate(() => (location.hash = '#/settings/skills'));
  await page.locator('dialog .empty ~ .button-row button').nth(1).click();
  await page.locator('.cm-line span').first().waitFor();
  await page.locator('dialog .tools li').first().waitFor();
}
