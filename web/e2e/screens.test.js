// Dialogs, menus, cards and pages where the other tests do not look: no serious barrier in both
// widths and both schemes, and in Chinese no word of English.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findings } from './axe.js';
import { desktop, openPage, phone } from './browser.js';
import { englishAt } from './english.js';
import { fixture } from './fixture.js';
import { conversation, showConversation } from './forgedChat.js';
import { authPageOf, post, setUp } from './people.js';
import { startScriptedModel } from './scriptedModel.js';
import { Tenon, withAccounts } from './tenon.js';

const suite = fixture();
const deadline = { timeout: 120_000 };
/** The words of built-in tools and of errors are loaded when a language is chosen. */
const LOAD_MS = 1_000;
let provider;
after(() => provider?.stop());

/** What is wrong there. The page is as it was afterwards. */
async function problemsOf(page, what, within = 'body') {
  return [...(await barriers(page, what, within)), ...(await english(page, what, within))];
}

/** What axe finds, and whether it is wider than the screen. */
async function barriers(page, what, within) {
  const found = [];
  for (const viewport of [desktop, phone]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      const where = `${what} at ${viewport.width}, ${colorScheme}`;
      found.push(...(await findings(page, where, within)));
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > viewport.width) found.push(`${what}: ${wide} px wide on ${viewport.width}`);
  }
  await page.setViewportSize(desktop);
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

async function english(page, what, within) {
  const found = [];
  for (const code of ['zh-Hans', 'zh-Hant']) {
    await speak(page, code);
    const there = page.locator(within).first();
    const end = Date.now() + LOAD_MS;
    let words = await englishAt(there, `${what}, ${code}`);
    while (words.length > 0 && Date.now() < end) words = await englishAt(there, `${what}, ${code}`);
    // What was read out before stays as it was said.
    found.push(...words.filter((word) => !word.endsWith('The answer is complete.')));
  }
  await speak(page, 'en');
  return found;
}

/** As if it were chosen in another tab. */
async function speak(page, code) {
  await page.evaluate((code) => {
    localStorage.setItem('tenon.language', code);
    dispatchEvent(new StorageEvent('storage', { key: 'tenon.language' }));
  }, code);
  await page.locator(`html[lang=${code}]`).waitFor();
}

/** One red pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
);

const dialog = 'dialog[open]';

/** Each opens what it is named after, and says where that is. */
const screens = {
  async 'folder settings'({ page }) {
    const nav = page.getByRole('navigation', { name: 'Chats' });
    await nav.getByRole('button', { name: '工作', exact: true }).hover();
    await nav.getByRole('button', { name: 'Options for the folder “工作”' }).click();
    await page.getByRole('menuitem', { name: 'Folder settings…' }).click();
    await page.locator(dialog).getByRole('heading').first().waitFor();
    return dialog;
  },

  async 'moving a chat'({ page, ui }) {
    await ui.menu('Move to folder…');
    await page.getByRole('dialog', { name: /^Move/ }).waitFor();
    return dialog;
  },

  async 'the settings of a chat'({ page, ui }) {
    await ui.menu('Chat settings…');
    await page.getByLabel('Instructions for this chat').waitFor();
    return dialog;
  },

  async 'exporting a chat'({ page, ui }) {
    await ui.menu('Export…');
    await page.getByRole('dialog', { name: 'Export…' }).waitFor();
    return dialog;
  },

  async 'sharing a chat'({ page, ui }) {
    await ui.menu('Share…');
    await page.getByRole('button', { name: 'Create link' }).click();
    await page.getByRole('textbox', { name: 'Link' }).waitFor();
    return dialog;
  },

  async 'deleting a chat'({ page, ui }) {
    await ui.menu('Delete');
    await page.locator(dialog).getByRole('heading').first().waitFor();
    return dialog;
  },

  async 'a picture'({ page }) {
    await page.getByRole('button', { name: 'Open 红.png' }).first().click();
    await page.getByRole('dialog', { name: '红.png' }).getByRole('img').waitFor();
    return dialog;
  },

  async 'the palette'({ page }) {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option').nth(20).waitFor();
    return dialog;
  },

  async 'the commands behind a slash'({ page, ui }) {
    await ui.field.fill('/');
    await page.getByRole('listbox', { name: 'Commands' }).waitFor();
    return 'main';
  },

  async 'the form of a prompt'({ page, ui }) {
    await ui.field.fill('/城');
    await page.getByRole('option', { name: /城/ }).first().click();
    await page.getByRole('dialog', { name: /^Fill in/ }).waitFor();
    return dialog;
  },

  async 'an artifact'({ page }) {
    await page.getByRole('button', { name: 'Preview' }).first().click();
    await page.getByRole('region', { name: /^Artifact: / }).waitFor();
    return 'body';
  },

  async 'messages that wait'({ page, ui }) {
    await ui.field.fill('');
    provider.stallsAt = '请等我';
    await ui.ask('请等我');
    await ui.stopButton.waitFor();
    await ui.ask('然后这个');
    await page.getByRole('region', { name: 'Queued' }).getByText('然后这个').waitFor();
    return 'main';
  },
};

