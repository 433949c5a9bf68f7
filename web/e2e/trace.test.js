// The trace of an answer: what was asked of the model, what was called, and how long it took.
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { findingsInBothSchemes } from './axe.js';
import { openPage, phone } from './browser.js';
import { startCounter } from './counter.js';
import { fixture } from './fixture.js';
import { lookAt, toolsAt } from './local.js';
import { added, logIn, post, setUp } from './people.js';
import { startScriptedModel } from './scriptedModel.js';
import { eventually } from './screen.js';
import { Tenon, withAccounts } from './tenon.js';

const suite = fixture();
const deadline = { timeout: 60_000 };
let provider;

/** The model is connected once for all tests of this file. */
async function connected() {
  provider ??= await startScriptedModel(suite);
}
after(() => provider?.stop());
afterEach(() => suite.tenon.cancelTurns());

const panel = (page) => page.getByRole('region', { name: 'Trace of this answer' });
const rows = (page) => page.getByRole('list', { name: /in order of time/ }).getByRole('button');
const details = (page) => page.getByRole('region', { name: 'Details' });
/** What stands beside this word. */
const fact = (page, name) =>
  details(page)
    .locator('dt')
    .getByText(name, { exact: true })
    .locator('xpath=following-sibling::dd[1]');
const answerTrace = (page) =>
  page.locator('.answer .foot').getByRole('button', { name: 'Show trace' });

async function asked(t, options) {
  await connected();
  const visit = await suite.visit(t, options);
  await visit.ui.ask('Call calculate {"expression": "6*7"}');
  await visit.ui.answered();
  return visit;
}

test('an answer shows its steps, and what was sent to the provider', deadline, async (t) => {
  const { page } = await asked(t);
  await answerTrace(page).click();
  await panel(page).waitFor();
  await rows(page).nth(2).waitFor();
  const names = await rows(page).evaluateAll((all) => all.map((row) => row.dataset.kind));
  assert.deepEqual(names, ['model', 'tool', 'model']);
  await panel(page).getByText('2,400 in · 60 out').waitFor();

  await rows(page).first().click();
  const text = details(page);
  await text.getByText('1,200 in · 30 out · 800 from the cache').waitFor();
  await text.getByText('it called tools').waitFor();
  await text.getByRole('button', { name: 'Show what was sent' }).click();
  const sent = text.getByRole('region', { name: 'Sent to the provider' });
  await sent.waitFor();
  const request = JSON.parse(await sent.innerText());
  assert.equal(request.model, 'fake-small');
  assert.ok(request.tools.length > 3);
  assert.ok(JSON.stringify(request.messages).includes('6*7'));
  await text.getByRole('region', { name: 'How the answer began' }).waitFor();
  assert.ok(!(await page.content()).includes(provider.key), 'the key is nowhere');

  // The keyboard goes from row to row.
  await rows(page).first().focus();
  await page.keyboard.press('ArrowDown');
  await text.getByRole('region', { name: 'Input' }).getByText('"6*7"').waitFor();
  await text.getByRole('region', { name: 'Output' }).getByText('42').waitFor();
  await text.getByText('builtin_calculate').waitFor();
  assert.equal(await fact(page, 'Runs on').innerText(), 'Server');
  assert.equal(await rows(page).nth(1).getAttribute('aria-pressed'), 'true');
  assert.deepEqual(await findingsInBothSchemes(page, 'trace'), []);

  await page.keyboard.press('Escape');
  await panel(page).waitFor({ state: 'detached' });
  assert.ok(await answerTrace(page).evaluate((it) => it === document.activeElement));
});

test('a call on this computer is marked as one', deadline, async (t) => {
  await connected();
  const counter = await startCounter();
  t.after(() => counter.stop());
  const { page, ui } = await suite.visit(t, lookAt(counter.url));
  const { count } = await toolsAt(counter.url, suite.tell, 'count');
  const tools = [{ toolId: count.toolId, policy: 'allow' }];
  await suite.tell('PATCH', '/tools', { layer: 'user', tools });
  await ui.ask(`Call ${count.toolId} {"number": 7}`);
  await ui.answered();
  await answerTrace(page).click();
  await rows(page).nth(1).click();
  assert.equal(await fact(page, 'Runs on').innerText(), 'Local');
  const where = await fact(page, 'Runs on').locator('span').first().getAttribute('title');
  assert.ok(where.endsWith(counter.url), where);
});

