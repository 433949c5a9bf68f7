// Skills and tools that are written in the page: installed, updated, tried and used in a chat.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findings } from './axe.js';
import { desktop, openPage, phone } from './browser.js';
import { fixture } from './fixture.js';
import { added, ann, authPageOf, setUp } from './people.js';
import { allTools, eventually } from './screen.js';
import { startScriptedModel } from './scriptedModel.js';
import { Tenon, withAccounts } from './tenon.js';

const suite = fixture();
const deadline = { timeout: 120_000 };
const examples = fileURLToPath(new URL('../../skills', import.meta.url));
let provider;

after(() => provider?.stop());

/** The settings of skills, when their list is there. */
async function openSkills(page) {
  await page.evaluate(() => (location.hash = '#/settings/skills'));
  const settings = page.getByRole('dialog', { name: 'Settings' });
  await settings.getByRole('group', { name: 'Skills' }).waitFor();
  return settings;
}

/** Looks at a folder of the server. */
async function lookAt(settings, path) {
  const folder = settings.getByRole('button', { name: 'From a folder on the server' });
  const install = settings.getByRole('button', { name: 'Install a skill' });
  await folder.or(install).click();
  await settings.getByLabel('Folder or archive on the server').fill(path);
  await settings.getByRole('button', { name: 'Look at it' }).click();
}

const skillNamed = async (name) =>
  (await suite.tell('GET', '/skills')).find((skill) => skill.name === name);

/** Takes away whatever a test installed. */
async function withoutSkills() {
  for (const { id } of await suite.tell('GET', '/skills')) {
    await suite.tell('DELETE', `/skills/${id}`);
  }
}

const upload = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

test('the examples are looked at, installed, and used in a chat', deadline, async (t) => {
  provider = await startScriptedModel(suite);
  t.after(withoutSkills);
  const { page, ui } = await suite.visit(t);
  const settings = await openSkills(page);
  await settings.getByText('A skill is a folder with instructions').waitFor();
  await lookAt(settings, examples);
  const found = settings.getByRole('list', { name: 'Skills found' });
  const line = (title) => found.locator(':scope > li').filter({ hasText: title });
  await line('Text statistics').getByText('python3 statistics_tool.py count').first().waitFor();
  await line('Text statistics').getByText('SHA-256').waitFor();
  await line('Wikipedia').getByText('https://en.wikipedia.org', { exact: true }).waitFor();
  await line('Meeting notes').getByText('Nothing.').waitFor();
  await found.getByRole('checkbox', { name: /^Install Wikipedia/ }).uncheck();
  await settings.getByRole('button', { name: 'Install 3 skills' }).click();

  const row = (title) => settings.getByRole('button', { name: new RegExp(title) });
  await row('Text statistics.*Ready.*version 1.0.0').waitFor();
  await row('Meeting notes.*instructions only').waitFor();
  assert.equal(await row('Wikipedia').count(), 0);
  await row('Text statistics').click();
  await settings.getByRole('heading', { name: /^Count/ }).waitFor();
  await settings.getByText('Models count badly.').waitFor();
  await settings.getByRole('button', { name: /statistics_tool\.py/ }).click();
  await settings.getByText('def words(text):').waitFor();
  await settings.getByRole('button', { name: 'Back' }).click();
  await page.keyboard.press('Escape');

  const { tools, useToolId } = await skillNamed('text-statistics');
  const { toolId } = tools.find(({ name }) => name === 'count_text');
  await suite.tell('PATCH', '/tools', {
    layer: 'user',
    tools: [toolId, useToolId].map((id) => ({ toolId: id, policy: 'allow' })),
  });
  await ui.ask(`Call ${toolId} {"text": "one two 三"}`);
  await ui.answered();
  const card = ui.cards.first();
  await card.getByText(/Text statistics.*\/.*Count/).waitFor();
  await card.getByText('Server').waitFor();
  await card.getByRole('button').first().click();
  await card
    .getByText(/\bwords\b/)
    .first()
    .waitFor();

  // The panel of tools tells it from a server, and leads to the settings.
  await allTools(page).click();
  const panel = page.getByRole('dialog', { name: 'Tools' });
  await panel.getByRole('heading', { name: /Text statistics/, level: 3 }).waitFor();
  await panel.getByRole('button', { name: 'Skills…' }).click();
  await settings.getByRole('group', { name: 'Skills' }).waitFor();
});

