// Experts and saved prompts: made in the settings, used in a chat.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findings } from './axe.js';
import { desktop, phone } from './browser.js';
import { fixture } from './fixture.js';
import { everything } from './peers.js';
import { address, eventually } from './screen.js';
import { addServer, startScriptedModel } from './scriptedModel.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
let provider;

after(() => provider?.stop());

/** The last conversation that the model was asked to go on with. Titles are made without tools. */
const lastAsked = () => provider.asked.findLast(({ tools }) => tools);

async function openSettings(page, section) {
  await page.evaluate((section) => (location.hash = `#/settings/${section}`), section);
  const settings = page.getByRole('dialog', { name: 'Settings' });
  await settings.getByRole('button', { name: /^New / }).waitFor();
  return settings;
}

test(
  'an expert made in the settings answers with its prompt and its tools',
  deadline,
  async (t) => {
    provider = await startScriptedModel(suite);
    const { page, ui } = await suite.visit(t);
    const settings = await openSettings(page, 'experts');
    await settings.getByText('Web research').waitFor();
    await settings.getByRole('button', { name: 'New expert' }).click();
    await settings.getByRole('button', { name: 'Save' }).click();
    await settings.getByText('Give it a title.').waitFor();
    await settings.getByLabel('Title', { exact: true }).fill('Sums');
    await settings.getByLabel('calculator').check({ force: true });
    await settings.getByLabel('System prompt').fill('You only do sums.');
    await settings.getByLabel('Only these tools').check();
    await settings.getByLabel('Filter tools').fill('calculate');
    await settings.getByRole('checkbox', { name: 'calculate' }).first().check();
    await settings.getByLabel('Starters').fill('What is 6*7?');
    await settings.getByRole('button', { name: 'Save' }).click();
    await settings.getByRole('heading', { name: /^Sums/ }).waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: 'Sums' }).click();
    await page.getByRole('heading', { name: 'Sums' }).waitFor();
    await page.getByRole('button', { name: 'What is 6*7?' }).click();
    await ui.answered();
    const { tools, messages } = lastAsked();
    assert.deepEqual(
      tools.map((tool) => tool.function.name),
      ['builtin_calculate'],
    );
    assert.match(messages[0].content, /You only do sums\.$/);
    const wrench = page.getByRole('button', { name: /^Tools:/ });
    await eventually('one tool is on', async () => (await wrench.innerText()) === '1');

    // Another one answers from then on, also after a reload.
    await page.getByRole('button', { name: 'Expert: Sums' }).click();
    await page.getByRole('menuitemradio', { name: 'Files & data' }).click();
    await page.getByRole('button', { name: 'Expert: Files & data' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Expert: Files & data' }).waitFor();
    await ui.ask('And now?');
    await ui.answered(2);
    assert.match(lastAsked().messages[0].content, /files and data/);
  },
);

