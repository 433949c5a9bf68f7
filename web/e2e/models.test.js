// Connecting models, choosing between them, and what an answer took.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findings } from './axe.js';
import { openPage, phone } from './browser.js';
import { fixture } from './fixture.js';
import { Provider } from './provider.js';
import { eventually, screen } from './screen.js';
import { Tenon } from './tenon.js';

const provider = await Provider.start();
after(() => provider.stop());
const suite = fixture();
const deadline = { timeout: 60_000 };

/** What a person finds about models, by the names they see. */
function modelsOn(page) {
  return {
    opener: page.getByRole('button', { name: /^Model: / }),
    list: page.getByRole('listbox', { name: 'Models' }),
    option: (name) => page.getByRole('listbox', { name: 'Models' }).getByRole('option', { name }),
    panel: page.getByRole('region', { name: 'Models' }),
    form: page.getByRole('group', { name: 'Connect a model' }),
    row: (name) =>
      page.getByRole('region', { name: 'Models' }).getByRole('listitem').filter({ hasText: name }),
    facts: page.locator('.facts', { hasText: 'Usage of this answer' }),
    notice: (text) => page.locator('.missing', { hasText: text }),
    /** Whether the focus is there. */
    hasFocus: (locator) => locator.evaluate((element) => element === document.activeElement),

    async pick(name) {
      await this.opener.click();
      await this.option(name).click();
    },

    async manage() {
      await this.opener.click();
      await this.option('Manage models…').click();
      await this.panel.waitFor();
    },
  };
}