test(
  'an update shows what differs, and the old version can be taken again',
  deadline,
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-skill-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    t.after(withoutSkills);
    await cp(join(examples, 'text-statistics'), folder, { recursive: true });
    const { page } = await suite.visit(t);
    const settings = await openSkills(page);
    await lookAt(settings, folder);
    await settings.getByRole('button', { name: 'Install', exact: true }).click();
    await settings.getByText(/^Ready.*version 1\.0\.0/).waitFor();

    const manifest = join(folder, 'SKILL.md');
    const text = await readFile(manifest, 'utf8');
    const changed = text
      .replace('version: 1.0.0', 'version: 1.1.0\nnetwork: true\nsecrets: [API_KEY]')
      .replace('name: frequent_words', 'name: top_words');
    await writeFile(manifest, changed);
    const menu = settings.getByRole('button', { name: /^Options for Text statistics/ });
    await menu.click();
    await page.getByRole('menuitem', { name: 'Read again from its folder' }).click();
    const found = settings.getByRole('list', { name: 'Skills found' });
    await found.getByText('1.0.0 → 1.1.0').waitFor();
    await found.getByRole('listitem').filter({ hasText: 'added' }).getByText('top_words').waitFor();
    await found
      .getByRole('listitem')
      .filter({ hasText: 'removed' })
      .getByText('frequent_words')
      .waitFor();
    await found.getByText('API_KEY').waitFor();
    await settings.getByRole('checkbox', { name: 'Allow network access' }).check();
    await settings.getByRole('button', { name: 'Update', exact: true }).click();

    await settings
      .getByText(/version 1\.1\.0/)
      .first()
      .waitFor();
    await settings.getByText('Its tools need API_KEY.').waitFor();
    assert.equal((await skillNamed('text-statistics')).networkAllowed, true);
    await settings.getByRole('button', { name: 'Fill in' }).click();
    await settings.getByLabel('API_KEY', { exact: true }).fill('sk-secret');
    await settings
      .getByRole('form', { name: 'Secrets and variables' })
      .getByRole('button', { name: 'Save' })
      .click();
    await settings.getByText('Stored. Leave empty to keep it.').waitFor();
    await settings.getByText('Its tools need API_KEY.').waitFor({ state: 'detached' });

    await settings.getByRole('button', { name: 'Use version 1.0.0' }).click();
    await settings.getByText(/^Ready.*version 1\.0\.0/).waitFor();
    await menu.click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await settings.getByText(/Its tools disappear from all chats/).waitFor();
    await settings.getByRole('button', { name: 'Remove', exact: true }).click();
    await settings.getByText('A skill is a folder with instructions').waitFor();
  },
);

test(
  'an uploaded file is installed, and a broken one is refused by its line',
  deadline,
  async (t) => {
    t.after(withoutSkills);
    const { page } = await suite.visit(t);
    const settings = await openSkills(page);
    const chooser = settings.getByLabel('Choose a file…').and(page.locator('input'));
    await chooser.setInputFiles(upload('SKILL.md', '---\nname: broken\ntools: 7\n---\n'));
    await settings.getByText(/SKILL\.md:\d|SKILL\.md, line \d/).waitFor();
    await settings.getByRole('button', { name: 'Back' }).click();

    const haiku =
      '---\nname: haiku\ntitle: Haiku 俳句\ndescription: Writes haiku.\n---\nFive, **seven**, five.';
    await chooser.setInputFiles(upload('SKILL.md', haiku));
    await settings.getByRole('button', { name: 'Install', exact: true }).click();
    const instructions = settings.getByRole('region', { name: 'Instructions' });
    await instructions.locator('strong', { hasText: 'seven' }).waitFor();

    // Switched off it is kept, and its state follows.
    await settings.getByRole('switch', { name: 'Use Haiku 俳句' }).click();
    await settings.getByText(/^Switched off/).waitFor();
    await settings.getByRole('button', { name: 'Back' }).click();
    await settings.getByRole('switch', { name: 'Use Haiku 俳句' }).click();
    await settings.getByRole('button', { name: /Haiku.*Ready/ }).waitFor();
  },
);

