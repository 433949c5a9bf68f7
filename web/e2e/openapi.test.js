// OpenAPI servers: looked at, added, called, read again.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { phone } from './browser.js';
import { fixture } from './fixture.js';
import { startScriptedModel } from './scriptedModel.js';
import { memory, startFastapi, startMcpo, time } from './peers.js';
import { eventually } from './screen.js';
import { serversOf } from './servers.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
let app;
let model;

before(async () => {
  app = await startFastapi();
});
after(async () => {
  model?.stop();
  await app?.stop();
});
afterEach(async () => {
  for (const { id } of await suite.tell('GET', '/sources'))
    await suite.tell('DELETE', `/sources/${id}`);
});

async function open(t, options) {
  const visit = await suite.visit(t, options);
  const servers = serversOf(visit.page);
  await servers.open();
  return { ...visit, servers, form: servers.form };
}

const button = (place, name) => place.getByRole('button', { name, exact: true });
const seenIn = (form) => form.getByRole('group', { name: 'What was found' });
const focused = (place) => place.and(place.page().locator(':focus')).waitFor();
const call = (tool, input = {}) => suite.tell('POST', `/tools/${tool}/call`, { arguments: input });

/** A small document about the app. */
const documentOf = (paths) => ({
  openapi: '3.1.0',
  info: { title: 'Small Shop', version: '7' },
  servers: [{ url: app.url }],
  paths,
});
const asks = (operationId, more = {}) => ({
  get: {
    operationId,
    description: `What **${operationId}** does.\n\nAt length.`,
    parameters: [{ name: 'text', in: 'query', schema: { type: 'string' } }],
    ...more,
  },
});

test('an app is looked at, added, called in a chat and read again', deadline, async (t) => {
  model ??= await startScriptedModel(suite);
  const { page, ui, servers, form } = await open(t);
  await servers.addOpenapi(app.url);
  await form.getByLabel('Address of the server').press('Enter');
  const seen = seenIn(form);
  await seen.getByText(/^1\.0 · \d+ tools$/).waitFor();
  await seen.getByText('Echo', { exact: true }).waitFor();
  const tools = seen.getByRole('list', { name: 'Tools found' });
  await tools.getByText('query_query_get').waitFor();
  assert.ok((await tools.getByRole('listitem').count()) > 15);
  assert.deepEqual(await suite.tell('GET', '/sources'), [], 'a look adds nothing');
  await focused(form.getByLabel('Address of the server'));
  assert.equal(await form.getByLabel('Name', { exact: true }).inputValue(), 'echo');

  await button(form, 'Add').click();
  const row = servers.row('echo');
  await row
    .getByText(/^Ready · \d+ tools · OpenAPI · read-only tools run without asking$/)
    .waitFor({ timeout: 30_000 });

  await servers.choose('echo', 'Read again');
  await row.getByText('Nothing has changed.').waitFor();
  await button(row, 'About its document').click();
  const details = row.getByRole('group', { name: 'Document of echo' });
  await details.getByText('Echo 1.0').waitFor();
  await details.getByText(app.url).waitFor();
  await details.getByText('Last read').waitFor();
  // There is nothing to restart.
  await row.getByRole('button', { name: 'Options for echo' }).click();
  await page.getByRole('menuitem', { name: 'Read again' }).waitFor();
  assert.equal(await page.getByRole('menuitem', { name: 'Restart' }).count(), 0);
  await page.keyboard.press('Escape');

  await page.keyboard.press('Escape');
  await ui.ask('Call query_query_get {"text": "你好 & co", "many": ["a", "b"]}');
  await ui.answered();
  const card = ui.cards.first();
  assert.equal(await card.getAttribute('data-status'), 'done');
  await card.getByRole('button').first().click();
  await card
    .getByText(/你好 & co/)
    .first()
    .waitFor();
});