test('dialogs and menus of a chat', deadline, async (t) => {
  provider = await startScriptedModel(suite);
  t.after(async () => {
    provider.stallsAt = undefined;
    await suite.tenon.cancelTurns();
  });
  const models = await suite.tell('GET', '/models');
  const { id: modelId } = models.find(({ isDefault }) => isDefault);
  await suite.tell('PATCH', `/models/${modelId}`, { name: '小模型' });
  await suite.tell('POST', '/folders', { name: '工作' });
  await suite.tell('POST', '/prompts', { command: 'ci', title: '引用', text: '请注明出处。' });
  provider.says = '好：\n\n```html\n<title>页</title><h1>标题</h1>\n```';
  const visit = await suite.visit(t);
  const { page, ui } = visit;
  const asks = { name: '城', description: '在哪里。', required: true };
  const prompt = { name: 'mcp_ab_城', title: '园/城', description: '', arguments: [asks] };
  await page.route('**/api/prompts/servers', (route) => route.fulfill({ json: [prompt] }));
  await page.reload();
  const files = page.locator('.foot form input[type=file]').first();
  await files.setInputFiles({ name: '红.png', mimeType: 'image/png', buffer: pixel });
  await page.getByRole('button', { name: 'Remove 红.png' }).waitFor();
  await page.locator('.foot form progress').waitFor({ state: 'detached' });
  await ui.ask('这是什么？');
  await ui.answered();
  const chat = new URL(page.url()).hash.split('/').at(-1);
  await suite.tell('PATCH', `/chats/${chat}`, { title: '图片' });
  const found = [];
  for (const [what, open] of Object.entries(screens)) {
    const within = await open(visit);
    found.push(...(await problemsOf(page, what, within)));
    await page.keyboard.press('Escape');
    await page.locator(dialog).waitFor({ state: 'detached' });
  }
  const { token } = await suite.tell('POST', `/chats/${chat}/share`, {});
  await page.goto(`${suite.tenon.url}/#/shared/${token}`);
  await page.reload();
  await page.getByText('Made with Tenon').waitFor();
  found.push(...(await problemsOf(page, 'a shared chat')));
  await page.goto(`${suite.tenon.url}/#/compare/${encodeURIComponent(modelId)}/builtin`);
  await page.getByText('Both get every message.').waitFor();
  found.push(...(await problemsOf(page, 'a comparison', 'main')));
  assert.deepEqual(found, []);
});

const list = [
  { 甲: 1, 乙: '木瓜', 丙: ['一', '二'], 丁: 0.5 },
  { 甲: 2, 乙: '枇杷', 丙: [], 丁: -1 },
];
const fields = {
  type: 'object',
  properties: {
    名: { type: 'string', title: '姓名', description: '如证件所示。' },
    信: { type: 'string', format: 'email', title: '邮箱' },
    数: { type: 'integer', title: '数量', minimum: 1 },
    定: { type: 'boolean', title: '确定' },
    大: { type: 'string', title: '大小', enum: ['大', '小'] },
  },
  required: ['名'],
};

/** What tools gave back or ask for, as a chat shows it. */
const conversations = {
  'a tree of JSON': {
    call: { output: { type: 'text', text: JSON.stringify({ 列: list }) } },
    async open({ ui }) {
      await ui.cards.first().getByRole('button').first().click();
      await ui.cards.first().getByRole('button', { name: /^列/ }).waitFor();
    },
  },
  'a table of JSON': {
    call: { output: { type: 'text', text: JSON.stringify(list) } },
    async open({ ui }) {
      await ui.cards.first().getByRole('button').first().click();
      await ui.cards.first().getByText('Table', { exact: true }).click();
      await ui.cards.first().locator('table').waitFor();
    },
  },
  'a form with a mistake': {
    call: { form: { id: 'f', message: '您是谁？', wants: { kind: 'fields', schema: fields } } },
    async open({ page }) {
      const form = page.getByRole('form', { name: /asks you$/ });
      await form.getByRole('button', { name: 'Submit' }).click();
      await form.locator('[aria-invalid=true]').first().waitFor();
    },
  },
  'an address to visit': {
    call: {
      form: { id: 'f', message: '请登录。', wants: { kind: 'visit', url: 'https://example.org/' } },
    },
    async open({ page }) {
      await page.getByRole('form', { name: /asks you$/ }).waitFor();
    },
  },
  'a call that asks': {
    call: { asked: true, input: { 页: 1 } },
    async open({ page }) {
      await page.locator('.card[data-status=asking]').waitFor();
    },
  },
  'a call that failed': {
    call: { error: { kind: 'failed', message: '坏了。', params: {} } },
    async open({ page }) {
      await page.locator('.card[data-status=failed]').waitFor();
    },
  },
  'a call that was refused': {
    call: {
      error: {
        kind: 'denied',
        code: 'call_refused',
        message: 'The user refused this call.',
        params: {},
      },
    },
    async open({ page }) {
      await page.locator('.card[data-status=failed]').waitFor();
    },
  },
  'a page of a tool': {
    call: {
      output: {
        type: 'blob',
        blobId: 'page',
        mediaType: 'text/html; disposition=inline',
        bytes: 20,
      },
    },
    async open({ page }) {
      await page.locator('figure iframe').waitFor();
    },
  },
};

