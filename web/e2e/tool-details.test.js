// One tool of the panel: what it is, who decided about it, and calling it by hand.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { findingsInBothSchemes } from './axe.js';
import { startCounter } from './counter.js';
import { fixture } from './fixture.js';
import { lookAt } from './local.js';
import { allTools, eventually } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };

afterEach(async () => {
  const known = await suite.tell('GET', '/tools');
  const tools = known.map(({ toolId }) => ({ toolId, enabled: null, policy: null }));
  await suite.tell('PATCH', '/tools', { layer: 'user', tools });
  for (const { id } of await suite.tell('GET', '/devices'))
    await suite.tell('DELETE', `/devices/${id}`);
});

/** The details of a tool that a person opens from the panel. */
async function open(page, toolId) {
  await allTools(page).click();
  const panel = page.getByRole('dialog', { name: 'Tools' });
  // Of a long list only what is near is drawn.
  await panel.getByRole('searchbox').fill(toolId);
  await panel.locator(`li[title=${toolId}] .open`).click();
  const back = panel.getByRole('button', { name: 'Back to all tools' });
  await back.waitFor();
  const form = panel.getByRole('form', { name: 'Try it' });
  await form.waitFor();
  return { panel, back, form, result: panel.getByRole('region', { name: 'Result' }) };
}

test('a tool opens to what it is, and Esc leads back to it', deadline, async (t) => {
  const { page, context } = await suite.visit(t);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { panel, back } = await open(page, 'builtin_current_time');
  await panel.getByText('builtin_current_time', { exact: true }).waitFor();
  await panel.getByRole('button', { name: 'Copy', exact: true }).first().click();
  await panel.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, 'builtin_current_time');
  await panel.getByRole('rowheader', { name: /timezone/ }).waitFor();
  await panel.getByText('Nobody set this: by default it is used without asking.').waitFor();
  await panel.getByRole('button', { name: 'Schema as JSON' }).click();
  await panel.getByText(/"properties": \{/).waitFor();
  assert.deepEqual(await findingsInBothSchemes(page, 'the details of a tool'), []);

  await panel.getByRole('button', { name: /current time: allow$/i }).click();
  await page.getByRole('menuitemradio', { name: 'Ask me each time' }).click();
  await panel.getByText('Set by you, for all your chats.').waitFor();

  // A pin is a choice of its own, and is taken back without switching the tool off.
  const pin = panel.getByRole('switch', { name: /^Pin .*current time$/i });
  const known = async () => suite.tell('GET', '/tools/builtin_current_time');
  assert.equal((await known()).pinned, false);
  await pin.click();
  await eventually('the pin', async () => (await known()).pinned);
  await panel.getByRole('switch', { name: /^Pin .*current time$/i, checked: true }).click();
  await eventually('no pin', async () => !(await known()).pinned);
  assert.equal((await known()).enabled, true);

  await back.focus();
  await page.keyboard.press('Escape');
  await back.waitFor({ state: 'detached' });
  const row = panel.locator('li[title=builtin_current_time]');
  await row.waitFor();
  const focused = await row.evaluate((row) => row.contains(document.activeElement));
  assert.ok(focused, 'the focus is where it was');
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
});

test(
  'it is tried by form and by JSON, and its result is shown as in a chat',
  deadline,
  async (t) => {
    const { page, ui } = await suite.visit(t);
    await ui.ask('What time is it in Lima?');
    await ui.answered();
    const { panel, form, result } = await open(page, 'builtin_current_time');
    // Those of this person, newest first: this one was made in a chat.
    const past = panel
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Your last calls' }) })
      .getByRole('listitem');
    await past.first().getByRole('link', { name: 'in a chat' }).waitFor();
    const before = await past.count();
    await form.getByLabel(/timezone/i).fill('Asia/Tokyo');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await result
      .getByText(/\+09:00/)
      .first()
      .waitFor();

    await form.getByRole('radio', { name: 'JSON' }).check();
    const json = form.getByLabel('Input', { exact: true });
    assert.deepEqual(JSON.parse(await json.inputValue()), { timezone: 'Asia/Tokyo' });
    await json.fill('[1]');
    await form.getByText(/This is not a JSON object/).waitFor();
    await form.getByRole('button', { name: 'Run again' }).click();
    await json.fill('{"timezone": "Nowhere/Land"}');
    await form.getByRole('button', { name: 'Run again' }).click();
    await result.getByText('Nowhere/Land').last().waitFor();
    await result.getByText('Error', { exact: true }).waitFor();

    // What was tried here is among the last calls.
    await eventually('they are listed', async () => (await past.count()) === before + 2);
    for (const call of [past.nth(0), past.nth(1)]) await call.getByText('by hand').waitFor();
    await past.nth(2).getByRole('link', { name: 'in a chat' }).click();
    await panel.waitFor({ state: 'detached' });
    await ui.cards.first().waitFor();
  },
);