test('an expert is copied, hidden and deleted', deadline, async (t) => {
  const { page } = await suite.visit(t);
  const settings = await openSettings(page, 'experts');
  const act = async (title, action) => {
    await settings
      .getByRole('button', { name: `Actions for ${title}` })
      .last()
      .click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  await act('Web research', 'Copy');
  const title = settings.getByLabel('Title', { exact: true });
  await title.fill('My research');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByRole('heading', { name: /^My research/ }).waitFor();
  const link = page.getByRole('link', { name: 'My research', includeHidden: true });
  await link.waitFor({ state: 'attached' });
  await act('My research', 'Hide');
  await link.waitFor({ state: 'detached' });
  await act('My research', 'Delete');
  await settings.getByRole('button', { name: 'Delete', exact: true }).click();
  await settings.getByRole('heading', { name: /^My research/ }).waitFor({ state: 'detached' });
});

test('an expert leaves as a file and comes back from it', deadline, async (t) => {
  const { page } = await suite.visit(t);
  const settings = await openSettings(page, 'experts');
  const open = (title) => settings.getByRole('button', { name: `Actions for ${title}` }).click();
  const item = (name) => page.getByRole('menuitem', { name });
  // One that is built in is everywhere, but not a copy of it.
  await open('Web research');
  await item('Copy').waitFor();
  assert.equal(await item('Export').count(), 0);
  await item('Copy').click();
  await settings.getByLabel('Title', { exact: true }).fill('Team research');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByRole('heading', { name: /^Team research/ }).waitFor();
  await open('Team research');
  const saved = page.waitForEvent('download');
  await item('Export').click();
  const file = await saved;
  assert.equal(file.suggestedFilename(), 'web-research-2.yaml');
  const folder = await mkdtemp(join(tmpdir(), 'tenon-e2e-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'expert.yaml');
  await file.saveAs(path);
  const text = await readFile(path, 'utf8');
  const mine = text
    .replace(/^name: .*$/m, 'name: my-research')
    .replace(/^title: .*$/m, 'title: My research');
  const choose = async (buffer) => {
    const chooser = page.waitForEvent('filechooser');
    await settings.getByRole('button', { name: 'Import…' }).click();
    const mimeType = 'application/yaml';
    await (await chooser).setFiles({ name: 'expert.yaml', mimeType, buffer: Buffer.from(buffer) });
  };
  await choose(mine);
  await settings.getByRole('heading', { name: /^My research/ }).waitFor();
  await choose('- nothing of the kind');
  await settings.getByText(/does not describe an expert/).waitFor();
});

test(
  'a slash brings saved prompts and those of tool servers into a message',
  deadline,
  async (t) => {
    const server = { kind: 'mcp', name: 'all', command: everything, args: ['stdio'] };
    await addServer(suite, server, 'mcp_all_echo');
    const { page, ui } = await suite.visit(t);
    const settings = await openSettings(page, 'prompts');
    await settings.getByRole('button', { name: 'New prompt' }).click();
    await settings.getByLabel('Command').fill('summary');
    await settings.getByLabel('Text').fill('Sum this up:\n');
    await settings.getByRole('button', { name: 'Save' }).click();
    await settings.getByRole('heading', { name: '/summary' }).waitFor();
    await page.keyboard.press('Escape');

    await ui.field.fill('/sum');
    await page.getByRole('option', { name: /summary/ }).waitFor();
    await ui.field.press('Enter');
    assert.equal(await ui.field.inputValue(), 'Sum this up:\n');

    // Esc closes the menu, and what was typed stays.
    await ui.field.fill('/s');
    await page.getByRole('listbox', { name: 'Commands' }).waitFor();
    await ui.field.press('Escape');
    await page.getByRole('listbox', { name: 'Commands' }).waitFor({ state: 'detached' });
    assert.equal(await ui.field.inputValue(), '/s');

    await ui.field.fill('/args');
    await page.getByRole('option', { name: /args/ }).click();
    const form = page.getByRole('dialog', { name: /^Fill in/ });
    await form.getByLabel('city').fill('Oslo');
    await form.getByRole('button', { name: 'Use' }).click();
    await eventually('the prompt is filled in', async () =>
      (await ui.field.inputValue()).includes('Oslo'),
    );
    assert.match(await address(page), /#\/$/);
  },
);

test('experts are accessible in both widths and schemes', deadline, async (t) => {
  for (const [viewport, colorScheme] of [
    [desktop, 'light'],
    [phone, 'dark'],
  ]) {
    const { page } = await suite.visit(t, { viewport, colorScheme });
    await page.getByRole('button', { name: /^Expert:/ }).waitFor();
    const settings = await openSettings(page, 'experts');
    await settings.getByRole('button', { name: 'New expert' }).click();
    await settings.getByLabel('Only these tools').check();
    const where = `experts at ${viewport.width}, ${colorScheme}`;
    assert.deepEqual(await findings(page, where), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= viewport.width, where);
  }
});