test('what it asks for is entered, works, and is kept', deadline, async (t) => {
  const { page, servers, form } = await open(t);
  await servers.addOpenapi(app.url);
  await button(form, 'Look').click();
  await form.getByLabel('Key for APIKeyHeader').fill('hush-hush');
  await form.getByLabel('Token for HTTPBearer').fill('my-token');
  await form.getByLabel('User for HTTPBasic').fill('ada');
  await form.getByLabel('Password for HTTPBasic').fill('lovelace');
  await form.getByLabel('Client id for Client').fill('tenon');
  // Half of it is of no use: that is said where it was typed.
  await button(form, 'Add').click();
  await form.getByText('Something is missing here.').first().waitFor();
  await focused(form.getByLabel('Client id for Client'));
  await form.getByLabel('Client secret for Client').fill('s3cret');
  await button(form, 'Add').click();
  const row = servers.row('echo');
  await row.getByText(/^Ready/).waitFor({ timeout: 30_000 });

  const answer = async (tool) => (await call(`api_echo_${tool}`)).structured;
  assert.deepEqual(await answer('key_in_header_secure_header_get'), { key: 'hush-hush' });
  assert.equal((await answer('bearer_secure_bearer_get')).token, 'my-token');
  assert.deepEqual(await answer('basic_secure_basic_get'), { user: 'ada', password: 'lovelace' });
  assert.deepEqual(await answer('with_token_secure_client_get'), { given: 1 });

  await servers.choose('echo', 'Edit');
  await form.getByText('stored, not shown').first().waitFor();
  assert.equal(await form.getByText('stored, not shown').count(), 4);
  assert.doesNotMatch(await page.content(), /hush-hush|my-token|lovelace|s3cret/);
  await button(form, 'Replace: APIKeyHeader').click();
  const key = form.getByLabel('Key for APIKeyHeader');
  await focused(key);
  await page.keyboard.type('other');
  await button(form, 'Remove HTTPBearer').click();
  await form.getByText('will be removed').waitFor();
  await button(form, 'Save').click();
  await row.getByText(/^Ready/).waitFor({ timeout: 30_000 });
  assert.deepEqual(await answer('key_in_header_secure_header_get'), { key: 'other' });
  assert.equal((await call('api_echo_bearer_secure_bearer_get')).ok, false);
  const [{ reach }] = await suite.tell('GET', '/sources');
  assert.deepEqual(reach.credentials, {
    APIKeyHeader: 'key',
    Client: 'client',
    HTTPBasic: 'basic',
  });
});

test('a document is pasted or chosen, and a broken one shows where', deadline, async (t) => {
  const { servers, form } = await open(t);
  await servers.addOpenapi();
  await form.getByRole('radio', { name: 'I have it here' }).check();
  const text = form.getByRole('textbox', { name: 'OpenAPI document' });
  await button(form, 'Look').click();
  await form.getByText('Fill this in.').waitFor();
  await focused(text);

  for (const name of ['Look', 'Add']) {
    await text.fill('{\n  "openapi": "3.1.0",\n  "info" {}\n}');
    await form.getByLabel('Name', { exact: true }).fill('shop');
    await button(form, name).click();
    await form.getByText(/line 3, column \d+/).waitFor();
    await focused(text);
    assert.equal(await text.getAttribute('aria-invalid'), 'true', name);
  }

  const paths = {
    '/query': asks('ask'),
    '/header': asks('old', { deprecated: true, parameters: [{ $ref: 'other.yaml#/y' }] }),
    '/odd': asks('odd', { parameters: [{ $ref: 'other.yaml#/x', required: true }] }),
  };
  await form.getByLabel('Name', { exact: true }).fill('');
  await text.fill(JSON.stringify(documentOf(paths), null, 2));
  assert.equal(await form.getByLabel('Name', { exact: true }).inputValue(), 'small-shop');
  await button(form, 'Look').click();
  const seen = seenIn(form);
  await seen.getByText('7 · 2 tools').waitFor();
  await seen.getByText('deprecated, off by default').waitFor();
  await seen.getByText('read-only').first().waitFor();
  await seen.getByText('GET /odd').waitFor();
  await seen.getByText('GET /header has a parameter that is left out').waitFor();
  assert.equal(await seen.getByText('At length.').count(), 0);
  await button(form, 'Add').click();
  const row = servers.row('small-shop');
  await row.getByText(/^Ready · 2 tools/).waitFor({ timeout: 30_000 });
  assert.equal((await call('api_small-shop_ask', { text: 'a' })).structured.text, 'a');
  await button(row, 'About its document').click();
  await row.getByText('provided by hand').waitFor();
  await row.getByText('GET /odd').waitFor();
  await button(row, 'One thing to know').click();
  await row.getByText('GET /header has a parameter that is left out').waitFor();

  // Another one takes its place, from a file this time.
  await servers.choose('small-shop', 'Edit');
  await form.getByText('The stored document is kept').waitFor();
  assert.equal(await button(form, 'Look').count(), 0);
  const file = {
    name: 'shop.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(documentOf({ '/query': asks('ask') }))),
  };
  await form.locator('input[type=file]').setInputFiles(file);
  await form.getByText(/^shop\.json · /).waitFor();
  await button(form, 'Look').click();
  await seen.getByText('7 · 1 tool').waitFor();
  await button(form, 'Save').click();
  await row.getByText(/^Ready · 1 tool/).waitFor({ timeout: 30_000 });
});