test('what may destroy something asks before it runs', deadline, async (t) => {
  const known = await suite.tell('GET', '/tools');
  const { toolId } = known.find(
    ({ annotations, source }) => annotations.destructive && source.kind === 'builtin',
  );
  const { page } = await suite.visit(t);
  const { form, result, back } = await open(page, toolId);
  await form.getByRole('radio', { name: 'JSON' }).check();
  await form.getByLabel('Input', { exact: true }).fill('{}');
  const asked = [];
  page.on('request', (request) => request.url().endsWith('/call') && asked.push(request.url()));
  await form.getByRole('button', { name: 'Run', exact: true }).click();
  const question = form.getByRole('group', { name: 'Run it' });
  await question.waitFor();
  // Esc says no to the question, and closes nothing else.
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  await back.waitFor();
  assert.deepEqual(asked, []);
  await form.getByRole('button', { name: 'Run', exact: true }).click();
  await question.getByRole('button', { name: 'Run it' }).click();
  await result.waitFor();
  assert.equal(asked.length, 1);
});

test('a tool of this computer is called here, and can be cancelled', deadline, async (t) => {
  const counter = await startCounter();
  t.after(() => counter.stop());
  const { page } = await suite.visit(t, lookAt(counter.url));
  let tool;
  await eventually('its tool', async () => {
    const known = await suite.tell('GET', '/tools');
    tool = known.find(({ source }) => source.local?.url === counter.url);
    return tool?.source.state === 'ready';
  });
  const { panel, form, result } = await open(page, tool.toolId);
  await panel.getByText(/Your computer \(.*\), called by your browser/).waitFor();
  await form.getByRole('button', { name: 'Run', exact: true }).click();
  await form.getByText('Fill this in.').waitFor();
  await form.getByLabel(/^number/).fill('7');
  await form.getByRole('button', { name: 'Run', exact: true }).click();
  await result.getByText('"number": 7').last().waitFor();
  assert.equal(counter.counted.get(7), 1);

  await form.getByLabel(/^ms/).fill('60000');
  await form.getByLabel(/^number/).fill('8');
  await form.getByRole('button', { name: 'Run again' }).click();
  await eventually('it has begun', () => counter.counted.get(8) === 1);
  await form.getByRole('button', { name: 'Cancel' }).click();
  await result.getByText('Cancelled.').waitFor();
});

test('a schema of five megabytes and a hostile name do no harm', deadline, async (t) => {
  const evil = '<img src=x onerror="window.harmed=1">';
  const properties = Object.fromEntries(
    Array.from({ length: 4_000 }, (_, index) => [
      `p${index}`,
      { type: 'string', description: `${evil} ${'long '.repeat(200)}` },
    ]),
  );
  const { page } = await suite.visit(t, {});
  await page.route(/\/api\/tools\/evil$/, (route) =>
    route.fulfill({ json: { toolId: 'evil', parameters: { type: 'object', properties } } }),
  );
  await page.route(/\/api\/tools(\?|$)/, async (route) => {
    const response = await route.fetch();
    if (route.request().method() !== 'GET') return route.fulfill({ response });
    const tools = await response.json();
    const [first] = tools;
    const hostile = { ...first, toolId: 'evil', title: evil, description: evil };
    await route.fulfill({ response, json: [hostile, ...tools] });
  });
  await page.reload();
  const { panel, form } = await open(page, 'evil');
  await panel.getByRole('heading', { name: evil }).first().waitFor();
  await panel.getByText(/3940 more: see the schema\./).waitFor();
  await form.getByLabel('Input', { exact: true }).waitFor();
  const began = Date.now();
  await panel.getByRole('button', { name: 'Schema as JSON' }).click();
  await panel.getByText(/copying takes all of it/).waitFor();
  assert.ok(Date.now() - began < 5_000);
  assert.equal(await page.evaluate(() => window.harmed), undefined);
});
