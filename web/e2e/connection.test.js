// The network goes, the server dies: nothing is lost and nothing is doubled.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';

const suite = fixture();
const deadline = { timeout: 60_000 };

test('a dropped socket comes back with everything, once', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  // The socket is the page's only one; the test cuts it as a bad network would.
  const sockets = [];
  await page.routeWebSocket('**/api/ws', (socket) => {
    sockets.push(socket);
    socket.connectToServer();
  });
  await page.reload();
  await ui.ask('sleep for 30 seconds');
  await page.locator('.card[data-status=running]').waitFor();
  const before = sockets.length;
  await sockets.at(-1).close({ code: 1012, reason: 'cut by the test' });
  // What happens while the page is cut off must reach it all the same.
  await suite.tenon.cancelTurns();
  await ui.answered();
  assert.ok(sockets.length > before, 'the page reconnected');
  assert.equal(await ui.cards.count(), 1);
  assert.equal(await ui.cards.first().getAttribute('data-status'), 'cancelled');

  const seen = await ui.conversation();
  await page.reload();
  await ui.cards.first().waitFor();
  assert.equal(await ui.conversation(), seen);
});

test('a page whose server is away says so, and comes back by itself', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  let away = true;
  await page.route('**/api/**', (route) => (away ? route.abort() : route.continue()));
  await page.routeWebSocket('**/api/ws', (socket) =>
    away ? socket.close() : socket.connectToServer(),
  );
  await page.reload();
  await page.getByText('Tenon does not answer.').waitFor();
  away = false;
  await page.getByText('Built-in assistant').first().waitFor();
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
});

test('a message that cannot be sent is not lost', deadline, async (t) => {
  const { context, page, ui } = await suite.visit(t);
  await ui.field.fill('What time is it in Tokyo?');
  await context.setOffline(true);
  await ui.field.press('Enter');
  await page.getByText(/^Not sent/).waitFor();
  assert.equal(await ui.field.inputValue(), 'What time is it in Tokyo?');
  await context.setOffline(false);
  await ui.field.press('Enter');
  await ui.answered();
  assert.match(await ui.answers.last().innerText(), /Tokyo/);
  assert.equal(await ui.questions.count(), 1);
});

test(
  'a server killed in the middle of a turn: the page waits, then says what happened',
  deadline,
  async (t) => {
    const { page, ui } = await suite.visit(t);
    await ui.ask('sleep for 30 seconds');
    await page.locator('.card[data-status=running]').waitFor();
    await suite.tenon.kill();
    await page.getByText('Reconnecting…').waitFor();
    await suite.tenon.restart();
    await page.getByText('Tenon was restarted during this answer.').waitFor();
    await page.getByText('Reconnecting…').waitFor({ state: 'detached' });
    assert.equal(await ui.cards.first().getAttribute('data-status'), 'lost');
    assert.equal(await ui.questions.count(), 1);

    await page.getByRole('button', { name: 'Continue' }).click();
    await ui.answered(2);
    assert.equal(await ui.questions.last().locator('p').innerText(), 'Continue.');
  },
);
