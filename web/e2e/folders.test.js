// Folders of chats, what models are told in them, and chats that nobody keeps.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findings } from './axe.js';
import { desktop, phone } from './browser.js';
import { fixture } from './fixture.js';
import { address, eventually } from './screen.js';
import { startScriptedModel } from './scriptedModel.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
let provider;

after(() => provider?.stop());

/** A visit, with a model that answers. */
async function visit(t, options) {
  provider ??= await startScriptedModel(suite);
  return suite.visit(t, options);
}

/** What the model was told first in the last conversation. Titles are made without tools. */
const lastAsked = () => provider.asked.findLast(({ tools }) => tools);
const systemPrompt = () => lastAsked().messages[0].content;

function sidebarOf(page) {
  const nav = page.getByRole('navigation', { name: 'Chats' });
  return {
    nav,
    folder: (name) => nav.getByRole('button', { name, exact: true }),
    chatIn: (folder, title) =>
      nav.locator('[data-folder]').filter({ hasText: folder }).getByRole('link', { name: title }),
    async create(name) {
      await nav.getByRole('button', { name: 'New folder' }).click();
      await nav.getByRole('textbox', { name: 'Folder name' }).fill(name);
      await page.keyboard.press('Enter');
      await this.folder(name).waitFor();
    },
    async act(name, action) {
      // Its line, and not the middle of all that it holds: the button shows itself where the
      // pointer is.
      await this.folder(name).hover();
      await nav.getByRole('button', { name: `Options for the folder “${name}”` }).click();
      await page.getByRole('menuitem', { name: action }).click();
    },
  };
}

test('chats are moved into a folder by menu, and stay when it goes', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const side = sidebarOf(page);
  await side.create('Work');
  await ui.ask('About the launch');
  await ui.answered();
  // A person's title stays; one that the model makes may come at any time.
  const title = 'Launch notes';
  const chatId = (await address(page)).split('/').at(-1);
  await suite.tell('PATCH', `/chats/${chatId}`, { title });
  await page.locator('header h1').getByText(title).waitFor();
  await ui.menu('Move to folder…');
  const dialog = page.getByRole('dialog', { name: /^Move/ });
  await dialog.getByRole('button', { name: 'Work' }).click();
  await side.chatIn('Work', title).waitFor();
  // Another page of the same person sees it, and it stays.
  await page.reload();
  await side.chatIn('Work', title).waitFor();
  assert.equal(await side.nav.getByRole('link', { name: title }).count(), 1);

  // Closed, it hides its chats; the keyboard opens it.
  await side.folder('Work').click();
  await side.chatIn('Work', title).waitFor({ state: 'detached' });
  const row = side.nav.locator('[data-folder] > .row').filter({ hasText: 'Work' });
  assert.match(await row.getAttribute('class'), /\bcurrent\b/, 'the open chat is in it');
  await side.folder('Work').focus();
  await page.keyboard.press('ArrowRight');
  await side.chatIn('Work', title).waitFor();
  assert.doesNotMatch(await row.getAttribute('class'), /\bcurrent\b/, 'the chat itself is seen');

  await side.act('Work', 'Rename');
  await side.nav.getByRole('textbox', { name: 'Folder name' }).fill('Job');
  await page.keyboard.press('Enter');
  await side.folder('Job').waitFor();

  await side.act('Job', 'Delete');
  const ask = page.getByRole('dialog', { name: /^Delete the folder/ });
  await ask.getByText('Its chats stay').waitFor();
  await ask.getByRole('button', { name: 'Delete' }).click();
  await side.folder('Job').waitFor({ state: 'detached' });
  await side.nav.getByRole('link', { name: title }).waitFor();
});

test('a chat is dragged into a folder and out of it', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const side = sidebarOf(page);
  await side.create('Garden');
  await ui.ask('About the quinces in autumn');
  await ui.answered();
  const chatId = (await address(page)).split('/').at(-1);
  const row = side.nav.locator(`[data-chat="${chatId}"] a`);
  const filed = side.nav
    .locator('[data-folder]')
    .filter({ hasText: 'Garden' })
    .locator(`[data-chat="${chatId}"]`);
  await row.dragTo(side.folder('Garden'));
  await filed.waitFor();
  assert.equal(await row.count(), 1);

  // Elsewhere in the list it is in no folder.
  await row.dragTo(side.nav.getByRole('link', { name: 'General', exact: true }));
  await filed.waitFor({ state: 'detached' });
  await row.waitFor();
  await page.reload();
  await row.waitFor();
  assert.equal(await filed.count(), 0);
});

