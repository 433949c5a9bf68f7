// One place for all settings: their pages, how they are found, and what the new ones do.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { findings } from './axe.js';
import { phone } from './browser.js';
import { fixture } from './fixture.js';
import { address, eventually } from './screen.js';

const suite = fixture();
const { visit } = suite;
const deadline = { timeout: 60_000 };

/** In single-user mode, where there are no accounts. */
const pages = {
  Instructions: 'instructions',
  Appearance: 'appearance',
  Notifications: 'notifications',
  Shortcuts: 'shortcuts',
  Data: 'data',
  'Tool servers': 'servers',
  'This computer': 'local',
  Skills: 'skills',
  Permissions: 'policies',
  Models: 'models',
  Experts: 'experts',
  Prompts: 'prompts',
  Dashboard: 'dashboard',
  Log: 'log',
};

function settingsOf(page) {
  const dialog = page.getByRole('dialog', { name: 'Settings' });
  return {
    dialog,
    find: dialog.getByRole('searchbox', { name: 'Find a setting' }),
    link: (name) => dialog.getByRole('link', { name, exact: true }),
    region: (name) => dialog.getByRole('region', { name, exact: true }),
    titles: () => dialog.getByRole('navigation').getByRole('link').allInnerTexts(),

    async open(section = '') {
      await page.evaluate((section) => (location.hash = `#/settings/${section}`), section);
      await dialog.waitFor();
    },
  };
}

test('every page of the settings is in one navigation, and has an address', deadline, async (t) => {
  const { page } = await visit(t);
  const settings = settingsOf(page);
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await settings.link('Appearance').waitFor();
  assert.deepEqual(await settings.titles(), Object.keys(pages));
  for (const [title, section] of Object.entries(pages)) {
    await settings.link(title).click();
    await settings.region(title).getByRole('heading').first().waitFor();
    assert.equal(new URL(await address(page)).hash, `#/settings/${section}`);
    assert.equal(await settings.link(title).getAttribute('aria-current'), 'page');
  }
  await page.keyboard.press('Escape');
  await settings.dialog.waitFor({ state: 'detached' });
  await page.waitForURL('**/#/');
});

test('a page is found by what it is about, and opened with Enter', deadline, async (t) => {
  const { page } = await visit(t);
  const settings = settingsOf(page);
  await settings.open();
  await settings.find.fill('OAuth secrets');
  assert.deepEqual(await settings.titles(), ['Tool servers']);
  await settings.find.press('Enter');
  await settings.region('Tool servers').waitFor();
  await settings.find.fill('no such thing');
  await settings.dialog.getByText('No setting found for “no such thing”.').waitFor();
  await settings.find.press('Escape');
  assert.equal(await settings.find.inputValue(), '');
  assert.deepEqual(await settings.titles(), Object.keys(pages));
});

test('in Chinese a page is found by Chinese words', deadline, async (t) => {
  const { page } = await visit(t, { locale: 'zh-CN' });
  await page.evaluate(() => (location.hash = '#/settings'));
  const dialog = page.getByRole('dialog', { name: '设置' });
  await dialog.getByRole('searchbox', { name: '查找设置' }).fill('字号');
  const links = dialog.getByRole('navigation').getByRole('link');
  assert.deepEqual(await links.allInnerTexts(), ['外观']);
});

test('on a phone there is the list, then the page, then the list again', deadline, async (t) => {
  const { page } = await visit(t, { viewport: phone, hasTouch: true, isMobile: true });
  const settings = settingsOf(page);
  await page.getByRole('button', { name: 'Open chat list' }).tap();
  await page.getByRole('button', { name: 'Settings', exact: true }).tap();
  await settings.link('Appearance').waitFor();
  assert.equal(await settings.dialog.getByRole('region').count(), 0);
  await settings.link('Appearance').tap();
  await settings.region('Appearance').getByRole('radio', { name: 'Dark' }).waitFor();
  assert.equal(await settings.find.count(), 0);
  await settings.link('All settings').tap();
  await settings.link('Appearance').waitFor();
  await page.goBack();
  await settings.region('Appearance').waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
});

