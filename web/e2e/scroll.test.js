// The end is followed only by a reader who is there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { eventually } from './screen.js';

const { visit } = fixture();
const deadline = { timeout: 60_000 };

const fromEnd = (page) =>
  page
    .getByRole('region', { name: 'Conversation' })
    .evaluate((view) => view.scrollHeight - view.scrollTop - view.clientHeight);

test('the view keeps to the end, unless the reader has left it', deadline, async (t) => {
  const { page, ui } = await visit(t, { viewport: { width: 1280, height: 420 } });
  for (let turn = 1; turn <= 3; turn += 1) {
    await ui.ask('What time is it in Tokyo?');
    await ui.answered(turn);
  }
  await eventually('the end is in view', async () => (await fromEnd(page)) < 2);
  assert.equal(await ui.jump.count(), 0);

  await page.getByRole('region', { name: 'Conversation' }).hover();
  await page.mouse.wheel(0, -5000);
  await ui.jump.waitFor();

  await ui.jump.click();
  await eventually('the end is in view again', async () => (await fromEnd(page)) < 2);
  await ui.jump.waitFor({ state: 'detached' });
});

test('opening a card does not move it', deadline, async (t) => {
  const { page, ui } = await visit(t, { viewport: { width: 1280, height: 420 } });
  for (let turn = 1; turn <= 2; turn += 1) {
    await ui.ask('What time is it in Tokyo?');
    await ui.answered(turn);
  }
  await eventually('the end is in view', async () => (await fromEnd(page)) < 2);
  const opener = ui.cards.last().getByRole('button').first();
  const before = await opener.boundingBox();
  await opener.click();
  await ui.cards.last().getByRole('region', { name: 'Output' }).first().waitFor();
  assert.deepEqual(await opener.boundingBox(), before);
});

test('a new question is followed, whatever was opened before', deadline, async (t) => {
  // High enough that an open card moves nothing, and too low for another question.
  const { page, ui } = await visit(t, { viewport: { width: 1280, height: 620 } });
  await ui.ask('What time is it in Tokyo?');
  await ui.answered(1);
  await ui.cards.first().getByRole('button').first().click();
  await ui.cards.first().getByRole('region', { name: 'Output' }).first().waitFor();
  assert.equal(await fromEnd(page), 0);
  await ui.ask('What time is it in Tokyo?');
  await ui.answered(2);
  await eventually('the end is in view', async () => (await fromEnd(page)) < 2);
  assert.equal(await ui.jump.count(), 0);
});

test('a small step up is enough to be left in peace', deadline, async (t) => {
  const { page, ui } = await visit(t, { viewport: { width: 1280, height: 420 } });
  // Only the wire is forged: an answer that grows when the test says so.
  let grow;
  await page.routeWebSocket('**/api/ws', (socket) => {
    socket.onMessage((message) => {
      const { type, chatId } = JSON.parse(message);
      if (type !== 'subscribe') return;
      const answer = growingAnswer(chatId);
      const say = () => socket.send(JSON.stringify(answer.next().value));
      for (let frame = 0; frame < 3; frame += 1) say();
      grow = say;
    });
  });
  await page.goto(`${new URL(page.url()).origin}/#/c/forged`);
  await page.reload();
  const view = page.getByRole('region', { name: 'Conversation' });
  const measure = () =>
    view.evaluate(({ scrollTop, scrollHeight }) => ({ scrollTop, scrollHeight }));
  const growBy = async (lines) => {
    const { scrollHeight } = await measure();
    for (let line = 0; line < lines; line += 1) grow();
    await eventually('it grew', async () => (await measure()).scrollHeight >= scrollHeight + lines);
  };
  await ui.questions.first().waitFor();
  await growBy(40);
  await eventually('the end is followed', async () => (await fromEnd(page)) < 2);

  await view.hover();
  await page.mouse.wheel(0, -20);
  await ui.jump.waitFor();
  const { scrollTop } = await measure();
  await growBy(1);
  await growBy(20);
  assert.equal((await measure()).scrollTop, scrollTop);

  await ui.jump.click();
  await growBy(5);
  await eventually('the end is followed again', async () => (await fromEnd(page)) < 2);
});

/** The frames of an answer: three to begin with, then one line after the other. */
function* growingAnswer(chatId) {
  const message = (id, role, parts) => ({ id, chatId, turnId: 't1', role, parts, createdAt: 0 });
  const event = (seq, body) => ({ type: 'event', chatId, seq, at: Date.now(), body });
  const question = message('m0', 'user', [{ type: 'text', text: 'Count' }]);
  yield event(1, { type: 'turnStarted', turnId: 't1', message: question });
  yield event(2, { type: 'messageStarted', message: message('m1', 'assistant', []) });
  yield { type: 'caughtUp', chatId, seq: 2 };
  for (let line = 1, offset = 0; ; line += 1) {
    const text = `line ${line}\n\n`;
    yield { type: 'delta', chatId, messageId: 'm1', part: 0, offset, kind: { kind: 'text' }, text };
    offset += text.length;
  }
}
