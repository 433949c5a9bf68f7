// A message has an id from the page: whatever gets lost on the way, it is one turn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { eventually, screen } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };
const TURNS = '**/api/chats/*/turns';
const QUESTION = 'What time is it in Tokyo?';

/** What becomes of a request. `noResponse`: the server gets it, the page no response. */
const fate = {
  noResponse: (route) => route.fetch().then(() => route.abort()),
  lost: (route) => route.abort(),
  answered: (route) => route.continue(),
};

/** Lets these become of the requests, the last of them for ever. Returns the ids that were sent. */
async function deliver(page, fates) {
  const ids = [];
  await page.route(TURNS, (route) => {
    ids.push(route.request().postDataJSON().turnId);
    return fate[fates[Math.min(ids.length, fates.length) - 1]](route);
  });
  return ids;
}

/** A chat with one answer in it. */
async function begin(t) {
  const visit = await suite.visit(t);
  await visit.ui.ask('Hello');
  await visit.ui.answered();
  return visit;
}

/** The page stands with two questions, the server has two, and the field is empty. */
async function saidOnce(page, ui) {
  await ui.answered(2);
  await eventually('the field is empty', async () => (await ui.field.inputValue()) === '');
  assert.equal(await ui.questions.count(), 2);
  const chatId = new URL(page.url()).hash.split('/').at(-1);
  const messages = await suite.tell('GET', `/chats/${chatId}/messages`);
  const said = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  assert.deepEqual(said, ['Hello', QUESTION]);
}

for (const [what, fates] of [
  ['a lost response', ['noResponse', 'answered']],
  ['two lost responses', ['noResponse', 'noResponse']],
  ['a lost request', ['lost', 'answered']],
]) {
  test(`${what}: the message is there once`, deadline, async (t) => {
    const { page, ui } = await begin(t);
    const ids = await deliver(page, fates);
    await ui.ask(QUESTION);
    await saidOnce(page, ui);
    assert.deepEqual([ids.length, new Set(ids).size], [2, 1]);
  });
}

test('a message that never arrived is sent by hand as the same turn', deadline, async (t) => {
  const { page, ui } = await begin(t);
  const ids = await deliver(page, ['lost', 'lost', 'answered']);
  await ui.ask(QUESTION);
  await page.getByText(/^Not sent/).waitFor();
  assert.equal(await ui.field.inputValue(), QUESTION);
  await ui.field.press('Enter');
  await saidOnce(page, ui);
  assert.equal(new Set(ids).size, 1);
});

test('an edit that never arrived is sent by hand as the same turn', deadline, async (t) => {
  const { page, ui } = await begin(t);
  const ids = await deliver(page, ['lost', 'lost', 'answered']);
  await ui.field.press('ArrowUp');
  await ui.editor.fill(QUESTION);
  await ui.editor.press('Enter');
  await page.getByText(/^Not sent/).waitFor();
  assert.equal(await ui.editor.inputValue(), QUESTION);
  await ui.editor.press('Enter');
  await page.getByRole('group', { name: 'Edit 2 of 2' }).waitFor();
  await ui.answered();
  assert.deepEqual([ids.length, new Set(ids).size], [3, 1]);
});

test('a reload before the response: the message is there once', deadline, async (t) => {
  const { page, ui } = await begin(t);
  // Until the reload the page hears nothing, neither by a response nor by its socket.
  let deaf = false;
  await page.routeWebSocket('**/api/ws', (socket) => {
    const server = socket.connectToServer();
    server.onMessage((frame) => deaf || socket.send(frame));
  });
  await page.reload();
  await ui.answered();
  deaf = true;
  const arrived = new Promise((resolve) =>
    page.route(TURNS, (route) => route.fetch().then(resolve), { times: 1 }),
  );
  await ui.ask(QUESTION);
  await arrived;
  deaf = false;
  await page.reload();
  await saidOnce(page, ui);
});

test('two tabs with one message that did not arrive send it once', deadline, async (t) => {
  const { context, page, ui } = await begin(t);
  const ids = await deliver(page, ['lost', 'lost', 'answered']);
  await ui.ask(QUESTION);
  await page.getByText(/^Not sent/).waitFor();

  const second = await context.newPage();
  await second.goto(page.url());
  const other = screen(second);
  await eventually('it is there', async () => (await other.field.inputValue()) === QUESTION);
  // While the chat loads nothing can be sent.
  await eventually('it can be sent', () => other.sendButton.isEnabled());
  await other.field.press('Enter');
  await saidOnce(second, other);
  await saidOnce(page, ui);
  assert.equal(new Set(ids).size, 1);
});