test('theme, text size and language apply at once and are kept', deadline, async (t) => {
  const { page } = await visit(t);
  const settings = settingsOf(page);
  await settings.open('appearance');
  const size = () => page.evaluate(() => getComputedStyle(document.body).fontSize);
  const before = await size();
  await settings.dialog.getByRole('radio', { name: 'Dark' }).check();
  await settings.dialog.getByRole('radio', { name: 'Large' }).check();
  assert.notEqual(await size(), before);
  const large = await size();
  await settings.dialog.getByRole('radio', { name: '繁體中文' }).check();
  await page.getByRole('dialog', { name: '設定' }).waitFor();
  await page.reload();
  await page.getByRole('dialog', { name: '設定' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  assert.equal(await size(), large);
});

test('the permission of a tool is found, set, listed and taken back', deadline, async (t) => {
  const { page } = await visit(t);
  const settings = settingsOf(page);
  await settings.open('policies');
  const region = settings.region('Permissions');
  await region.getByText('Nothing is set').waitFor();
  await region.getByRole('searchbox', { name: 'Find a tool' }).fill('calculate');
  await region.getByRole('button', { name: 'Math/Calculate: allow' }).click();
  await page.getByRole('menuitemradio', { name: 'Never allow' }).click();
  const policy = async () => {
    const tools = await suite.tell('GET', '/tools');
    return tools.find(({ toolId }) => toolId === 'builtin_calculate').policy;
  };
  await eventually('the server knows', async () => (await policy()) === 'deny');
  await page.reload();
  const row = region.getByRole('listitem').filter({ hasText: 'builtin_calculate' });
  await row.getByText('set by you').waitFor();
  await row.getByRole('button', { name: 'Math/Calculate: deny' }).click();
  await page.getByRole('menuitem', { name: 'Back to the default' }).click();
  await eventually('it is taken back', async () => (await policy()) === 'allow');
});

test(
  'all chats are exported, deleted and imported again, with their files',
  deadline,
  async (t) => {
    const { page, ui } = await visit(t);
    const settings = settingsOf(page);
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Ada’s cat') };
    for (const [words, ...files] of [
      ['What time is it in Tokyo?', notes],
      ['What time is it in Lima?'],
    ]) {
      await page.getByRole('link', { name: 'New chat' }).click();
      await page.getByRole('heading', { name: 'Tenon' }).waitFor();
      if (files.length > 0) {
        await page.locator('.foot form input[type=file]').first().setInputFiles(files);
        await page.getByRole('button', { name: 'Remove notes.txt' }).waitFor();
        await page.locator('.foot form progress').waitFor({ state: 'detached' });
      }
      await ui.ask(words);
      await ui.answered();
    }
    const [archived] = await suite.tell('GET', '/chats?limit=1');
    await suite.tell('PATCH', `/chats/${archived.id}`, { archived: true });
    const count = async () => {
      const lists = [
        await suite.tell('GET', '/chats'),
        await suite.tell('GET', '/chats?archived=true'),
      ];
      return lists.flat().length;
    };
    const all = await count();
    assert.ok(all >= 2);

    await settings.open('data');
    const region = settings.region('Data');
    const withFiles = region.getByRole('checkbox', { name: 'Include attachments' });
    assert.ok(!(await withFiles.isChecked()), 'as where one chat is exported');
    await withFiles.check();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      region.getByRole('button', { name: 'Export all chats' }).click(),
    ]);
    const file = join(await mkdtemp(join(tmpdir(), 'tenon-export-')), 'chats.json');
    t.after(() => rm(dirname(file), { recursive: true }));
    await download.saveAs(file);
    const exported = JSON.parse(await readFile(file, 'utf8'));
    assert.equal(exported.format, 'tenon.chats');
    assert.equal(exported.chats.length, all);
    assert.deepEqual(
      exported.chats.flatMap(({ files = [] }) => files.map(({ file }) => file.name)),
      ['notes.txt'],
    );
    await region.getByText(`${all} chats were exported.`).waitFor();

    await region.getByRole('button', { name: 'Delete all chats…' }).click();
    await region.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await count(), all);
    await region.getByRole('button', { name: 'Delete all chats…' }).click();
    await region.getByText(`Delete all ${all} chats for good?`).waitFor();
    await region.getByRole('button', { name: 'Delete all', exact: true }).click();
    await region.getByText(`${all} chats were deleted.`).waitFor();
    assert.equal(await count(), 0);

    const chooser = region.locator('input[type=file]');
    await chooser.setInputFiles({
      name: 'x.json',
      mimeType: 'application/json',
      buffer: Buffer.from('{}'),
    });
    await region.getByText('“x.json” is not a file that Tenon exported.').waitFor();
    await chooser.setInputFiles(file);
    await region.getByText(`${all} chats were imported.`).waitFor();
    assert.equal(await count(), all);
    // The chat that was open is gone, and what is under the settings does not claim otherwise.
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Tenon' }).waitFor();
    // The file is there again.
    await ui.rows.getByRole('link', { name: /Tokyo/ }).click();
    const link = ui.questions.first().getByRole('link', { name: 'Download notes.txt' });
    const saved = await suite.tenon.fetch(await link.getAttribute('href'));
    assert.equal(await saved.text(), 'Ada’s cat');
  },
);

/** All pages in English; in Chinese those whose words are the longest or the shortest. */
const passes = [
  ['light', 'en-GB', Object.values(pages)],
  ['dark', 'en-GB', Object.values(pages)],
  ['light', 'zh-CN', ['appearance', 'data', 'local', 'models']],
  ['light', 'zh-TW', ['notifications', 'shortcuts', 'policies', 'log']],
];

for (const [colorScheme, locale, sections] of passes) {
  const name = `no serious barrier in the settings: ${colorScheme}, ${locale}`;
  test(name, { timeout: 120_000 }, async (t) => {
    const { page } = await visit(t, { colorScheme, locale });
    const found = [];
    for (const section of sections) {
      await page.evaluate((section) => (location.hash = `#/settings/${section}`), section);
      await page.getByRole('dialog').locator('[role=region] :is(h3, h4)').first().waitFor();
      found.push(...(await findings(page, section)));
    }
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    found.push(...(await findings(page, 'shortcuts')));
    assert.deepEqual(found, []);
  });
}
