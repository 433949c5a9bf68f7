// A tool that asks a person while it runs.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fixture } from './fixture.js';
import { addServer, startScriptedModel } from './scriptedModel.js';
import { everything } from './peers.js';
import { eventually } from './screen.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
let provider;

after(() => provider?.stop());

/** A model that does what it is told, and a server that asks. For all tests of this file. */
async function furnish() {
  if (provider) return;
  provider = await startScriptedModel(suite);
  const server = { kind: 'mcp', name: 'all', command: everything, args: ['stdio'] };
  // It offers the first once it knows that somebody can be asked.
  const tools = ['trigger-elicitation-request', 'trigger-long-running-operation'];
  await addServer(suite, server, ...tools.map((name) => `mcp_all_${name}`));
}

const formOf = (page) => page.getByRole('form', { name: /asks you$/ });

async function asked(t) {
  await furnish();
  const visit = await suite.visit(t);
  await visit.ui.ask('Call trigger-elicitation-request');
  await formOf(visit.page).waitFor();
  return visit;
}

test('a form is filled in, and the tool goes on with it', deadline, async (t) => {
  const { page, ui } = await asked(t);
  await page
    .getByRole('navigation')
    .getByText('Waiting for your answer')
    .waitFor({ state: 'attached' });
  assert.match(await page.title(), /^\(1\) /);
  const form = formOf(page);
  // What has to be filled in is asked for before anything is sent.
  await form.getByRole('button', { name: 'Submit' }).click();
  const wrong = form.locator('[aria-invalid=true]').first();
  assert.ok(await wrong.evaluate((field) => field === document.activeElement));
  await wrong.fill('Ann');
  await form.getByRole('button', { name: 'Submit' }).click();
  await ui.answered();
  await ui.cards.first().getByText('You answered').waitFor();
  assert.equal(await ui.cards.first().getAttribute('data-status'), 'done');
  await ui.cards.first().getByRole('button').first().click();
  await ui.cards.first().getByText(/Ann/).first().waitFor();
  await page.reload();
  await ui.cards.first().getByText('You answered').waitFor();
});

test('how far a call is can be seen', deadline, async (t) => {
  await furnish();
  const { page, ui } = await suite.visit(t);
  await ui.ask('Call trigger-long-running-operation {"duration": 3, "steps": 3}');
  const bar = ui.cards.first().getByRole('progressbar', { name: 'Progress' });
  await bar.and(page.locator('[aria-valuenow="67"]')).waitFor();
  await ui.answered();
  assert.equal(await bar.count(), 0);
});

test('a form is declined by the keyboard, and the focus stays', deadline, async (t) => {
  const { page, ui } = await asked(t);
  await formOf(page).getByRole('button', { name: 'Decline' }).focus();
  await page.keyboard.press('Enter');
  await ui.answered();
  await ui.cards.first().getByText('You declined to answer').waitFor();
  assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), 'BODY');
});

test('what was filled in is there after a look elsewhere', deadline, async (t) => {
  const { page, ui } = await asked(t);
  const field = formOf(page).getByRole('textbox').first();
  await field.fill('Half a na');
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await ui.rows.first().getByRole('link').click();
  await field.waitFor();
  assert.equal(await field.inputValue(), 'Half a na');
  await formOf(page).getByRole('button', { name: 'Cancel' }).click();
  await ui.answered();
  await ui.cards.first().getByText('Closed without an answer').waitFor();
});
