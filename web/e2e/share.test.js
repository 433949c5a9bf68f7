// Chats that leave Tenon: shown by a link, saved as files, brought in again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage } from './browser.js';
import { fixture } from './fixture.js';
import { address } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };

async function chat(t) {
  const visit = await suite.visit(t);
  await visit.ui.ask('What time is it in Tokyo?');
  await visit.ui.answered();
  return visit;
}

/** Whoever has the link: nobody Tenon knows. */
async function stranger(t, link) {
  const visit = await openPage(suite.browser, 'about:blank');
  t.after(async () => {
    await visit.context.close();
    assert.deepEqual(visit.complaints, []);
  });
  const asked = [];
  visit.page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api')) asked.push(pathname);
  });
  visit.page.on('websocket', (socket) => asked.push(socket.url()));
  await visit.page.goto(link);
  return { ...visit, asked };
}

/** The open chat as a file. */
async function save({ page, ui }, format, { withFiles = false } = {}) {
  await ui.menu('Export…');
  const dialog = page.getByRole('dialog', { name: 'Export…' });
  await dialog.getByRole('radio', { name: format }).check();
  if (withFiles) await dialog.getByRole('checkbox', { name: 'Include attachments' }).check();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Export', exact: true }).click(),
  ]);
  const pieces = await (await download.createReadStream()).toArray();
  return { name: download.suggestedFilename(), content: Buffer.concat(pieces) };
}

/** Imports a chat, which is open then. */
async function bringIn(page, buffer) {
  const before = await address(page);
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Import a chat…' }).click(),
  ]);
  await chooser.setFiles({ name: 'chat.json', mimeType: 'application/json', buffer });
  await page.waitForURL((url) => String(url) !== before);
}

test(
  'a shared chat is read by anybody who has the link, until it is taken back',
  deadline,
  async (t) => {
    const { page, ui } = await chat(t);
    await ui.menu('Share…');
    const dialog = page.getByRole('dialog', { name: 'Share this chat' });
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const field = dialog.getByRole('textbox', { name: 'Link' });
    const link = await field.inputValue();
    assert.match(link, /#\/shared\/.+/);

    const reader = await stranger(t, link);
    await reader.page.getByRole('heading', { name: /Tokyo/ }).first().waitFor();
    await reader.page.locator('.card').first().waitFor();
    assert.equal(await reader.page.locator('.card button').count(), 0, 'cards have no details');
    assert.equal(await reader.page.getByRole('textbox').count(), 0);
    await reader.page.getByText('Made with Tenon').waitFor();
    assert.ok(
      reader.asked.length > 0 && reader.asked.every((path) => path.startsWith('/api/shared/')),
      String(reader.asked),
    );

    await dialog.getByRole('switch').first().click();
    await dialog.getByText('Readers also see tool input and output').waitFor();
    await reader.page.reload();
    await reader.page.locator('.card button').first().click();
    await reader.page.getByRole('region', { name: 'Input' }).first().waitFor();

    await dialog.getByRole('button', { name: 'Revoke link' }).click();
    await dialog.getByText(/It will stop working/).waitFor();
    await dialog.getByRole('button', { name: 'Revoke link' }).click();
    await dialog.getByRole('button', { name: 'Create link' }).waitFor();
    await reader.page.reload();
    await reader.page.getByText('This chat is no longer shared.').waitFor();
  },
);

test('a link that is behind can be brought up to date', deadline, async (t) => {
  const { page, ui } = await chat(t);
  const id = (await address(page)).split('/').pop();
  const { token } = await suite.tell('POST', `/chats/${id}/share`, {});
  await ui.ask('What time is it in Lima?');
  await ui.answered(2);
  const reader = await stranger(t, `${suite.tenon.url}/#/shared/${token}`);
  await reader.page.locator('article').first().waitFor();
  assert.equal(await reader.page.locator('article').count(), 1);
  await ui.menu('Share…');
  const dialog = page.getByRole('dialog', { name: 'Share this chat' });
  await dialog.getByText('The link does not show the latest messages.').waitFor();
  await dialog.getByRole('button', { name: 'Update link' }).click();
  await dialog
    .getByText('The link does not show the latest messages.')
    .waitFor({ state: 'detached' });
  await reader.page.goto(await dialog.getByRole('textbox', { name: 'Link' }).inputValue());
  await reader.page.reload();
  await reader.page.locator('article').nth(1).waitFor();
});

test('a chat is saved as a file and brought in again', deadline, async (t) => {
  const { page, ui } = await chat(t);
  const markdown = await save({ page, ui }, /^Markdown/);
  assert.match(markdown.name, /Tokyo.*\.md$/);
  assert.match(markdown.content.toString(), /What time is it in Tokyo\?/);
  const json = await save({ page, ui }, /^JSON/);
  assert.match(json.name, /\.json$/);
  const buffer = json.content;
  await bringIn(page, buffer);
  await ui.cards.first().waitFor();
  assert.equal(await ui.questions.first().locator('p').innerText(), 'What time is it in Tokyo?');
  await ui.ask('What time is it in Lima?');
  await ui.answered(2);
});

test('a chat is brought in again with what was attached to it', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Ada’s cat') };
  await page.locator('.foot form input[type=file]').first().setInputFiles(notes);
  await page.getByRole('button', { name: 'Remove notes.txt' }).waitFor();
  await page.locator('.foot form progress').waitFor({ state: 'detached' });
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  const { content } = await save({ page, ui }, /^JSON/, { withFiles: true });
  const link = ui.questions.first().getByRole('link', { name: 'Download notes.txt' });
  const before = await link.getAttribute('href');
  // It does not depend on what it was made from.
  const id = (await address(page)).split('/').pop();
  await suite.tell('DELETE', `/chats/${id}`);
  await bringIn(page, content);
  const after = await link.getAttribute('href');
  assert.notEqual(after, before);
  assert.equal(await (await suite.tenon.fetch(after)).text(), 'Ada’s cat');
});

test('a file that is no chat is refused in words', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.field.waitFor();
  // Listened for before anything is pressed: a key is faster than the listening begins.
  const asked = page.waitForEvent('filechooser');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('import');
  await page.keyboard.press('Enter');
  const chooser = await asked;
  await chooser.setFiles({
    name: 'notes.json',
    mimeType: 'application/json',
    buffer: Buffer.from('[]'),
  });
  await page.getByText(/“notes.json” is not a chat exported by Tenon/).waitFor();
});

test('a link that never was leads nowhere, in words', deadline, async (t) => {
  const reader = await stranger(t, `${suite.tenon.url}/#/shared/nothing`);
  await reader.page.getByText('This chat is no longer shared.').waitFor();
});
