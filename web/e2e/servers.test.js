// The servers that tools come from: added, seen coming up, used, and removed.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { fixture } from './fixture.js';
import { memory, time } from './peers.js';
import { eventually } from './screen.js';
import { serversOf } from './servers.js';

const suite = fixture();
const deadline = { timeout: 90_000 };

afterEach(async () => {
  for (const { id } of await suite.tell('GET', '/sources'))
    await suite.tell('DELETE', `/sources/${id}`);
  for (const { name, mine } of await suite.tell('GET', '/secrets')) {
    await suite.tell('DELETE', `/secrets/${name}?mine=${mine}`);
  }
});

const stateOf = async (name) => {
  const all = await suite.tell('GET', '/sources');
  return all.find((source) => source.name === name);
};

async function open(t, options) {
  const visit = await suite.visit(t, options);
  const servers = serversOf(visit.page);
  await servers.open();
  return { ...visit, servers };
}

test('a server is added, used, comes back when it is killed, and goes', deadline, async (t) => {
  const { page, ui, servers } = await open(t);
  await servers.settings.getByText('An MCP server is a program or an address').waitFor();

  // The whole line where the program goes: its arguments are put where they go.
  await servers.add.click();
  const command = servers.form.getByLabel('Command');
  await command.fill(memory);
  await command.press('Tab');
  assert.equal(await servers.form.getByLabel('Name', { exact: true }).inputValue(), 'memory');
  await servers.form.getByLabel('Title').fill('Notebook');
  await servers.form.getByRole('button', { name: 'Add', exact: true }).click();
  const row = servers.row('Notebook');
  await row.getByText(/Ready · 9 tools · program/).waitFor({ timeout: 30_000 });

  // The panel of tools knows them without being asked again.
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Tools:/ }).click();
  const panel = page.getByRole('dialog', { name: 'Tools' });
  // Of a long list only what is near is drawn.
  await panel.getByRole('heading', { name: 'Notebook' }).scrollIntoViewIfNeeded();
  await panel.getByRole('heading', { name: 'Create Entities' }).waitFor();
  await page.keyboard.press('Escape');
  await ui.field.waitFor();

  const { id, pid } = await stateOf('memory');
  const read = () => suite.tell('POST', '/tools/mcp_memory_read_graph/call', { arguments: {} });
  assert.equal((await read()).ok, true);

  await servers.open();
  process.kill(pid, 'SIGKILL');
  await eventually('another process', async () => {
    const now = await stateOf('memory');
    return now.state === 'ready' && now.pid !== pid;
  });
  await row.getByText(/Ready · 9 tools/).waitFor();
  assert.equal((await read()).ok, true);
  await servers.choose('Notebook', 'Log');
  const log = row.getByRole('group', { name: 'Log of Notebook' });
  await log.getByText(/restarted once/).waitFor();
  await log.getByText('Tenon', { exact: true }).first().waitFor();

  await servers.choose('Notebook', 'Remove');
  await row.getByText('This cannot be undone.').waitFor();
  await row.getByRole('button', { name: 'Remove', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  await servers.settings.getByText('An MCP server is a program or an address').waitFor();
  const tools = await suite.tell('GET', '/tools');
  assert.deepEqual(
    tools.filter(({ source }) => source.id === id),
    [],
  );
});

test('a server that cannot be started says why, and what it wrote', deadline, async (t) => {
  const { servers } = await open(t);
  await servers.addProgram(
    'broken',
    'node',
    '-e',
    'console.error("no <b>luck</b>"); process.exit(3)',
  );
  const row = servers.row('broken');
  await row.getByRole('alert').waitFor({ timeout: 30_000 });
  await row.getByText('no <b>luck</b>').first().waitFor();
  await row.getByRole('button', { name: 'Try again' }).waitFor();

  // It is put right where it is.
  await row.getByRole('button', { name: 'Edit' }).click();
  await servers.form.getByLabel('Command').fill(time);
  await servers.form.getByLabel('Arguments').fill('--local-timezone=UTC');
  await servers.form.getByRole('button', { name: 'Save' }).click();
  await row.getByText(/Ready · 2 tools/).waitFor({ timeout: 30_000 });
});