test('what tools give and ask for', deadline, async (t) => {
  const visit = await suite.visit(t);
  const { page, ui } = visit;
  await page.route('**/api/blobs/page/frame', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>页</title><p>好' }),
  );
  const show = await showConversation(page);
  const found = [];
  for (const [what, { call, open }] of Object.entries(conversations)) {
    const shown = conversation({ displayName: '园/列', toolId: 'ab_1', question: '列出', ...call });
    await show(suite.tenon.url, shown);
    await ui.cards.first().waitFor();
    await open(visit);
    found.push(...(await problemsOf(page, what, 'main')));
  }
  assert.deepEqual(found, []);
});

/** What the example of a tool says of itself, which is code. */
const ofExample =
  /: (· )?(Roll dice|Flip a coin|How (many|often)|More are not|Dice|count|sides|integer)/;

test('skills and the writer of tools', deadline, async (t) => {
  const { page } = await suite.visit(t);
  await page.evaluate(() => (location.hash = '#/settings/skills'));
  const settings = page.getByRole('dialog', { name: 'Settings' });
  await settings.getByRole('group', { name: 'Skills' }).waitFor();
  const found = [];
  await settings.getByRole('button', { name: 'Write a tool' }).click();
  await settings.locator('.cm-content').first().waitFor();
  const writer = await problemsOf(page, 'the writer of a tool', dialog);
  found.push(...writer.filter((problem) => !ofExample.test(problem)));
  await page.reload();
  await settings.getByRole('button', { name: 'From a folder on the server' }).click();
  await settings.getByLabel('Folder or archive on the server').fill('/一');
  found.push(...(await problemsOf(page, 'a skill to install', dialog)));
  assert.deepEqual(found, []);
});

test('the pages for those who come, and what is theirs', deadline, async (t) => {
  const tenon = await Tenon.start(withAccounts);
  t.after(() => tenon.stop());
  const an = { name: '安', email: 'an@example.com', password: 'correct horse' };
  const admin = await setUp(tenon, an);
  const { token } = await (
    await post(tenon, '/api/invites', { email: 'bo@example.com', role: 'user' }, admin)
  ).json();
  const changed = await fetch(`${tenon.url}/api/settings`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', origin: tenon.url, ...admin },
    body: '{"signUp":true}',
  });
  assert.ok(changed.ok);
  const { page, context, complaints } = await openPage(suite.browser, tenon.url);
  t.after(() => context.close());
  const guest = authPageOf(page);
  const found = [];
  const at = async (hash) => {
    await page.goto('about:blank');
    await page.goto(`${tenon.url}/#/${hash}`);
  };
  await guest.logInButton.click();
  await page.getByText('Fill this in.').first().waitFor();
  found.push(...(await problemsOf(page, 'log-in')));
  await guest.createButton.click();
  await page.getByRole('heading', { name: 'Create an account' }).waitFor();
  await guest.createButton.click();
  await page.getByText('Fill this in.').first().waitFor();
  found.push(...(await problemsOf(page, 'sign-up')));
  await at(`invite/${token}`);
  await page.getByText('The invitation is for bo@example.com.').waitFor();
  found.push(...(await problemsOf(page, 'an invitation')));
  await at('invite/nonsense');
  await page.getByText('This invitation is no longer valid.').waitFor();
  found.push(...(await problemsOf(page, 'no invitation')));
  await at('shared/nonsense');
  await page.getByText('This chat is no longer shared.').waitFor();
  found.push(...(await problemsOf(page, 'no shared chat')));
  await at('');
  await guest.logIn(an);
  await guest.field.waitFor();
  for (const [section, opener] of [
    ['account', undefined],
    ['keys', 'Create a key'],
    ['people', 'Invite someone'],
  ]) {
    await page.evaluate((section) => (location.hash = `#/settings/${section}`), section);
    await page.locator(`[aria-current=page][href$="/${section}"]`).waitFor();
    if (opener) await guest.settings.getByRole('button', { name: opener }).click();
    found.push(...(await english(page, section, dialog)));
  }
  assert.deepEqual(found, []);
  assert.deepEqual(complaints, []);
});
