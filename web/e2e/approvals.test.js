// A tool that asks before it runs.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { fixture } from './fixture.js';

const suite = fixture();
const deadline = { timeout: 60_000 };
const toolId = 'builtin_current_time';

const policy = (policy) =>
  suite.tell('PATCH', '/tools', { layer: 'user', tools: [{ toolId, policy }] });

afterEach(async () => {
  await policy(null);
  await suite.tenon.cancelTurns();
});

const question = (page) => page.locator('.card[data-status=asking]');
const button = (page, name) => question(page).getByRole('button', { name, exact: true });

async function asked(t, options) {
  await policy('ask');
  const visit = await suite.visit(t, options);
  await visit.ui.ask('What time is it in Tokyo?');
  await question(visit.page).waitFor();
  return visit;
}

test('a call waits for its answer, and runs once it is allowed', deadline, async (t) => {
  const { page, ui } = await asked(t);
  assert.match(await question(page).innerText(), /wants to run/);
  assert.match(await question(page).innerText(), /Server/);
  assert.match(await question(page).getByRole('region', { name: 'Input' }).innerText(), /Tokyo/);
  await page
    .getByRole('status')
    .getByText('is waiting for your answer')
    .waitFor({ state: 'attached' });
  await page
    .getByRole('navigation')
    .getByText('Waiting for your answer')
    .waitFor({ state: 'attached' });
  assert.match(await page.title(), /^\(1\) /);

  await button(page, 'Allow once').click();
  await ui.answered();
  const card = ui.cards.first();
  assert.equal(await card.getAttribute('data-status'), 'done');
  assert.match(await card.innerText(), /Allowed by you/);
  assert.doesNotMatch(await page.title(), /^\(1\)/);
  await page.reload();
  await card.getByText('Allowed by you').first().waitFor();

  // Once is once.
  await ui.ask('What time is it in Lima?');
  await question(page).waitFor();
});

test('it is answered by keyboard, button after button', deadline, async (t) => {
  const { page, ui } = await asked(t);
  await button(page, 'Allow once').focus();
  for (const name of ['For this chat', 'Always', 'Deny']) {
    await page.keyboard.press('Tab');
    assert.ok(await button(page, name).evaluate((it) => it === document.activeElement), name);
  }
  await page.keyboard.press('Enter');
  await ui.answered();
  assert.equal(await ui.cards.first().getAttribute('data-status'), 'refused');
  assert.match(await ui.cards.first().innerText(), /Refused/);
  await ui.cards.first().getByRole('button').first().click();
  await page.getByText('You refused this call.').waitFor();
  assert.doesNotMatch(await ui.cards.first().innerText(), /Error/);
  assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), 'BODY');
});

test('what is allowed for the chat is not asked again in it', deadline, async (t) => {
  const { page, ui } = await asked(t);
  await button(page, 'For this chat').click();
  await ui.answered();
  await ui.ask('What time is it in Lima?');
  await ui.answered(2);
  assert.equal(await ui.cards.last().getAttribute('data-status'), 'done');
  await page.getByRole('link', { name: 'New chat' }).click();
  await ui.ask('What time is it in Oslo?');
  await question(page).waitFor();
});

test('what is always allowed is not asked again anywhere', deadline, async (t) => {
  const { page, ui } = await asked(t);
  await button(page, 'Always').click();
  await ui.answered();
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await ui.ask('What time is it in Lima?');
  await ui.answered();
  assert.equal(await ui.cards.last().getAttribute('data-status'), 'done');
});

test('it can be answered from another tab', deadline, async (t) => {
  const { page, ui } = await asked(t);
  const other = await suite.visit(t);
  await other.page.goto(page.url());
  await question(other.page).waitFor();
  await button(other.page, 'Allow once').click();
  await ui.answered();
  await ui.cards.first().getByText('Allowed by you').first().waitFor();
  assert.equal(await question(page).count(), 0);
});

test('an answer that comes second is no error', deadline, async (t) => {
  const { page, ui } = await asked(t);
  await page.route('**/answer', async (route) => {
    // Somebody was faster.
    await suite.tenon.fetch(new URL(route.request().url()).pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ verdict: 'denied' }),
    });
    await route.continue();
  });
  await button(page, 'Allow once').click();
  await ui.answered();
  assert.match(await ui.cards.first().innerText(), /Refused/);
  assert.equal(await page.getByText(/did not arrive/).count(), 0);
});

test('a question survives a restart', deadline, async (t) => {
  const { page, ui } = await asked(t);
  await suite.tenon.restart();
  await page.reload();
  await question(page).waitFor();
  await button(page, 'Allow once').click();
  await ui.answered();
  assert.equal(await ui.cards.first().getAttribute('data-status'), 'done');
});

test('a chat that is not open is marked for as long as it asks', deadline, async (t) => {
  const { page } = await asked(t);
  const other = await suite.visit(t);
  await other.page.goto(page.url());
  const mark = page.getByRole('navigation').getByText('Waiting for your answer');
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await mark.waitFor({ state: 'attached' });
  assert.equal(await page.title(), '(1) Tenon');
  await button(other.page, 'Deny').click();
  await mark.waitFor({ state: 'detached' });
  assert.equal(await page.title(), 'Tenon');
});