test('what has changed is told when it is read again, and what failed', deadline, async (t) => {
  let paths = { '/query': asks('ask'), '/header': asks('old') };
  const host = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(documentOf(paths)));
  }).listen(0, '127.0.0.1');
  await once(host, 'listening');
  t.after(() => host.close());
  const { port } = host.address();
  const { servers, form } = await open(t);
  await servers.addOpenapi(`http://127.0.0.1:${port}/openapi.json`);
  await form.getByLabel('Name', { exact: true }).fill('shop');
  // Nobody has to look first.
  await button(form, 'Add').click();
  const row = servers.row('shop');
  await row.getByText(/^Ready · 2 tools/).waitFor({ timeout: 30_000 });

  paths = { '/query': asks('ask', { summary: 'Ask anew' }), '/cookie': asks('biscuit') };
  await servers.choose('shop', 'Read again');
  const news = row.getByRole('status');
  await news.getByText('1 added · 1 removed · 1 changed').waitFor();
  await button(news, 'Which ones').click();
  for (const name of ['biscuit', 'old', 'ask']) {
    await news.getByText(name, { exact: true }).waitFor();
  }
  await button(row, 'About its document').click();
  const details = row.getByRole('group', { name: 'Document of shop' });
  await details.getByText('1 added · 1 removed · 1 changed').waitFor();

  host.closeAllConnections();
  host.close();
  await servers.choose('shop', 'Read again');
  await row
    .getByRole('alert')
    .or(row.getByText('The listed tools are those last seen.'))
    .first()
    .waitFor();
  await eventually(
    'impaired',
    async () => (await suite.tell('GET', '/sources'))[0].state === 'degraded',
  );
  await row.getByText(/^Impaired · 2 tools/).waitFor();

  // It comes back by itself, and so does the row.
  host.listen(port, '127.0.0.1');
  await row.getByText(/^Ready · 2 tools/).waitFor({ timeout: 30_000 });
  assert.equal(await row.getByRole('alert').count(), 0);
});

test('an address that leads nowhere says so beside it', deadline, async (t) => {
  const { page, servers, form } = await open(t);
  await servers.addOpenapi('http://127.0.0.1:9');
  await button(form, 'Look').click();
  const address = form.getByLabel('Address of the server');
  await form
    .locator('.field', { has: page.getByLabel('Address of the server') })
    .locator('.problem')
    .waitFor();
  await focused(address);
  await address.fill(app.url);
  assert.equal(await form.locator('.problem').count(), 0);
  await button(form, 'Look').click();
  await seenIn(form).waitFor();
  // What was seen is not said of another address.
  await address.press('End');
  await address.pressSequentially('/x');
  await seenIn(form).waitFor({ state: 'detached' });
  await form.getByLabel('Base address').fill('nowhere');
  await button(form, 'Look').click();
  await form.getByText('An address begins with').waitFor();
  await focused(form.getByLabel('Base address'));
});

test('an mcpo is added with all that is behind it', deadline, async (t) => {
  const mcpo = await startMcpo(
    { clock: { command: time, args: ['--local-timezone=UTC'] }, notes: { command: memory } },
    'let-me-in',
  );
  t.after(() => mcpo.stop());
  const { servers, form } = await open(t);
  await servers.addOpenapi(mcpo.url);
  await button(form, 'Look').click();
  await seenIn(form)
    .getByText(/^2 servers behind it: (clock, notes|notes, clock)$/)
    .waitFor();
  assert.equal(await form.getByLabel('Name', { exact: true }).inputValue(), 'mcpo');
  await form.getByLabel('Token for HTTPBearer').fill('let-me-in');
  await button(form, 'Add').click();
  await servers
    .row('mcpo')
    .getByText(/^Ready · 11 tools/)
    .waitFor({ timeout: 30_000 });
  const tools = await suite.tell('GET', '/tools');
  const { toolId } = tools.find(({ toolId }) => toolId.includes('get_current_time'));
  assert.equal((await call(toolId, { timezone: 'Asia/Tokyo' })).ok, true);
});

test('all of it can be done by the keyboard, on a narrow page', deadline, async (t) => {
  const { page, servers, form } = await open(t, { viewport: phone, colorScheme: 'dark' });
  const fits = () =>
    page.evaluate(() => {
      const pane = document.querySelector('dialog[open]');
      // The parts of the settings scroll in a row of their own.
      const wide = [...pane.querySelectorAll('*:not(nav *)')].filter(
        (element) => element.getBoundingClientRect().right > innerWidth + 1,
      );
      return wide.map(({ outerHTML }) => outerHTML.slice(0, 120));
    });
  await servers.add.focus();
  await page.keyboard.press('Enter');
  await form.getByRole('radio', { name: 'A program' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('ArrowUp');
  await focused(form.getByRole('radio', { name: 'OpenAPI', exact: true }));
  await page.keyboard.press('Tab');
  await focused(form.getByRole('radio', { name: 'At an address' }));
  await page.keyboard.press('Tab');
  await page.keyboard.type(app.url);
  await page.keyboard.press('Enter');
  await seenIn(form).waitFor();
  assert.deepEqual(await fits(), []);
  await page.keyboard.press('Tab');
  await focused(button(form, 'Look'));
  await page.keyboard.press('Tab');
  await focused(form.getByRole('list', { name: 'Tools found' }));
  await page.keyboard.press('Tab');
  await focused(form.getByLabel('Token for HTTPBearer'));
  await page.keyboard.type('my-token');
  await page.keyboard.press('Enter');
  const row = servers.row('echo');
  await row.getByText(/^Ready/).waitFor({ timeout: 30_000 });
  await focused(row.getByRole('button', { name: 'Options for echo' }));
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Read again' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await row.getByText('Nothing has changed.').waitFor();
  await focused(row.getByRole('button', { name: 'Options for echo' }));
  assert.deepEqual(await fits(), []);
});
