// The end is followed only by a reader who is there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { house } from './house.js';
import { eventually } from './screen.js';

const { visit } = house();
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