async function call(method, path, body) {
  const response = await suite.tenon.fetch(path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return response.status === 204 ? undefined : response.json();
}

/** A model that is there before the page is, and gone after the test. */
async function added(t, model, change = {}) {
  const { id } = await call('POST', '/api/models', {
    provider: 'openai',
    baseUrl: `${provider.url}/v1`,
    key: provider.key,
    model,
    ...change,
  });
  t.after(() => suite.tenon.fetch(`/api/models/${id}`, { method: 'DELETE' }));
  return id;
}

test('a model is found, connected, tried, talked to and deleted', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const models = modelsOn(page);
  await page.getByText('Built-in assistant: no language model is connected.').waitFor();
  await page.getByRole('button', { name: 'Connect a model', exact: true }).click();

  const { form } = models;
  await form.getByLabel('Provider', { exact: true }).selectOption('Other');
  await form.getByLabel('Address', { exact: true }).fill(provider.url);
  await form.getByLabel('Key', { exact: true }).fill('sk-wrong');
  await form.getByRole('button', { name: 'List models' }).click();
  await form.getByRole('alert').waitFor();
  assert.match(await form.getByRole('alert').innerText(), /key/i);

  await form.getByLabel('Key', { exact: true }).fill(provider.key);
  await form.getByRole('button', { name: 'List models' }).click();
  await form.getByRole('radio', { name: 'fake-small' }).check();
  // The address is as it should be saved.
  assert.equal(
    await form.getByLabel('Address', { exact: true }).inputValue(),
    `${provider.url}/v1`,
  );
  assert.equal(await form.getByLabel('Model', { exact: true }).inputValue(), 'fake-small');
  await form.getByLabel('Name', { exact: true }).fill('Small one');
  await form.getByRole('button', { name: 'More' }).click();
  await form.getByLabel('Parameters', { exact: true }).fill('{temperature: 0}');
  await form.getByLabel('Currency', { exact: true }).fill('USD');
  await form.getByLabel('Input', { exact: true }).fill('1');
  await form.getByLabel('Output', { exact: true }).fill('10');
  await form.getByLabel('Cache read', { exact: true }).fill('0.1');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('This is not a JSON object').waitFor();
  await form.getByLabel('Parameters', { exact: true }).fill('{"stream": false}');
  await form.getByText('Tenon sets messages, model, stream and tools itself.').waitFor();
  await form.getByLabel('Parameters', { exact: true }).fill('{"temperature": 0}');
  // There is nothing better yet, so it is to be the default.
  const asDefault = form.getByRole('switch', { name: 'Use as default' });
  assert.equal(await asDefault.getAttribute('aria-checked'), 'true');
  await form.getByRole('button', { name: 'Save' }).click();

  const row = models.row('Small one');
  await row.getByText('Hello from fake-small.').waitFor();
  await row.getByText(/Calls tools · First token after/).waitFor();
  await row.getByText('default').waitFor();
  await page.keyboard.press('Escape');
  // Whoever connected a model writes to it.
  assert.ok(await models.hasFocus(ui.field));

  await page.getByText('Small one answers in this chat.').waitFor();
  await ui.ask('Hello');
  await ui.answered();
  assert.match(await ui.answers.last().innerText(), /Hello from fake-small\./);
  const asked = provider.asked.at(-1);
  assert.deepEqual([asked.model, asked.temperature], ['fake-small', 0]);
  // 400 tokens at 1, 800 at 0.1 and 30 at 10, all per million.
  const facts = /Small one\s*· 1,200 in \(800 cached\) · 30 out · \$0\.00078/;
  assert.match(await models.facts.innerText(), facts);
  await page.reload();
  await models.facts.waitFor();
  assert.match(await models.facts.innerText(), facts);

  await models.manage();
  await row.getByRole('button', { name: /^Options/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await row.getByText('Delete “Small one” and its key?').waitFor();
  // Esc answers the question, and leaves the panel open.
  await page.keyboard.press('Escape');
  await row.getByRole('group', { name: 'Delete' }).waitFor({ state: 'detached' });
  assert.ok(await models.hasFocus(row.getByRole('button', { name: /^Options/ })));
  await row.getByRole('button', { name: /^Options/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await row.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  assert.ok(await models.hasFocus(models.panel.getByRole('heading', { name: 'Models' })));
  await page.keyboard.press('Escape');
  // Whoever deleted it knows. Whoever comes later is told who answers instead.
  await page.getByRole('button', { name: 'Model: Built-in assistant' }).waitFor();
  assert.equal(await models.notice('Small one').count(), 0);
  await page.reload();
  await models.notice('“Small one” is not available; messages go to Built-in assistant.').waitFor();
  await ui.ask('What time is it in Tokyo?');
  await ui.answered(2);
  assert.match(await ui.answers.last().innerText(), /Tokyo/);
  await models.notice('Small one').waitFor({ state: 'detached' });
});

test('a model is chosen for a chat by keyboard, and stays chosen', deadline, async (t) => {
  const small = await added(t, 'fake-small', { name: 'Alpha' });
  await added(t, 'fake-large', { name: 'Beta' });
  const { page, ui } = await suite.visit(t);
  const models = modelsOn(page);
  await models.opener.press('Enter');
  await models.option('Alpha').waitFor();
  assert.equal(
    await models.option('Built-in assistant').getAttribute('aria-selected'),
    'true',
    'the default is marked',
  );
  await page.keyboard.press('b');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await models.list.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Model: Alpha' }).waitFor();
  assert.ok(await models.hasFocus(ui.field), 'who has picked a model writes to it');

  const [request] = await Promise.all([
    page.waitForRequest((request) => request.url().endsWith('/turns')),
    ui.ask('Hello'),
  ]);
  assert.equal(request.postDataJSON().modelId, small);
  await ui.answered();
  await page.reload();
  await page.getByRole('button', { name: 'Model: Alpha' }).waitFor();

  // Another chat begins with the default, and says nothing of a model.
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('button', { name: 'Model: Built-in assistant' }).waitFor();
  const [other] = await Promise.all([
    page.waitForRequest((request) => request.url().endsWith('/turns')),
    ui.ask('What time is it in Tokyo?'),
  ]);
  assert.equal(other.postDataJSON().modelId, undefined);
});

test('Esc closes the list and leaves the choice alone', deadline, async (t) => {
  await added(t, 'fake-small');
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  await models.opener.press('Enter');
  await models.option('fake-small').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await models.list.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Model: Built-in assistant' }).waitFor();
  assert.ok(await models.opener.evaluate((button) => button === document.activeElement));
});

test('many models are filtered', deadline, async (t) => {
  for (let number = 1; number <= 9; number += 1)
    await added(t, 'fake-small', { name: `M${number}` });
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  await models.opener.press('Enter');
  await page.getByRole('combobox', { name: 'Filter models' }).fill('m7');
  await eventually('one is left', async () => (await models.option(/^M\d/).count()) === 1);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Model: M7' }).waitFor();
});

test('a model is edited, and its key stays where it is', deadline, async (t) => {
  const id = await added(t, 'fake-small', { name: 'Alpha' });
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  await models.manage();
  const edit = async (name) => {
    await models
      .row(name)
      .getByRole('button', { name: /^Options/ })
      .click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    return page.getByRole('group', { name: `Edit “${name}”` });
  };
  let form = await edit('Alpha');
  assert.equal(await form.getByLabel('Key', { exact: true }).inputValue(), '');
  await form.getByLabel('Name', { exact: true }).fill('Omega');
  const [request] = await Promise.all([
    page.waitForRequest((request) => request.method() === 'PATCH'),
    form.getByRole('button', { name: 'Save' }).click(),
  ]);
  assert.deepEqual(request.postDataJSON(), { name: 'Omega' });
  await models.row('Omega').waitFor();

  form = await edit('Omega');
  await form.getByRole('button', { name: 'Remove the stored key' }).click();
  await form.getByRole('button', { name: 'Save' }).click();
  // Tried again by itself, now without a key.
  await models.row('Omega').locator('.model-test.failed').waitFor();
  const { hasKey } = await call('GET', `/api/models/${id}`);
  assert.equal(hasKey, false);
});

test('a model that calls no tool in its test keeps its tools', deadline, async (t) => {
  const id = await added(t, 'fake-small', { name: 'Alpha' });
  provider.callsNoTools = true;
  t.after(() => (provider.callsNoTools = false));
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  await models.manage();
  const row = models.row('Alpha');
  await row.getByRole('button', { name: 'Test Alpha' }).click();
  const result = row.locator('.model-test.passed');
  await result.getByText('Called no tool in the test; tools are still offered').waitFor();
  // A question mark, which is in a circle, and no tick.
  assert.equal(await result.locator('svg').count(), 1);
  assert.equal(await result.locator('svg circle').count(), 1);
  assert.equal((await call('GET', `/api/models/${id}`)).toolMode, 'auto');
  const withTools = (await call('POST', '/api/context', { modelId: id })).toolTokens;
  assert.ok(withTools > 0, `${withTools} tokens of tools`);

  // Without tools it is asked only where somebody says so.
  await result.getByRole('button', { name: 'Do not offer it tools' }).click();
  await row.getByText('Tools: No tools').waitFor();
  assert.equal((await call('GET', `/api/models/${id}`)).toolMode, 'none');
  assert.equal(await result.getByRole('button', { name: 'Do not offer it tools' }).count(), 0);
});

test('a test that takes too long is stopped', deadline, async (t) => {
  await added(t, 'fake-slow');
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  await models.manage();
  const row = models.row('fake-slow');
  await row.getByRole('button', { name: 'Test fake-slow' }).click();
  await row.getByText('Hello').waitFor();
  await row.getByRole('button', { name: 'Stop' }).click();
  await row.getByText('The test was stopped.').waitFor();
  await row.getByRole('button', { name: 'Test fake-slow' }).waitFor();
});

test('an evaluation shows its progress, a table and what it recommends', deadline, async (t) => {
  const id = await added(t, 'fake-small', { name: 'Alpha' });
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  await models.manage();
  const row = models.row('Alpha');
  await row.getByRole('button', { name: 'Test Alpha' }).click();
  provider.stallsAt = 'Convert 250';
  t.after(() => (provider.stallsAt = undefined));
  // What a test found out leads to the evaluation.
  await row.getByRole('button', { name: 'Evaluate' }).click();
  await row.getByText('Native: 1 of 90 prompts').waitFor();
  await row.getByRole('progressbar', { name: 'Evaluate' }).waitFor();
  assert.equal(await row.getByRole('button', { name: 'Evaluate' }).count(), 0, 'one at a time');

  // Stopped, what was measured stays.
  await row.getByRole('button', { name: 'Stop' }).click();
  await row.getByText('The evaluation was stopped. This is what was measured.').waitFor();
  const score = (kind) => row.getByRole('row', { name: kind }).getByRole('cell').first();
  assert.match(await score('Choice').innerText(), /^1\/1/);
  assert.equal(await row.getByRole('button', { name: 'Use this' }).count(), 0);

  // The menu has it too. This model can tell the weather in Oslo, and talk.
  provider.stallsAt = undefined;
  await row.getByRole('button', { name: /^Options/ }).click();
  await page.getByRole('menuitem', { name: 'Evaluate' }).click();
  await row.getByText('Evaluated.').waitFor();
  assert.match(await score('Choice').innerText(), /^1\/5/);
  assert.match(await score('Plain talk').innerText(), /^3\/5/);
  assert.equal(await row.getByRole('columnheader').count(), 3);
  await row.getByText('Recommended: Native').waitFor();
  await row.getByRole('button', { name: 'Use this' }).click();
  await row.getByText('In use').waitFor();
  const { toolMode } = await call('GET', `/api/models/${id}`);
  assert.equal(toolMode, 'native');
});

test('an evaluation fits on a phone, in light and dark', deadline, async (t) => {
  await added(t, 'fake-small', { name: 'Alpha' });
  for (const colorScheme of ['light', 'dark']) {
    const size = { viewport: phone, colorScheme };
    const { page } = await suite.visit(t, size);
    const models = modelsOn(page);
    await models.manage();
    const row = models.row('Alpha');
    await row.getByRole('button', { name: /^Options/ }).click();
    await page.getByRole('menuitem', { name: 'Evaluate' }).click();
    await row.getByText('Evaluated.').waitFor();
    const overflow = await row.evaluate((row) => row.scrollWidth - row.clientWidth);
    assert.equal(overflow, 0, 'nothing sticks out');
    assert.deepEqual(await findings(page, `an evaluation, ${colorScheme}`), []);
  }
});

test('a turn that a model fails can be given to another one', deadline, async (t) => {
  await added(t, 'fake-small', { name: 'Alpha' });
  const { page, ui } = await suite.visit(t);
  const models = modelsOn(page);
  await models.pick('Alpha');
  provider.refusal = { status: 402, message: 'There is no credit left.' };
  t.after(() => (provider.refusal = undefined));
  await ui.ask('What time is it in Tokyo?');
  await page.getByRole('button', { name: 'Retry' }).waitFor();
  // Who failed is named.
  await page.locator('.facts', { hasText: 'Alpha' }).waitFor();
  await page.getByRole('button', { name: 'Edit model' }).click();
  await page.getByRole('group', { name: 'Edit “Alpha”' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Choose another model' }).click();
  await models.option('Built-in assistant').click();
  assert.ok(await models.hasFocus(page.getByRole('button', { name: 'Retry' })));
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('group', { name: 'Answer 2 of 2' }).waitFor();
  await ui.answered();
  assert.match(await ui.answers.last().innerText(), /Tokyo/);
});

test('a form that is closed keeps what was filled in', deadline, async (t) => {
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  const { form } = models;
  const connect = () => page.getByRole('button', { name: 'Connect a model', exact: true }).click();
  const model = form.getByLabel('Model', { exact: true });
  const kept = form.getByText('This is what you entered before.');
  await connect();
  await model.fill('gpt-x');
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  await connect();
  await kept.waitFor();
  assert.equal(await model.inputValue(), 'gpt-x');
  await page.mouse.click(10, 400);
  await form.waitFor({ state: 'detached' });
  await connect();
  assert.equal(await model.inputValue(), 'gpt-x');
  await form.getByRole('button', { name: 'Start over' }).click();
  assert.equal(await model.inputValue(), '');
  await model.fill('gpt-y');
  await form.getByRole('button', { name: 'Cancel' }).click();
  await models.panel.getByRole('button', { name: 'Connect a model' }).click();
  await form.waitFor();
  assert.equal(await model.inputValue(), '');
  assert.equal(await kept.count(), 0);
});

test('a whole endpoint is connected at once, and nothing twice', deadline, async (t) => {
  await added(t, 'fake-small', { name: 'There already' });
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  await page.goto(`${suite.tenon.url}/#/settings/models/new`);
  const { form } = models;
  await form.getByLabel('Provider', { exact: true }).selectOption('Other');
  await form.getByLabel('Address', { exact: true }).fill(provider.url);
  await form.getByLabel('Key', { exact: true }).fill(provider.key);
  await form.getByRole('button', { name: 'List models' }).click();
  await form.getByRole('radio').first().waitFor();
  const offered = await form.getByRole('radio').count();
  await form.getByRole('checkbox', { name: `Connect all ${offered} models` }).check();
  assert.equal(await form.getByLabel('Model', { exact: true }).count(), 0);
  await form.getByRole('switch', { name: 'Use the first one as default' }).click();
  await form.getByRole('button', { name: `Connect ${offered} models` }).click();
  await models.row('fake-large').waitFor();
  t.after(async () => {
    for (const { id, origin } of await call('GET', '/api/models')) {
      if (origin === 'added') await suite.tenon.fetch(`/api/models/${id}`, { method: 'DELETE' });
    }
  });
  const connected = (await call('GET', '/api/models')).filter(({ origin }) => origin === 'added');
  assert.equal(connected.length, offered);
  assert.equal(connected.filter(({ model }) => model === 'fake-small').length, 1);
  assert.ok(connected.every(({ hasKey }) => hasKey));
});

test('a look ends when its address or key is changed', deadline, async (t) => {
  const { page } = await suite.visit(t);
  const { form } = modelsOn(page);
  const look = form.getByRole('button', { name: 'List models' });
  const address = form.getByLabel('Address', { exact: true });
  const key = form.getByLabel('Key', { exact: true });
  let answer = () => {};
  await page.route('**/api/models/discover', async (route) => {
    if (route.request().postDataJSON().key === 'sk-slow') {
      await new Promise((resolve) => (answer = resolve));
    }
    await route.continue();
  });
  await page.getByRole('button', { name: 'Connect a model', exact: true }).click();
  await form.getByLabel('Provider', { exact: true }).selectOption('Other');
  await address.fill(provider.url);
  await key.fill('sk-slow');
  // There is no model to save yet, so Enter looks.
  await key.press('Enter');
  await form.getByRole('button', { name: 'Looking…' }).waitFor();
  await key.fill('sk-wrong');
  await look.waitFor();
  answer();
  await look.click();
  await form.getByRole('alert').waitFor();
  await key.fill(provider.key);
  await form.getByRole('alert').waitFor({ state: 'detached' });
  await key.press('Enter');
  await form.getByRole('radio', { name: 'fake-small' }).waitFor();
  // The list stays when only the key changes, and the key goes when the server does.
  await key.fill('sk-other');
  await form.getByRole('radio', { name: 'fake-small' }).waitFor();
  await form.getByLabel('Provider', { exact: true }).selectOption('OpenAI');
  await form.getByRole('radio', { name: 'fake-small' }).waitFor({ state: 'detached' });
  assert.equal(await key.inputValue(), '');
});

test('a list that cannot be had says so, and is tried again', deadline, async (t) => {
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  await models.opener.waitFor();
  await page.route('**/api/models', (route) => route.abort());
  await page.reload();
  await models.opener.click();
  const retry = page.getByRole('button', { name: 'Retry' });
  await retry.waitFor();
  assert.equal(await page.locator('[role=option].active').count(), 0, 'nothing is preselected');
  await page.unroute('**/api/models');
  await retry.click();
  await models.option('Built-in assistant').waitFor();
  assert.equal(await retry.count(), 0);
  await models.option('Manage models…').click();
  await models.panel.waitFor();
  await page.route('**/api/models', (route) => route.abort());
  await page.keyboard.press('Escape');
  await models.manage();
  await models.panel.getByRole('button', { name: 'Retry' }).waitFor();
  await models.row('Built-in assistant').waitFor();
  await page.unroute('**/api/models');
  await models.panel.getByRole('button', { name: 'Retry' }).click();
  await retry.waitFor({ state: 'detached' });
});

test('a test that fails leads to the form', deadline, async (t) => {
  await added(t, 'fake-small', { name: 'Alpha', key: 'sk-wrong' });
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  await models.manage();
  await models.row('Alpha').getByRole('button', { name: 'Test Alpha' }).click();
  await models.row('Alpha').getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('group', { name: 'Edit “Alpha”' });
  const key = form.getByLabel('Key', { exact: true });
  assert.match(await key.getAttribute('placeholder'), /keep the stored one/);
  await form.getByLabel('Address', { exact: true }).fill('https://example.com/v1');
  assert.match(await key.getAttribute('placeholder'), /Enter it again/);
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('The stored key is for another address.').waitFor();
  assert.ok(await models.hasFocus(key));
});

test('a model that was added is offered in place of the built-in one', deadline, async (t) => {
  await added(t, 'fake-small', { name: 'Alpha' });
  const { page, ui } = await suite.visit(t);
  const models = modelsOn(page);
  await page.getByText('Built-in assistant: it answers until you choose').waitFor();
  await page.getByRole('button', { name: 'Alpha', exact: true }).waitFor();
  // Making the default leaves the focus on its row.
  await models.manage();
  const menu = models.row('Alpha').getByRole('button', { name: /^Options/ });
  await menu.press('Enter');
  await page.getByRole('menuitem', { name: 'Make default' }).press('Enter');
  await models.row('Alpha').getByText('default').waitFor();
  await eventually('the focus stays', () => models.hasFocus(menu));
  await page.keyboard.press('Escape');
  await ui.ask('Hello');
  await ui.answered();
  assert.match(await ui.answers.last().innerText(), /Hello from fake-small\./);
});

test('the palette leads to models', deadline, async (t) => {
  const { page } = await suite.visit(t);
  const models = modelsOn(page);
  const run = async (text) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };
  await run('choose a model');
  await models.option('Built-in assistant').waitFor();
  await page.keyboard.press('Escape');
  await run('manage models');
  await models.panel.waitFor();
  await page.keyboard.press('Escape');
  await run('connect a model');
  await models.form.waitFor();
});

test('what runs on this computer is one click away', deadline, async (t) => {
  // Servers on one's own machine ask for no key.
  const own = await Provider.start();
  own.key = '';
  const tenon = await Tenon.start({ TENON_LOCAL_MODELS: own.url });
  t.after(async () => {
    await tenon.stop();
    own.stop();
  });
  const { page, context, complaints } = await openPage(suite.browser, tenon.url, { as: tenon });
  t.after(() => context.close());
  const ui = screen(page);
  await page.getByText('Found on this computer:').waitFor();
  await page.getByRole('button', { name: 'fake-large', exact: true }).click();
  await page.getByText('fake-large answers in this chat.').waitFor();
  await ui.ask('Hello');
  await ui.answered();
  assert.match(await ui.answers.last().innerText(), /Hello from fake-large\./);
  // The default, for every chat to come.
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('button', { name: 'Model: fake-large' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('what was said on this computer does not leave it unasked', deadline, async (t) => {
  const own = await Provider.start();
  own.key = '';
  const tenon = await Tenon.start({ TENON_LOCAL_MODELS: own.url });
  t.after(async () => {
    await tenon.stop();
    own.stop();
  });
  const { page, context } = await openPage(suite.browser, tenon.url, { as: tenon });
  t.after(() => context.close());
  const ui = screen(page);
  const models = modelsOn(page);
  await models.pick('fake-small');
  await ui.ask('Hello');
  await ui.answered();
  // Its server stops, and another one, elsewhere, is the default by now.
  const elsewhere = { provider: 'openai', baseUrl: 'https://example.invalid/v1', model: 'gpt-x' };
  await page.route('**/api/models', async (route) => {
    const response = await route.fetch();
    const [builtin] = await response.json();
    const other = { ...builtin, ...elsewhere, id: 'x', name: 'gpt-x', origin: 'added' };
    await route.fulfill({
      json: [
        { ...builtin, isDefault: false },
        { ...other, isDefault: true },
      ],
    });
  });
  await page.reload();
  await models.notice('Send messages to gpt-x, which runs elsewhere?').waitFor();
  const sent = [];
  page.on('request', (request) => request.url().endsWith('/turns') && sent.push(request));
  await ui.ask('A secret');
  await models.option('gpt-x').waitFor();
  assert.deepEqual([sent.length, await ui.field.inputValue()], [0, 'A secret']);
  await models.option('Built-in assistant').click();
  await models.notice('gpt-x').waitFor({ state: 'detached' });
  assert.ok(await models.hasFocus(ui.field));
  await page.keyboard.press('Enter');
  await ui.answered(2);
  assert.equal(sent[0].postDataJSON().modelId, 'builtin');
});
