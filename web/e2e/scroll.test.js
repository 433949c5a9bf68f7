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
  let said = 0;
  const growBy = async (lines) => {
    for (let line = 0; line < lines; line += 1) grow();
    said += lines;
    // All of it: what is still to be drawn would be taken for what comes later.
    await view.getByText(`line ${said}`, { exact: true }).waitFor({ state: 'attached' });
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

test(
  'a long answer is followed to its end, and stands still for who reads above',
  deadline,
  async (t) => {
    const { page, ui } = await visit(t, { viewport: { width: 1280, height: 620 } });
    let say;
    await page.routeWebSocket('**/api/ws', (socket) => {
      socket.onMessage((message) => {
        const { type, chatId } = JSON.parse(message);
        if (type !== 'subscribe') return;
        const answer = growingAnswer(chatId, richPart);
        say = (count) => {
          for (let n = 0; n < count; n += 1) socket.send(JSON.stringify(answer.next().value));
        };
        say(3);
      });
    });
    await page.goto(`${new URL(page.url()).origin}/#/c/forged`);
    await page.reload();
    const view = page.getByRole('region', { name: 'Conversation' });
    await ui.questions.first().waitFor();
    say(40);
    await view.getByText('The end of 40.').waitFor();
    await eventually('the end is followed', async () => (await fromEnd(page)) < 2);
    // All of it can be selected and copied, also what is far away and not laid out.
    await ui.answers.last().evaluate((answer) => getSelection().selectAllChildren(answer));
    const selected = () => page.evaluate(() => getSelection().toString());
    for (const part of [1, 20, 40]) {
      await eventually(`part ${part}`, async () =>
        (await selected()).includes(`The end of ${part}.`),
      );
    }
    await page.evaluate(() => getSelection().empty());

    // Parts that come into view are as high as they were: going up and down again ends where it
    // began.
    const height = await view.evaluate((view) => view.scrollHeight);
    await view.evaluate((view) => (view.scrollTop = view.scrollHeight / 2));
    await ui.jump.waitFor();
    const place = () =>
      view.evaluate((view) => {
        const top = view.getBoundingClientRect().top;
        const seen = [...view.querySelectorAll('h2')].find(
          (one) => one.getBoundingClientRect().top > top + 50,
        );
        return [seen.textContent, Math.round(seen.getBoundingClientRect().top)];
      });
    const before = await place();
    say(10);
    await eventually('it grew', async () =>
      (await ui.answers.last().evaluate((e) => e.textContent)).includes('The end of 50.'),
    );
    assert.deepEqual(await place(), before);
    await ui.jump.click();
    await eventually('the end is followed again', async () => (await fromEnd(page)) < 2);
    await view.getByText('The end of 50.').waitFor();
    assert.ok((await view.evaluate((view) => view.scrollHeight)) > height);
  },
);

function richPart(n) {
  const code = Array.from({ length: 8 }, (_, line) => `const value${line} = ${n};`).join('\n');
  return `## Part ${n}\n\nSome **bold** words.\n\n\`\`\`js\n${code}\n\`\`\`\n\n| a | b |\n|---|--:|\n| x | ${n} |\n\nThe end of ${n}.\n\n`;
}

test('a scroll event that comes after its column is gone does no harm', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  const view = await page.getByRole('region', { name: 'Conversation' }).elementHandle();
  await page.evaluate(() => (location.hash = '#/compare/builtin/builtin'));
  await page.getByText('Both get every message.').waitFor();
  await view.evaluate((view) => view.dispatchEvent(new Event('scroll')));
});

/** The frames of an answer: three to begin with, then one line or part after the other. */
function* growingAnswer(chatId, textOf = (line) => `line ${line}\n\n`) {
  const message = (id, role, parts) => ({ id, chatId, turnId: 't1', role, parts, createdAt: 0 });
  const event = (seq, body) => ({ type: 'event', chatId, seq, at: Date.now(), body });
  const question = message('m0', 'user', [{ type: 'text', text: 'Count' }]);
  yield event(1, { type: 'turnStarted', turnId: 't1', message: question });
  yield event(2, { type: 'messageStarted', message: message('m1', 'assistant', []) });
  yield { type: 'caughtUp', chatId, seq: 2 };
  for (let line = 1, offset = 0; ; line += 1) {
    const text = textOf(line);
    yield { type: 'delta', chatId, messageId: 'm1', part: 0, offset, kind: { kind: 'text' }, text };
    offset += text.length;
  }
}
