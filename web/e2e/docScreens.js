// The dozen pictures of docs/screens: both themes, two widths, three languages. Each shows one
// thing. They need a font with Chinese characters, such as Debian's fonts-noto-cjk.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { desktop, openPage, phone } from './browser.js';
import { words } from './docScreenWords.js';
import { Provider } from './provider.js';
import { eventually } from './screen.js';
import { Tenon } from './tenon.js';

const folder = fileURLToPath(new URL('../../docs/screens/', import.meta.url));

/** Name, theme and width of each picture, and how the page gets there, by language. */
const screens = {
  'en-GB': [
    ['answer', 'light', desktop, showAnswer],
    ['preview', 'dark', desktop, showPreview],
    ['trace', 'light', desktop, showTrace],
    ['tools', 'light', desktop, showTools],
    ['palette', 'dark', desktop, showPalette],
    ['chat', 'light', phone, showChat],
  ],
  'zh-CN': [
    ['answer', 'dark', phone, showAnswer],
    ['approval', 'light', desktop, showApproval],
    ['write-tool', 'dark', desktop, showWriter],
    ['settings', 'light', phone, showSettings],
  ],
  'zh-TW': [
    ['chat', 'dark', desktop, showChat],
    ['tools', 'light', phone, showTools],
  ],
};

/** Each language has a Tenon of its own, with what somebody who speaks it would have. */
export async function shootForDocs(browser) {
  await mkdir(folder, { recursive: true });
  for (const [locale, pictures] of Object.entries(screens)) {
    const tenon = await Tenon.start();
    const provider = await Provider.start();
    try {
      const told = words[locale];
      await furnish(tenon, provider, told);
      for (const [name, colorScheme, viewport, show] of pictures) {
        const { page, context } = await openPage(browser, tenon.url, {
          as: tenon,
          colorScheme,
          viewport,
          locale,
          hasTouch: viewport === phone,
          deviceScaleFactor: viewport === phone ? 2 : 1,
        });
        await page.locator('main').waitFor();
        await page.locator('.assistant:not(:empty)').waitFor();
        await show(page, { tenon, provider, told });
        await page.evaluate(() => document.fonts.ready);
        const language = locale.startsWith('en') ? 'en' : locale;
        const file = `${name}-${viewport.width}-${colorScheme}-${language}.png`;
        await page.screenshot({ path: join(folder, file) });
        await context.close();
      }
    } finally {
      provider.stop();
      await tenon.stop();
    }
  }
}

async function tell(tenon, method, path, body) {
  const response = await tenon.fetch(`/api${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return response.status === 204 ? undefined : response.json();
}

/** A model, folders, and chats of the last days. */
async function furnish(tenon, provider, { folders, chats, greeting }) {
  await tell(tenon, 'POST', '/models', {
    provider: 'openai',
    baseUrl: `${provider.url}/v1`,
    key: provider.key,
    model: 'fake-large',
    name: 'gpt-x',
    toolMode: 'native',
    isDefault: true,
  });
  provider.says = greeting;
  for (const title of chats) {
    const { id } = await tell(tenon, 'POST', '/chats', {});
    await tell(tenon, 'POST', `/chats/${id}/turns`, { text: title });
    await eventually('it is answered', async () => {
      const chat = await (await tenon.fetch(`/api/chats/${id}`)).json();
      return !chat.running;
    });
    await tell(tenon, 'PATCH', `/chats/${id}`, { title });
  }
  for (const name of folders) await tell(tenon, 'POST', '/folders', { name });
}

async function ask(page, text) {
  const field = page.locator('main form textarea').last();
  await field.fill(text);
  await field.press('Enter');
}

async function answered(page) {
  await page.locator('article .foot button').first().waitFor();
  await page.locator('.stop').waitFor({ state: 'detached' });
}

/** Called as the model of a person would call it, and not by its first words. */
async function entitle(page, tenon, title) {
  const id = (await page.evaluate(() => location.hash)).split('/').at(-1);
  await tell(tenon, 'PATCH', `/chats/${id}`, { title });
  await page.locator('header h1').getByText(title, { exact: true }).waitFor();
}

async function attach(page, name, text) {
  const file = { name, mimeType: 'text/plain', buffer: Buffer.from(text) };
  await page.locator('main form input[type=file]').first().setInputFiles(file);
  await page.locator('main form a[download]').waitFor();
}

async function showAnswer(page, { tenon, provider, told }) {
  const { file, title, question, answer } = told.answer;
  await attach(page, ...file);
  provider.calls = [{ tool: 'read_file', input: { path: file[0] } }];
  provider.says = answer;
  await ask(page, question);
  await answered(page);
  await entitle(page, tenon, title);
  await page.locator('.katex').first().waitFor();
  if (answer.includes('```')) await page.locator('pre .hljs-keyword').first().waitFor();
}

async function showPreview(page, { tenon, provider, told }) {
  const { title, question, answer } = told.preview;
  provider.calls = [];
  provider.says = answer;
  await ask(page, question);
  await answered(page);
  await entitle(page, tenon, title);
  await page.locator('.bar button, .code button').filter({ hasText: 'Preview' }).first().click();
  await page.frameLocator('iframe[title^="Preview of"]').locator('h1').waitFor();
}

async function showTrace(page, context) {
  await showChat(page, context);
  await page.locator('.answer .foot').last().getByRole('button', { name: 'Show trace' }).click();
  const rows = page.getByRole('list', { name: /in order of time/ }).getByRole('button');
  await rows.nth(1).click();
  const details = page.getByRole('region', { name: 'Details' });
  await details.getByRole('region', { name: 'Output' }).waitFor();
}

async function showChat(page, { tenon, provider, told }) {
  const { title, question, calls, answer } = told.chat;
  provider.calls = calls;
  provider.says = answer;
  await ask(page, question);
  await answered(page);
  await entitle(page, tenon, title);
  // On a phone all of it fits with the cards closed.
  if (page.viewportSize().width < 768) return;
  await page.locator('.card').first().getByRole('button').first().click();
}

async function showApproval(page, { tenon, provider, told }) {
  const toolId = 'builtin_write_file';
  const policy = (policy) =>
    tell(tenon, 'PATCH', '/tools', { layer: 'user', tools: [{ toolId, policy }] });
  await policy('ask');
  const { question, input } = told.approval;
  provider.calls = [{ tool: 'write_file', input }];
  await ask(page, question);
  await page.locator('.card[data-status=asking]').waitFor();
}

async function showTools(page) {
  await page.locator('main form .controls .tools').click();
  await page.locator('dialog li').first().waitFor();
}

async function showSettings(page) {
  await page.evaluate(() => (location.hash = '#/settings'));
  await page.locator('dialog nav a').first().waitFor();
}

async function showPalette(page) {
  await page.keyboard.press('Control+k');
  await page.locator('dialog [role=option]').nth(10).waitFor();
  const found = page.waitForResponse((response) => response.url().includes('/api/search'));
  await page.keyboard.type('la');
  await found;
  await page.locator('dialog').getByText('Searching…').waitFor({ state: 'detached' });
}

async function showWriter(page) {
  await page.evaluate(() => (location.hash = '#/settings/skills'));
  await page.locator('dialog .empty ~ .button-row button').nth(1).click();
  await page.locator('.cm-line span').first().waitFor();
  await page.locator('dialog .tools li').first().waitFor();
}