test('a chat in a folder has its instructions and its expert', deadline, async (t) => {
  const { page, ui } = await visit(t);
  const side = sidebarOf(page);
  await side.create('Law');
  await side.act('Law', 'Folder settings…');
  const dialog = page.getByRole('dialog', { name: 'Folder “Law”' });
  await dialog.getByLabel('Name').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Give it a name.').waitFor();
  await dialog.getByLabel('Name').fill('Law');
  await dialog.getByLabel('Instructions').fill('Cite the paragraph.');
  await dialog.getByLabel('Expert').selectOption({ label: 'Files & data' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });

  await side.act('Law', 'New chat here');
  assert.match(await address(page), /#\/f\//);
  await page.getByRole('button', { name: 'Expert: Files & data' }).waitFor();
  await ui.ask('May I?');
  await ui.answered();
  assert.match(systemPrompt(), /Cite the paragraph\./);
  assert.match(systemPrompt(), /files and data/);
  await side.chatIn('Law', /./).first().waitFor();
});

test(
  'instructions for me and for one chat reach the model, after the folder and before',
  deadline,
  async (t) => {
    const { page, ui } = await visit(t);
    await page.evaluate(() => (location.hash = '#/settings/instructions'));
    const settings = page.getByRole('dialog', { name: 'Settings' });
    await settings.getByLabel('Your instructions').fill('Call me Ada.');
    await settings.getByRole('button', { name: 'Save' }).click();
    await settings.getByText('Saved.').waitFor();
    await page.keyboard.press('Escape');

    // Before there is a chat, what is set waits for it.
    await page.getByRole('button', { name: 'Chat settings…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Chat settings' });
    await dialog.getByText('Call me Ada.').waitFor();
    await dialog.getByLabel('Instructions for this chat').fill('Answer in rhyme.');
    await dialog.getByLabel('Temperature').fill('9');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('A number from 0 to 2').waitFor();
    await dialog.getByLabel('Temperature').fill('0.5');
    await dialog.getByLabel('Maximum tokens per answer').fill('77');
    await dialog.getByLabel('Effort').selectOption('High');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await ui.ask('Hello');
    await ui.answered();
    assert.match(systemPrompt(), /Call me Ada\.[^]*Answer in rhyme\./);
    assert.equal(lastAsked().temperature, 0.5);
    assert.equal(lastAsked().max_completion_tokens ?? lastAsked().max_tokens, 77);
    assert.equal(lastAsked().reasoning_effort, 'high');

    await page.reload();
    await page.getByRole('button', { name: 'Chat settings…' }).click();
    assert.equal(await dialog.getByLabel('Temperature').inputValue(), '0.5');
    assert.equal(await dialog.getByLabel('Maximum tokens per answer').inputValue(), '77');
    assert.equal(await dialog.getByLabel('Effort').inputValue(), 'high');
    await dialog.getByLabel('Temperature').fill('');
    await dialog.getByLabel('Effort').selectOption('The model’s default');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await ui.ask('Hello again');
    await ui.answered(2);
    // What Tenon asks of a server on this machine where nobody set anything.
    assert.equal(lastAsked().temperature, 0.2);
    assert.equal(lastAsked().reasoning_effort, undefined);
    assert.equal(lastAsked().max_completion_tokens ?? lastAsked().max_tokens, 77);
    await suite.tell('PUT', '/me/instructions', { instructions: '' });
  },
);

test(
  'a temporary chat is in no list, and gone when it is left, unless it is kept',
  deadline,
  async (t) => {
    const { page, ui } = await visit(t);
    const side = sidebarOf(page);
    const listed = async () => (await suite.tell('GET', '/chats?limit=100')).length;
    const before = await listed();
    await page.getByRole('button', { name: 'Temporary chat' }).click();
    await page.getByText('Temporary chat: not listed').waitFor();
    await ui.ask('A secret about medlars');
    await ui.answered();
    const chatId = (await address(page)).split('/').at(-1);
    assert.equal(await listed(), before);
    assert.equal((await suite.tell('GET', '/search?q=medlars&limit=5')).length, 0);

    await page.getByRole('link', { name: 'New chat' }).click();
    await page.getByText('The temporary chat was deleted.').waitFor();
    await eventually('it is gone', async () => {
      const response = await suite.tenon.fetch(`/api/chats/${chatId}`);
      return response.status === 404;
    });
    // It was left by mistake.
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('A secret about medlars').waitFor();
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText('Temporary chat: not listed').waitFor({ state: 'detached' });
    await eventually('it is listed', async () => (await listed()) === before + 1);
    await page.getByRole('link', { name: 'New chat' }).click();
    await side.nav.locator(`[data-chat="${chatId}"]`).waitFor();
  },
);

test('two models are compared, and one answer is kept', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await suite.tell('POST', '/models', {
    provider: 'openai',
    baseUrl: `${provider.url}/v1`,
    key: provider.key,
    model: 'fake-large',
    toolMode: 'native',
  });
  await page.reload();
  const listed = async () => (await suite.tell('GET', '/chats?limit=100')).length;
  const before = await listed();
  await page.getByRole('button', { name: /^Model: fake-small/ }).click();
  await page.getByRole('option', { name: 'Compare with…' }).click();
  await page.getByRole('option', { name: /^fake-large/ }).click();
  await ui.ask('Who are you?');
  const small = page.getByRole('region', { name: 'fake-small' }).first();
  const large = page.getByRole('region', { name: 'fake-large' }).first();
  await small.getByText('Hello from fake-small.').waitFor();
  await large.getByText('Hello from fake-large.').waitFor();
  assert.equal(await listed(), before);
  // Each answer has its trace, beside both.
  await large.getByRole('button', { name: 'Show trace' }).click();
  const trace = page.getByRole('region', { name: 'Trace of this answer' });
  await trace.getByText('fake-large', { exact: false }).first().waitFor();
  await page.reload();
  await large.getByText('Hello from fake-large.').waitFor();
  await large.getByRole('button', { name: /^Keep the chat/ }).click();
  await page.waitForURL(/#\/c\//);
  await page.getByText('Hello from fake-large.').waitFor();
  await page.getByRole('button', { name: /^Model: fake-large/ }).waitFor();
  assert.equal(await listed(), before + 1);
});

test(
  'folders, dialogs and comparisons are accessible in both widths and schemes',
  deadline,
  async (t) => {
    const name = '长长的文件夹名称 with a very long name that does not fit at all';
    await suite.tell('POST', '/folders', { name });
    for (const [viewport, colorScheme] of [
      [desktop, 'light'],
      [phone, 'dark'],
    ]) {
      const { page } = await visit(t, { viewport, colorScheme });
      const where = (what) => `${what} at ${viewport.width}, ${colorScheme}`;
      const check = async (what) => {
        assert.deepEqual(await findings(page, where(what)), []);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= viewport.width, where(what));
      };
      if (viewport === phone) await page.getByRole('button', { name: 'Open chat list' }).click();
      await page.locator('[data-folder]').first().waitFor();
      await check('folders');
      if (viewport === phone) await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Temporary chat' }).click();
      await page.getByRole('button', { name: 'Chat settings…' }).click();
      await page.getByLabel('Instructions for this chat').waitFor();
      await check('chat settings');
      await page.keyboard.press('Escape');
      await page.evaluate(() => (location.hash = '#/settings/instructions'));
      await page.getByLabel('Your instructions').waitFor();
      await check('own instructions');
      await page.keyboard.press('Escape');
      const [{ id }] = await suite.tell('GET', '/models');
      await page.evaluate(
        (id) => (location.hash = `#/compare/${id}/builtin`),
        encodeURIComponent(id),
      );
      await page.getByText('Both get every message.').waitFor();
      await check('comparison');
    }
  },
);