test('why it cannot be started is told apart from all it wrote', deadline, async (t) => {
  const { servers } = await open(t);
  const fault = 'FOO_API_KEY environment variable is required';
  await servers.addProgram('broken', 'node', '-e', `throw new Error("${fault}")`);
  const row = servers.row('broken');
  const alert = row.getByRole('alert');
  await alert
    .getByText(/^It needs the environment variable FOO_API_KEY/)
    .waitFor({ timeout: 30_000 });
  const lines = row.getByRole('list', { name: 'Its output' }).getByRole('listitem');
  assert.deepEqual(await lines.allTextContents(), [`Error: ${fault}`]);
  await row.getByText('node exited with code 1.').first().waitFor();
});

test(
  'a server that is being installed is waited for, and says how far it is',
  deadline,
  async (t) => {
    const { servers } = await open(t);
    const folder = await mkdtemp(join(tmpdir(), 'tenon-installs-'));
    t.after(() => rm(folder, { recursive: true }));
    const npx = join(folder, 'npx');
    const installed = join(folder, 'installed');
    const install = `until [ -e ${installed} ]; do sleep 0.1; done`;
    const script = `#!/bin/sh\necho "fetching a-server" >&2\n${install}\nexec ${memory}\n`;
    await writeFile(npx, script, { mode: 0o755 });
    await servers.addProgram('slow', npx);
    const row = servers.row('slow');
    await row.getByText('fetching a-server').waitFor();
    await row.getByText(/^Installing…/).waitFor({ timeout: 15_000 });
    await writeFile(installed, '');
    await row.getByText(/Ready · 9 tools/).waitFor({ timeout: 30_000 });
    assert.equal(await row.getByText('fetching a-server').count(), 0);
    assert.equal((await stateOf('slow')).restarts, 0);
  },
);

test('it is switched off and on again', deadline, async (t) => {
  const { servers } = await open(t);
  await servers.addProgram('memory', memory);
  const row = servers.row('memory');
  await row.getByText(/Ready · 9 tools/).waitFor({ timeout: 30_000 });
  await row.getByRole('switch').click();
  await row.getByText(/^Switched off/).waitFor();
  await eventually('no process', async () => (await stateOf('memory')).pid === undefined);
  await row.getByRole('switch').click();
  await row.getByText(/Ready · 9 tools/).waitFor({ timeout: 30_000 });
});

test('what is wrong is said where it is', deadline, async (t) => {
  const { servers, page } = await open(t);
  await servers.add.click();
  await servers.form.getByRole('button', { name: 'Add', exact: true }).click();
  await servers.form.getByText('Fill this in.').first().waitFor();
  const command = servers.form.getByLabel('Command');
  assert.ok(await command.evaluate((field) => field === document.activeElement));
  await page.keyboard.press('Escape');

  // What only the server knows is said there too.
  await servers.add.click();
  await servers.form.getByRole('radio', { name: 'An address' }).check();
  await servers.form.getByLabel('Address', { exact: true }).fill('http://127.0.0.1:9/mcp');
  await servers.form.getByRole('button', { name: 'Add a header' }).click();
  await page.keyboard.type('Host');
  await servers.form.getByRole('button', { name: 'Add', exact: true }).click();
  await servers.form.getByText('The header Host is set by Tenon itself').waitFor();
  const header = servers.form.getByLabel('Name 1');
  assert.ok(await header.evaluate((field) => field === document.activeElement));
  await page.keyboard.press('Escape');
  await servers.form.waitFor({ state: 'detached' });
  await servers.settings.waitFor();
});

test('a value that was given is kept and never shown', deadline, async (t) => {
  const { servers, page } = await open(t);
  await servers.add.click();
  await servers.form.getByLabel('Command').fill(memory);
  await servers.form.getByRole('button', { name: 'Add a variable' }).click();
  await page.keyboard.type('TOKEN');
  await page.keyboard.press('Tab');
  await page.keyboard.type('hush-hush');
  await servers.form.getByRole('button', { name: 'Add', exact: true }).click();
  const row = servers.row('memory');
  await row.getByText(/Ready/).waitFor({ timeout: 30_000 });
  await servers.choose('memory', 'Edit');
  await servers.form.getByText('stored, not shown').waitFor();
  assert.doesNotMatch(await page.content(), /hush-hush/);
  await servers.form.getByRole('button', { name: 'Replace: TOKEN' }).click();
  await page.keyboard.type('other');
  await servers.form.getByRole('button', { name: 'Save' }).click();
  await row.getByText(/Ready/).waitFor({ timeout: 30_000 });
});

