// The statistics for admins.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findingsInBothSchemes } from './axe.js';
import { openPage, phone } from './browser.js';
import { fixture } from './fixture.js';
import { added, logIn, post, setUp } from './people.js';
import { eventually } from './screen.js';
import { startScriptedModel } from './scriptedModel.js';
import { Tenon, withAccounts } from './tenon.js';

const suite = fixture();
const deadline = { timeout: 60_000 };
let provider;
after(() => provider?.stop());

async function open(t, options) {
  const visit = await suite.visit(t, options);
  await visit.page.goto(`${suite.tenon.url}/#/settings/dashboard`);
  const board = visit.page.getByRole('group', { name: 'Dashboard' });
  await board.waitFor();
  return { ...visit, board };
}

const inOneLine = async (locator) => (await locator.innerText()).replace(/\s+/g, ' ').trim();

test('where nothing was called it says so', deadline, async (t) => {
  const { board } = await open(t);
  await board.getByText('No calls and no answers in this period.').waitFor();
});

test('calls, errors, tokens and costs are counted and shown', deadline, async (t) => {
  provider = await startScriptedModel(suite);
  const call = (expression) =>
    suite.tell('POST', '/tools/builtin_calculate/call', { arguments: { expression } });
  await call('6*7');
  await call('6*');
  const chatting = await suite.visit(t);
  await chatting.ui.ask('Hello');
  await chatting.ui.answered();

  const { page, board } = await open(t);
  const tile = (name) => board.locator('.tiles div').filter({ hasText: name });
  await tile('Tool calls').getByText('2', { exact: true }).waitFor();
  await tile('Errors').getByText('50%').waitFor();
  await tile('Tokens').getByText('1.2K in · 30 out').waitFor();

  const tools = board.getByRole('table', { name: 'By tool' });
  const row = tools.getByRole('row', { name: /Math\/Calculate/ });
  assert.match(await inOneLine(row), /Math\/Calculate 2 1 /);
  await board.getByRole('table', { name: 'By source' }).getByText('Math').waitFor();
  await board.getByRole('table', { name: 'By model' }).getByText('fake-small').waitFor();
  // Without accounts nobody has a name.
  const person = board.getByRole('table', { name: 'By person' }).getByRole('row').nth(1);
  assert.match(await inOneLine(person), /^This computer, or a deleted person 1\.2K 1 –$/);
  assert.equal(await board.getByRole('img', { name: /^Cost over time/ }).count(), 0);

  // A picture has words, and its figures are there as a table.
  const chart = board.getByRole('img', { name: /Tool calls over time.*Succeeded: 1.*Errors: 1/ });
  await chart.waitFor();
  const latency = board.locator('figure').filter({ hasText: 'Duration of tool calls over time' });
  await latency.getByRole('img', { name: /p95: (< )?\d/ }).waitFor();
  // Where nothing was called nothing took any time, not even none.
  await latency.getByRole('button', { name: 'Show as a table' }).click();
  assert.match(await inOneLine(latency.getByRole('row').nth(1)), /–$/);
  assert.match(await inOneLine(latency.getByRole('row').last()), /\d+ m?s$/);
  const figure = board.locator('figure').first();
  await figure.getByRole('button', { name: 'Show as a table' }).click();
  assert.equal(await figure.getByRole('row').count(), 29);
  await board.getByText('24 hours').click();
  await page.waitForFunction(
    () => document.querySelector('figure')?.querySelectorAll('tbody tr').length === 24,
  );
  assert.deepEqual(await findingsInBothSchemes(page, 'dashboard'), []);
});

test('what it costs is drawn over time, each currency for itself', deadline, async (t) => {
  const [{ id }] = (await suite.tell('GET', '/models')).filter(({ isDefault }) => isDefault);
  const { ui } = await suite.visit(t);
  // 1,200 tokens in, 800 of them from the cache, and 30 out.
  for (const [count, prices] of [
    { currency: 'USD', input: 1, output: 10, cacheRead: 1 },
    { currency: 'CNY', input: 10, output: 100, cacheRead: 10 },
  ].entries()) {
    await suite.tell('PATCH', `/models/${id}`, { prices });
    await ui.ask('Hello');
    await ui.answered(count + 1);
  }
  const { page, board } = await open(t);
  await board.getByRole('img', { name: 'Cost over time in USD. Cost: $0.0015' }).waitFor();
  await board.getByRole('img', { name: 'Cost over time in CNY. Cost: 0.015 CNY' }).waitFor();
  const figure = board.locator('figure').filter({ hasText: 'Cost over time in USD' });
  // The axis ends at the next round amount.
  await figure.getByText('$0.002', { exact: true }).waitFor();
  await figure.getByRole('button', { name: 'Show as a table' }).click();
  const last = figure.getByRole('row').last();
  assert.match(await inOneLine(last), /\$0\.0015$/);
  assert.match(await inOneLine(figure.getByRole('row').nth(1)), /\$0\.00$/);
  const tile = board.locator('.tiles div').filter({ hasText: 'Cost' });
  assert.match(await inOneLine(tile), /0\.015 CNY · \$0\.0015|\$0\.0015 · 0\.015 CNY/);
  assert.deepEqual(await findingsInBothSchemes(page, 'costs'), []);
});

test('on a phone nothing reaches beyond the edge', deadline, async (t) => {
  const { page, board } = await open(t, { viewport: phone });
  await board.locator('svg').first().waitFor();
  const overflow = await page.evaluate(() => {
    const body = document.querySelector('[role=region][aria-label=Dashboard]');
    return body.scrollWidth - body.clientWidth;
  });
  assert.ok(overflow <= 0, `${overflow} px beyond the edge`);
});

test('it is for admins alone', deadline, async (t) => {
  const tenon = await Tenon.start(withAccounts);
  t.after(() => tenon.stop());
  const admin = await setUp(tenon);
  const bob = { name: 'Bob', email: 'bob@example.com', password: 'correct horse' };
  await added(tenon, admin, bob);
  const his = await logIn(tenon, bob);
  const asked = (headers) => fetch(`${tenon.url}/api/stats?range=7d`, { headers });
  assert.equal((await asked(his)).status, 403);
  assert.equal((await asked(admin)).status, 200);

  // What each person used is told by their names.
  const { id } = await (await post(tenon, '/api/chats', {}, his)).json();
  await post(tenon, `/api/chats/${id}/turns`, { text: 'What time is it in Tokyo?' }, his);
  await eventually('it is answered', async () => {
    const { usage } = await (await asked(admin)).json();
    return usage.answers === 1;
  });
  const { page, context, complaints } = await openPage(
    suite.browser,
    `${tenon.url}/#/settings/dashboard`,
    { as: admin },
  );
  t.after(() => context.close());
  const people = page.getByRole('table', { name: 'By person' });
  await people.getByRole('rowheader', { name: 'Bob' }).waitFor();
  assert.equal(await people.getByRole('rowheader').count(), 1);
  assert.deepEqual(complaints, []);
});