test('a card opens the trace at its call, and all of it is copied', deadline, async (t) => {
  const { page, ui, context } = await asked(t);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await ui.cards.first().getByRole('button').first().click();
  await ui.cards.first().getByRole('button', { name: 'Show trace' }).click();
  await details(page).getByRole('heading', { name: 'Math/Calculate' }).waitFor();
  await panel(page).getByRole('button', { name: 'Copy as JSON' }).click();
  await panel(page).getByRole('button', { name: 'Copied' }).waitFor();
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  assert.equal(copied.toolCalls[0].toolId, 'builtin_calculate');
  assert.equal(copied.modelCalls.length, 2);

  // Another chat has another one.
  await page.getByRole('link', { name: 'New chat' }).click();
  await panel(page).waitFor({ state: 'detached' });
});

test('a turn that waits is shown as it goes on', deadline, async (t) => {
  await connected();
  const toolId = 'builtin_calculate';
  const policy = (policy) =>
    suite.tell('PATCH', '/tools', { layer: 'user', tools: [{ toolId, policy }] });
  await policy('ask');
  t.after(() => policy(null));
  const { page, ui } = await suite.visit(t);
  await ui.ask('Call calculate {"expression": "1+1"}');
  await page.locator('.card[data-status=asking]').waitFor();
  const turn = await page.locator('article').getAttribute('data-turn');
  const trace = () => suite.tell('GET', `/turns/${turn}/trace`);
  const waiting = await trace();
  assert.equal(waiting.endedAt, undefined);
  assert.ok(waiting.now >= waiting.startedAt);
  assert.ok(waiting.toolCalls[0].askedAt);
  assert.equal(waiting.toolCalls[0].answeredAt, undefined);
  // Also from the card that asks; what was open goes on with the call.
  await ui.cards.first().getByRole('button', { name: 'Show trace' }).click();
  await details(page).getByText('Waiting for approval').waitFor();
  await page.getByRole('button', { name: 'Allow once' }).click();
  await ui.answered();
  await details(page).getByText('Allowed by you').waitFor();
  assert.equal((await trace()).toolCalls[0].verdict, 'once');
});

test('the trace of a running answer grows', deadline, async (t) => {
  await connected();
  const { page, ui } = await suite.visit(t);
  provider.stallsAt = '42';
  t.after(() => (provider.stallsAt = undefined));
  await ui.ask('Call calculate {"expression": "6*7"}');
  const card = ui.cards.first();
  await card.and(page.locator('[data-status=done]')).waitFor();
  await card.getByRole('button').first().click();
  await card.getByRole('button', { name: 'Show trace' }).click();
  const running = rows(page).and(page.locator('[data-state=running]'));
  await running.waitFor();
  const label = () => running.innerText();
  const before = await label();
  await eventually('it counts on', async () => (await label()) !== before);
  await ui.stopButton.click();
  await running.waitFor({ state: 'detached' });
  await rows(page).and(page.locator('[data-state=stopped]')).waitFor();
});

test('an attempt that failed is a row of its own', deadline, async (t) => {
  await connected();
  const { page, ui } = await suite.visit(t);
  provider.refusal = { status: 400, message: `no such thing <b>as</b> ${provider.key}` };
  t.after(() => (provider.refusal = undefined));
  await ui.ask('Hello');
  await ui.answered();
  await answerTrace(page).click();
  const failed = rows(page).and(page.locator('[data-state=failed]'));
  await failed.first().click();
  await details(page).getByText('HTTP status').waitFor();
  await details(page).getByText('400').waitFor();
  await details(page).getByRole('button', { name: 'Show what was sent' }).click();
  const head = details(page).getByRole('region', { name: 'How the answer began' });
  await head.waitFor();
  const words = await head.innerText();
  assert.match(words, /no such thing <b>as<\/b>/);
  assert.ok(!words.includes(provider.key), words);
});