test('what Tenon is known by at a log-in is entered', deadline, async (t) => {
  const { servers, page } = await open(t);
  const { form } = servers;
  await servers.add.click();
  await form.getByRole('radio', { name: 'An address' }).check();
  await form.getByLabel('Address', { exact: true }).fill('http://127.0.0.1:9/mcp');
  await form.getByLabel('Name', { exact: true }).fill('far');
  await form.getByRole('button', { name: 'More' }).click();

  // A secret is of no use alone: that is said where the id goes.
  await form.getByLabel('Client secret').fill('hush-hush');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await form.getByText('clientId is missing').waitFor();
  const id = form.getByLabel('Client id');
  assert.ok(await id.evaluate((field) => field === document.activeElement));
  await id.fill('tenon-42');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await servers.row('far').waitFor();
  assert.equal((await stateOf('far')).reach.clientId, 'tenon-42');

  await servers.choose('far', 'Edit');
  await form.getByRole('button', { name: 'More' }).click();
  assert.equal(await form.getByLabel('Client id').inputValue(), 'tenon-42');
  assert.equal(await form.getByLabel('Client secret').inputValue(), '');
  assert.doesNotMatch(await page.content(), /hush-hush/);
  await form.getByLabel('Client id').fill('');
  await form.getByRole('button', { name: 'Save' }).click();
  await servers.row('far').waitFor();
  assert.equal((await stateOf('far')).reach.clientId, undefined);
});

test('a configuration is pasted, looked at, and added', deadline, async (t) => {
  const { servers } = await open(t);
  await servers.paste.click();
  const configuration = {
    mcpServers: {
      memory: { command: memory, autoApprove: ['read_graph'] },
      clock: { command: time, args: ['--local-timezone=${ZONE}'], env: { KEY: '${CLOCK_KEY}' } },
      odd: { command: '' },
    },
  };
  await servers.importForm.getByLabel('Configuration').fill(JSON.stringify(configuration));
  const found = servers.importForm.getByRole('list', { name: 'Servers found' });
  await found.getByText('Will be added').first().waitFor();
  assert.equal(await found.getByRole('checkbox', { name: 'Add odd' }).isDisabled(), true);
  // What is not taken over is said.
  await found.getByText('Not imported: autoApprove.').waitFor();
  await servers.importForm.getByLabel('CLOCK_KEY').fill('hush');
  await found.getByRole('checkbox', { name: 'Add memory' }).uncheck();
  await servers.importForm.getByRole('button', { name: 'Add 1 server' }).click();
  await servers.row('clock').waitFor();
  assert.equal(await servers.row('memory').count(), 0);
  await servers.settings.getByRole('heading', { name: '${CLOCK_KEY}' }).waitFor();
});

for (const [locale, refused, note] of [
  ['zh-CN', '它的传输方式“pigeon”不是 stdio、http 或 sse。', '它同时有命令和地址，已采用命令。'],
  ['zh-TW', '它的傳輸方式「pigeon」不是 stdio、http 或 sse。', '它同時有命令和位址，已採用命令。'],
]) {
  test(`what a configuration leaves out is told in ${locale}`, deadline, async (t) => {
    const { page } = await suite.visit(t, { locale });
    await page.evaluate(() => (location.hash = '#/settings/servers'));
    const paste = page.getByRole('button', { name: /粘贴配置|貼上設定/ });
    await paste.click();
    const odd = { command: 'x', transport: 'pigeon' };
    const both = { command: 'x', url: 'https://a.example' };
    const text = JSON.stringify({ mcpServers: { odd, both } });
    await page.locator('dialog textarea').fill(text);
    await page.getByText(refused).waitFor();
    await page.getByText(note).waitFor();
  });
}

