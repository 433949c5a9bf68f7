// Asking, watching tools work, stopping, coming back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { startScriptedModel } from './scriptedModel.js';

const suite = fixture();
const { visit } = suite;
const deadline = { timeout: 60_000 };

test(
  'a question about the time shows its card, then the answer, and survives a reload',
  deadline,
  async (t) => {
    const { page, ui } = await visit(t);
    await ui.ask('What time is it in Tokyo?');
    const card = ui.cards.first();
    await card.waitFor();
    await ui.answered();
    assert.equal(await card.getAttribute('data-status'), 'done');
    assert.match(await ui.answers.last().innerText(), /Tokyo/);

    const opener = card.getByRole('button').first();
    assert.equal(await opener.getAttribute('aria-expanded'), 'false');
    assert.match(await opener.getAttribute('title'), /^builtin_/);
    assert.match(await opener.innerText(), /Server/);
    await opener.press('Enter');
    assert.equal(await opener.getAttribute('aria-expanded'), 'true');
    assert.match(await card.getByRole('region', { name: 'Input' }).innerText(), /Tokyo/);
    assert.notEqual(await card.getByRole('region', { name: 'Output' }).first().innerText(), '');
    await opener.press('Enter');

    const before = await ui.conversation();
    await page.reload();
    await card.waitFor();
    assert.equal(await ui.conversation(), before);
  },
);

test('Chinese is understood and shown', deadline, async (t) => {
  const { ui } = await visit(t);
  await ui.ask('东京现在几点？');
  await ui.answered();
  assert.equal(await ui.cards.first().getAttribute('data-status'), 'done');
  assert.equal(await ui.questions.first().locator('p').innerText(), '东京现在几点？');
  assert.match(await ui.answers.last().innerText(), /\d/);
});

test('a running turn can be stopped, and the next message works', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('sleep for 30 seconds');
  const card = ui.cards.first();
  await page.locator('.card[data-status=running]').waitFor();
  await ui.stopButton.click();
  await page.locator('.card[data-status=cancelled]').waitFor();
  await page.getByText('Stopped', { exact: true }).waitFor();

  await ui.ask('What time is it in Tokyo?');
  await ui.answered(2);
  assert.match(await ui.answers.last().innerText(), /Tokyo/);
  assert.equal(await card.getAttribute('data-status'), 'cancelled');
});

test('an answer that was stopped goes on where it was', deadline, async (t) => {
  const provider = await startScriptedModel(suite);
  const models = await suite.tell('GET', '/models');
  const { id } = models.find(({ isDefault }) => isDefault);
  t.after(async () => {
    await suite.tell('DELETE', `/models/${id}`);
    provider.stop();
  });
  // Longer than the test waits for anything: it ends only because it is stopped.
  const rest = Array.from({ length: 1000 }, (_, n) => `And ${n}.`);
  provider.says = ['The first half.', ...rest].join(' ');
  provider.pace = { pieceChars: 16, atOnce: 1, pauseMs: 50 };
  const { page, ui } = await visit(t);
  await ui.ask('Tell me.');
  await page.getByText('The first half.').waitFor();
  await ui.stopButton.click();
  await ui.answered();
  const notice = page.getByText('Stopped', { exact: true });
  await notice.waitFor();

  provider.says = 'The second half.';
  await page.getByRole('button', { name: 'Continue' }).click();
  await ui.answers.last().getByText('The second half.').waitFor();
  await ui.answered(2);
  assert.equal(await ui.questions.last().locator('p').innerText(), 'Continue.');
  // The model was shown how far it had come.
  const { messages } = provider.asked.findLast(({ tools }) => tools);
  const [asked, stopped, goOn] = messages.slice(-3);
  assert.deepEqual(
    [asked.role, stopped.role, goOn.role],
    ['user', 'assistant', 'user'],
    JSON.stringify(messages.slice(-3)),
  );
  assert.match(JSON.stringify(stopped.content), /The first half\./);
  assert.equal(await page.getByRole('button', { name: 'Continue' }).count(), 0);
});

test('a reload in the middle of a turn comes back to it', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('sleep for 30 seconds');
  await page.locator('.card[data-status=running]').waitFor();
  await page.reload();
  await page.locator('.card[data-status=running]').waitFor();
  await ui.stopButton.click();
  await ui.answered();
  assert.equal(await ui.cards.count(), 1);
  assert.equal(await ui.cards.first().getAttribute('data-status'), 'cancelled');
  assert.equal(await ui.questions.count(), 1);
});

test('a suggestion is sent at once', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await page.getByRole('button', { name: '计算 (17+4)*23' }).click();
  await ui.answered();
  assert.match(await ui.answers.last().innerText(), /483/);
});

test('a chat that does not exist says so and leads on', deadline, async (t) => {
  const { page } = await visit(t);
  await page.goto(`${new URL(page.url()).origin}/#/c/no-such-chat`);
  await page.getByText('This chat does not exist.').waitFor();
  await page.getByRole('link', { name: 'Start a new chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
});
