// Shortcuts, their cheat sheet, and what the palette reaches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { address, eventually } from './screen.js';

const suite = fixture();
const { visit } = suite;
const deadline = { timeout: 60_000 };

const hash = async (page) => new URL(await address(page)).hash;
const hasFocus = (locator) => locator.evaluate((element) => element === document.activeElement);

async function run(page, words) {
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await palette.waitFor();
  await page.keyboard.type(words);
  return palette;
}

test('the cheat sheet opens with a question mark, and not while writing', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await ui.field.press('?');
  assert.equal(await ui.field.inputValue(), '?');
  assert.equal(await sheet.count(), 0);
  await ui.field.fill('');
  await ui.field.blur();
  await page.keyboard.press('?');
  await sheet.getByText('Copy the last answer').waitFor();
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });

  const palette = await run(page, 'keyboard');
  await palette.getByRole('option', { name: 'Keyboard shortcuts' }).click();
  await sheet.waitFor();
});

test('chats are gone through, begun and written in by keys', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const chats = [];
  for (const words of ['What time is it in Tokyo?', 'What time is it in Lima?']) {
    await page.keyboard.press('Alt+Shift+N');
    await page.getByRole('heading', { name: 'Tenon' }).waitFor();
    await ui.ask(words);
    await ui.answered();
    chats.push(await hash(page));
  }
  const [older, newer] = chats;
  assert.notEqual(older, newer);
  // Also while the field has the focus.
  assert.ok(await hasFocus(ui.field));
  await page.keyboard.press('Alt+Shift+J');
  await eventually('the next one is open', async () => (await hash(page)) === older);
  await page.keyboard.press('Alt+Shift+K');
  await eventually('the previous one is open', async () => (await hash(page)) === newer);
  await page.keyboard.press('Alt+Shift+K');
  await eventually('above the first is a new one', async () => (await hash(page)) === '#/');

  await ui.field.blur();
  await page.keyboard.press('/');
  assert.ok(await hasFocus(ui.field));
  assert.equal(await ui.field.inputValue(), '');
  await page.keyboard.type('/');
  assert.equal(await ui.field.inputValue(), '/');
  await ui.field.fill('');
});

test(
  'the last answer is copied, the list hidden, tools and settings opened',
  deadline,
  async (t) => {
    const { page, context, ui } = await visit(t);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.keyboard.press('Alt+Shift+C');
    await page.getByText('There is no answer to copy.').waitFor();
    await ui.ask('What time is it in Tokyo?');
    await ui.answered();
    await page.keyboard.press('Alt+Shift+C');
    await page.getByText('The last answer is copied.').waitFor();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /Tokyo/);

    const list = page.getByRole('navigation', { name: 'Chats' });
    await page.keyboard.press('Alt+Shift+S');
    await list.waitFor({ state: 'detached' });
    await page.reload();
    await ui.field.waitFor();
    assert.equal(await list.count(), 0, 'it stays hidden');
    await page.getByRole('button', { name: 'Open chat list' }).click();
    await list.waitFor();

    await page.keyboard.press('Alt+Shift+L');
    await page.getByRole('dialog', { name: 'Tools' }).waitFor();
    // What lies over the page has the keys.
    await page.keyboard.press('Alt+Shift+N');
    assert.notEqual(await hash(page), '#/');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Alt+Shift+,');
    await page.getByRole('dialog', { name: 'Settings' }).waitFor();
    assert.equal(await hash(page), '#/settings');
  },
);

test(
  'the palette reaches settings, tools, experts, prompts and the open chat',
  deadline,
  async (t) => {
    await suite.tell('POST', '/prompts', {
      command: 'standup',
      title: 'Daily report',
      text: 'Write my report.',
      visibility: 'private',
    });
    const { page, ui } = await visit(t);

    // By a keyword that is in no label.
    let palette = await run(page, 'stdio');
    await palette.getByRole('option', { name: 'Settings: Tool servers' }).click();
    await page.getByRole('region', { name: 'Tool servers' }).waitFor();
    await page.keyboard.press('Escape');

    palette = await run(page, 'builtin_calculate');
    await palette.getByRole('option', { name: 'Math/Calculate' }).click();
    const panel = page.getByRole('dialog', { name: 'Tools' });
    await panel.getByText('Calculate', { exact: true }).first().waitFor();
    await page.keyboard.press('Escape');

    palette = await run(page, 'files & data');
    await palette.getByRole('option', { name: 'Start a chat with Files & data' }).click();
    await eventually('it is about to begin', async () => (await hash(page)).startsWith('#/e/'));

    palette = await run(page, 'daily report');
    await palette.getByRole('option', { name: 'Use the prompt /standup' }).click();
    assert.equal(await ui.field.inputValue(), 'Write my report.');
    assert.ok(await hasFocus(ui.field));

    palette = await run(page, 'share this');
    await palette.getByText('No results').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'New chat' }).click();
    await ui.ask('What time is it in Tokyo?');
    await ui.answered();
    palette = await run(page, 'share this');
    await palette.getByRole('option', { name: 'Share this chat…' }).click();
    await page.getByRole('dialog', { name: 'Share this chat' }).waitFor();
    await page.keyboard.press('Escape');
    palette = await run(page, 'export this');
    await palette.getByRole('option', { name: 'Export this chat…' }).click();
    await page.getByRole('dialog', { name: /Export/ }).waitFor();
  },
);

test('a part of the page that cannot be loaded is said, with a way out', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.field.waitFor();
  await page.route('**/assets/ShortcutSheet-*', (route) => route.abort());
  await ui.field.blur();
  await page.keyboard.press('?');
  await page.getByText('Part of the page could not be loaded').waitFor();
  await page.unroute('**/assets/ShortcutSheet-*');
  await page.getByRole('button', { name: 'Reload' }).click();
  await ui.field.waitFor();
  await ui.field.blur();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
});