test('on a phone it covers the screen', deadline, async (t) => {
  const { page } = await asked(t, { viewport: phone });
  await answerTrace(page).click();
  const dialog = page.getByRole('dialog', { name: 'Trace of this answer' });
  await dialog.waitFor();
  const box = await dialog.boundingBox();
  assert.equal(Math.round(box.width), phone.width);
  await rows(page).nth(1).click();
  await details(page).getByRole('region', { name: 'Input' }).waitFor();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} px beyond the edge`);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
});

test('a call in the log is shown in the same view', deadline, async (t) => {
  await suite.tell('POST', '/tools/builtin_calculate/call', { arguments: { expression: '6*' } });
  const { page, context } = await suite.visit(t);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${suite.tenon.url}/#/settings/log`);
  const entry = page.getByRole('listitem').filter({ hasText: 'Math/Calculate' }).first();
  await entry.getByRole('button', { name: 'Details' }).click();
  const view = entry.getByRole('group', { name: 'Trace of this call' });
  await view.waitFor();
  await view.getByText('failed', { exact: true }).waitFor();
  await view.getByRole('region', { name: 'Input' }).getByText('6*').waitFor();
  await view.getByText('Error', { exact: true }).waitFor();
  assert.match(await runsOn(view).innerText(), /Server/);
  await view.getByRole('button', { name: 'Copy as JSON' }).click();
  await view.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  assert.ok(JSON.stringify(copied).includes('builtin_calculate'));
});

/** Where the view of a call says that it ran. */
const runsOn = (view) =>
  view
    .locator('dt')
    .getByText('Runs on', { exact: true })
    .locator('xpath=following-sibling::dd[1]');

/** A call by an MCP client of the newest protocol version, where each request stands alone. */
async function callOverMcp(tenon, key, name, input) {
  const version = '2026-07-28';
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'Inspector', version: '2.1' },
  };
  const called = await fetch(`${tenon.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: input, _meta: meta },
    }),
  });
  assert.equal(called.status, 200);
  await called.text();
}

test(
  'calls of programs are shown with all there is, but to their maker alone',
  deadline,
  async (t) => {
    const tenon = await Tenon.start(withAccounts);
    t.after(() => tenon.stop());
    const admin = await setUp(tenon);
    const keyOf = async (cookie) =>
      (await (await post(tenon, '/api/keys', { name: 'CI' }, cookie)).json()).key;
    const key = await keyOf(admin);
    const bob = { name: 'Bob', email: 'bob@example.com', password: 'correct horse' };
    await added(tenon, admin, bob);
    const tool = 'builtin_calculate';
    const path = `/api/tools/${tool}/call`;
    const over = (expression, key) =>
      post(tenon, path, { arguments: { expression } }, { authorization: `Bearer ${key}` });
    assert.equal((await over('6*7', key)).status, 200);
    await callOverMcp(tenon, key, tool, { expression: '6*8' });
    assert.equal((await over('6*9', await keyOf(await logIn(tenon, bob)))).status, 200);

    const { page, context, complaints } = await openPage(
      suite.browser,
      `${tenon.url}/#/settings/log`,
      { as: admin },
    );
    t.after(() => context.close());
    const entries = page.getByRole('listitem').filter({ hasText: 'Math/Calculate' });
    const opened = async (door, who) => {
      const entry = entries.filter({ hasText: door }).filter({ hasText: who });
      await entry.getByRole('button', { name: 'Details' }).click();
      const view = entry.getByRole('group', { name: 'Trace of this call' });
      await view.getByText(who, { exact: true }).waitFor();
      await view.getByText('done', { exact: true }).waitFor();
      assert.match(await runsOn(view).innerText(), /Server/);
      return view;
    };
    const rest = await opened(/· API key ·/, 'Ann');
    await rest.getByText('API key', { exact: true }).waitFor();
    await rest.getByRole('region', { name: 'Input' }).getByText('6*7').waitFor();
    await rest.getByRole('region', { name: 'Output' }).getByText('42').waitFor();
    const mcp = await opened(/· MCP ·/, 'Ann');
    await mcp.getByText('MCP client · Inspector 2.1').waitFor();
    await mcp.getByRole('region', { name: 'Input' }).getByText('6*8').waitFor();
    await mcp.getByRole('region', { name: 'Output' }).getByText('48').waitFor();
    // What others called a tool with is theirs.
    const others = await opened(/· API key ·/, 'Bob');
    await others.getByText('Only whoever made this call can read').waitFor();
    assert.equal(await others.getByRole('region').count(), 0);
    assert.deepEqual(await findingsInBothSchemes(page, 'log'), []);
    assert.deepEqual(complaints, []);
  },
);