test('a tool is written, tried, saved and changed', deadline, async (t) => {
  t.after(withoutSkills);
  const { page } = await suite.visit(t);
  const settings = await openSkills(page);
  await settings.getByRole('button', { name: 'Write a tool' }).click();
  const writer = page.getByRole('dialog', { name: 'Write a tool' });
  const code = writer.getByRole('textbox', { name: 'Code' });
  await writer.getByText('2 tools').waitFor();

  // Nothing was changed, so nothing is lost; then something is.
  await writer.getByRole('radio', { name: 'JavaScript' }).check({ force: true });
  await writer.getByText('2 tools').waitFor();
  await writer.getByRole('radio', { name: 'Python' }).check({ force: true });
  await code.click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText('class Tools\n    pass\n');
  await writer.getByText('This is not valid code.').waitFor();
  await writer.getByRole('button', { name: 'Line 1' }).click();
  await writer.getByRole('button', { name: 'Save' }).click();
  await writer.getByText('The code has to work before it can be saved.').waitFor();

  await code.click();
  await page.keyboard.press('Control+A');
  const greeter = [
    'class Tools:',
    '    def greet(self, name: str, loud: bool = False) -> str:',
    '        """',
    '        Greet somebody.',
    '',
    '        :param name: Whom.',
    '        """',
    '        print("about to greet")',
    '        return ("HELLO " if loud else "Hello ") + name',
    '',
  ].join('\n');
  await page.keyboard.insertText(greeter);
  await writer.getByText('1 tool', { exact: true }).waitFor();
  await writer.getByText('string, required').waitFor();
  await writer.getByRole('button', { name: 'Run' }).click();
  await writer.getByText('Fill this in.').waitFor();
  await writer.getByLabel('name (required)').fill('Ann');
  await writer.getByLabel('loud').check();
  await writer.getByRole('button', { name: 'Run' }).click();
  await writer.getByText('about to greet', { exact: true }).waitFor();
  await writer.getByText('HELLO Ann').waitFor();
  // It has the network here where it will have it.
  await writer.getByText('It has no network access').waitFor();
  await writer.getByRole('checkbox', { name: /network/ }).check();
  await writer.getByText('It has network access').waitFor();
  await writer.getByRole('checkbox', { name: /network/ }).uncheck();

  // Esc in the code does not close it, and the way out asks first.
  await code.click();
  await page.keyboard.press('Escape');
  await writer.getByRole('button', { name: 'Close' }).click();
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await writer.getByLabel('Name', { exact: true }).fill('Greeter');
  await writer.getByRole('button', { name: 'Save' }).click();
  await settings.getByRole('heading', { name: 'Greeter', level: 3 }).waitFor();
  await settings.getByText(/^Ready.*1 tool/).waitFor();

  await settings.getByRole('button', { name: 'Options for Greeter' }).click();
  await page.getByRole('menuitem', { name: 'Edit the code' }).click();
  const editor = page.getByRole('dialog', { name: 'Edit “Greeter”' });
  await editor.getByRole('textbox', { name: 'Code' }).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(greeter.replaceAll('greet', 'welcome'));
  await editor.getByText('welcome', { exact: true }).first().waitFor();
  await editor.getByRole('button', { name: 'Save as new version' }).click();
  await settings.getByRole('heading', { name: /^welcome/ }).waitFor();
  await settings.getByRole('group', { name: 'Versions' }).waitFor();
});

test(
  'tools that Open WebUI exported are imported, or refused with a reason',
  deadline,
  async (t) => {
    t.after(withoutSkills);
    const { page } = await suite.visit(t);
    const settings = await openSkills(page);
    await settings.getByRole('button', { name: 'Import from Open WebUI' }).click();
    const chooser = settings.getByLabel('Choose a file…').and(page.locator('input'));
    await chooser.setInputFiles(upload('chats.json', '[{"id": "chat"}]'));
    await settings.getByText('This is not an export of tools').waitFor();
    const roll =
      'class Tools:\n    def roll(self) -> int:\n        """Roll a die."""\n        return 4\n';
    const exported = [
      { id: 'dice', name: 'Dice', content: roll, meta: { description: 'Rolls.' } },
      { id: 'inner', name: 'Inner', content: `import open_webui.main\n${roll}`, meta: {} },
      { id: 'later', name: 'Later', content: `${roll}        import open_webui.main\n`, meta: {} },
    ];
    await chooser.setInputFiles(upload('tools-export.json', JSON.stringify(exported)));
    await settings.getByText('It needs parts of Open WebUI.').waitFor();
    const later = settings.getByRole('listitem').filter({ hasText: 'Later' });
    await later.getByText(/Line 5.*open_webui\.main.*What needs them will fail/).waitFor();
    await settings.getByRole('button', { name: 'Import 2 tools' }).click();
    await settings.getByText('2 imported, 1 not.').waitFor();
    await settings.getByRole('button', { name: 'Done' }).click();
    await settings.getByRole('button', { name: /^Dice/ }).waitFor();
  },
);