test('a secret that is missing is set where it is missed', deadline, async (t) => {
  const { servers } = await open(t);
  const lacks = (name, how) =>
    suite.tell('POST', '/sources', { kind: 'mcp', name, command: memory, ...how });
  await lacks('shared', { env: { TOKEN: '${E2E_SHARED}' } });
  await lacks('personal', { env: { TOKEN: '${user.E2E_OWN}' } });
  await lacks('argument', { args: ['--root=${e2e.root}'] });
  const missed = { shared: 'E2E_SHARED', personal: 'E2E_OWN', argument: 'e2e.root' };
  for (const [name, secret] of Object.entries(missed)) {
    const row = servers.row(name);
    await row.getByLabel(secret).fill('hush', { timeout: 30_000 });
    await row.getByRole('button', { name: 'Set', exact: true }).click();
    await row.getByText(/Ready · 9 tools/).waitFor({ timeout: 30_000 });
  }
});

test('secrets are set, replaced and removed, and never shown', deadline, async (t) => {
  const { servers, page } = await open(t);
  const { settings } = servers;
  await settings.getByRole('button', { name: 'Add a secret' }).click();
  await settings.getByLabel('Name', { exact: true }).fill('not a name');
  await settings.getByLabel('Value', { exact: true }).fill('hush');
  await settings.getByRole('button', { name: 'Set', exact: true }).click();
  await settings.getByText('Letters, digits, . - and _ only.').waitFor();
  await settings.getByLabel('Name', { exact: true }).fill('user.MY_TOKEN');
  await settings.getByText('Leave “user.” out').waitFor();
  await settings.getByLabel('Name', { exact: true }).fill('MY_TOKEN');
  await settings.getByRole('button', { name: 'Set', exact: true }).click();
  await settings.getByRole('heading', { name: '${MY_TOKEN}' }).waitFor();
  assert.doesNotMatch(await page.content(), /hush/);
  await settings.getByRole('button', { name: 'Replace: ${MY_TOKEN}' }).click();
  await page.keyboard.type('other');
  await page.keyboard.press('Enter');
  await settings.getByRole('form').waitFor({ state: 'detached' });
  await settings.getByRole('button', { name: 'Remove: ${MY_TOKEN}' }).click();
  await settings.getByRole('button', { name: 'Remove', exact: true }).click();
  await settings.getByText('There are no secrets.').waitFor();
});

test('all of it can be done by the keyboard', deadline, async (t) => {
  const { servers, page } = await open(t);
  await servers.add.focus();
  await page.keyboard.press('Enter');
  await servers.form.getByRole('radio', { name: 'A program' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.type(memory);
  await page.keyboard.press('Enter');
  await servers.row('memory').getByText(/Ready/).waitFor({ timeout: 30_000 });
  const opener = servers.row('memory').getByRole('button', { name: 'Options for memory' });
  assert.ok(await opener.evaluate((button) => button === document.activeElement));
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem').first().and(page.locator(':focus')).waitFor();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const sure = servers.row('memory').getByRole('group', { name: 'Remove' });
  await sure.getByRole('button', { name: 'Remove' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await servers.row('memory').waitFor({ state: 'detached' });
  await servers.add.and(page.locator(':focus')).waitFor();
});

test('an admin says whether a server is trusted, and its line tells', deadline, async (t) => {
  const { page, servers } = await open(t);
  const policy = async () => {
    const tools = await suite.tell('GET', '/tools');
    return tools.find(({ toolId }) => toolId === 'mcp_memory_read_graph')?.policy;
  };
  await servers.addProgram('memory', memory);
  const row = servers.row('memory');
  const trusted = row.getByText('read-only tools run without asking');
  await trusted.waitFor({ timeout: 30_000 });
  await eventually('its tools are listed', async () => (await policy()) === 'allow');

  await servers.choose('memory', 'Edit');
  const box = servers.form.getByRole('checkbox', { name: 'Trust what it says about its tools' });
  assert.equal(await box.isChecked(), true);
  await box.focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await trusted.waitFor({ state: 'detached' });
  await eventually('its tools are asked about', async () => (await policy()) === 'ask');
});