test('an expert has skills, and a slash uses one', deadline, async (t) => {
  t.after(withoutSkills);
  const path = join(examples, 'meeting-notes');
  const [skill] = await suite.tell('POST', '/skills', { path });
  const { page, ui } = await suite.visit(t);
  await page.evaluate(() => (location.hash = '#/settings/experts'));
  const settings = page.getByRole('dialog', { name: 'Settings' });
  await settings.getByRole('button', { name: 'New expert' }).click();
  await settings.getByLabel('Title', { exact: true }).fill('Minutes');
  await settings.getByRole('checkbox', { name: /^Meeting notes/ }).check();
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByRole('heading', { name: /^Minutes/ }).waitFor();
  const experts = await suite.tell('GET', '/experts');
  assert.deepEqual(experts.find(({ title }) => title === 'Minutes').skills, [skill.id]);
  await page.keyboard.press('Escape');

  await ui.field.fill('/meet');
  await page.getByRole('option', { name: /Use skill Meeting notes/ }).click();
  assert.equal(
    await ui.field.inputValue(),
    `Use the skill “${skill.title}” (${skill.useToolId}): `,
  );
});

test('who is no admin installs no programs, and is told so before', deadline, async (t) => {
  const tenon = await Tenon.start(withAccounts);
  t.after(() => tenon.stop());
  const bob = { ...ann, name: 'Bob', email: 'bob@example.com', role: 'user' };
  await added(tenon, await setUp(tenon), bob);
  const { page, context, complaints } = await openPage(suite.browser, tenon.url);
  t.after(() => context.close());
  const authPage = authPageOf(page);
  await authPage.logIn(bob);
  await authPage.field.waitFor();
  const settings = await openSkills(page);
  const chooser = settings.getByLabel('Choose a file…').and(page.locator('input'));
  await chooser.waitFor({ state: 'attached' });
  assert.equal(await settings.getByRole('button', { name: 'Write a tool' }).count(), 0);
  assert.equal(
    await settings.getByRole('button', { name: 'From a folder on the server' }).count(),
    0,
  );
  const program =
    '---\nname: runs\ndescription: Runs.\ntools:\n  - {name: go, description: Go, type: script, command: echo hi, parameters: {type: object}}\n---\nGo.';
  await chooser.setInputFiles(upload('SKILL.md', program));
  await settings.getByText('Ask an admin to install it.').waitFor();
  assert.ok(await settings.getByRole('button', { name: 'Nothing to install' }).isDisabled());
  await settings.getByRole('button', { name: 'Choose another' }).click();
  await chooser.setInputFiles(
    upload('SKILL.md', '---\nname: plain\ndescription: Tells.\n---\nTell.'),
  );
  await settings.getByRole('button', { name: 'Install', exact: true }).click();
  await settings.getByRole('heading', { name: 'plain', level: 3 }).waitFor();
  await settings.getByText(/^Ready.*only yours/).waitFor();
  assert.deepEqual(complaints, []);
});

test('skills are accessible in both widths and schemes', deadline, async (t) => {
  t.after(withoutSkills);
  for (const [viewport, colorScheme] of [
    [desktop, 'light'],
    [phone, 'dark'],
  ]) {
    await withoutSkills();
    const where = (what) => `${what} at ${viewport.width}, ${colorScheme}`;
    const { page } = await suite.visit(t, { viewport, colorScheme });
    const check = async (what) => {
      assert.deepEqual(await findings(page, where(what)), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= viewport.width, where(what));
    };
    const settings = await openSkills(page);
    await settings.getByText('A skill is a folder with instructions').waitFor();
    await check('no skills');
    await lookAt(settings, examples);
    await settings.getByRole('list', { name: 'Skills found' }).waitFor();
    await check('a preview');
    await settings.getByRole('button', { name: 'Install 4 skills' }).click();
    await settings.getByRole('button', { name: /Text statistics.*Ready/ }).waitFor();
    await check('the list');
    await settings.getByRole('button', { name: /Text statistics/ }).click();
    await settings.getByRole('group', { name: 'Files' }).waitFor();
    await check('a skill');
    await settings.getByRole('button', { name: 'Back' }).click();
    await settings.getByRole('button', { name: 'Write a tool' }).click();
    const writer = page.getByRole('dialog', { name: 'Write a tool' });
    await writer.getByText('2 tools').waitFor();
    await eventually(
      'the code has its colours',
      async () => (await writer.locator('.cm-line span').count()) > 0,
    );
    await check('the code');
  }
});
