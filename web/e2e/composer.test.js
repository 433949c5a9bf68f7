// Writing a message: what waits in a queue, what an `@` does, and how much the model is given.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findings } from './axe.js';
import { fixture } from './fixture.js';
import { eventually } from './screen.js';
import { startScriptedModel } from './scriptedModel.js';

const suite = fixture();
const deadline = { timeout: 90_000 };
let provider;

after(() => provider?.stop());

/** A visit, with a model that answers. */
async function visit(t, options) {
  provider ??= await startScriptedModel(suite);
  return suite.visit(t, options);
}

const asked = () => provider.asked.filter(({ tools }) => tools);
const lastText = () => JSON.stringify(asked().at(-1)?.messages.at(-1).content ?? '');

function queueOf(page) {
  const queue = page.getByRole('region', { name: 'Queued' });
  return { queue, messages: queue.locator('[data-queued]') };
}

/** A chat whose turn runs until the test says so. */
async function busyChat(t) {
  const visited = await visit(t);
  provider.stallsAt = 'Wait for me';
  t.after(() => (provider.stallsAt = undefined));
  await visited.ui.ask('Wait for me');
  await visited.ui.stopButton.waitFor();
  await eventually('it is asked', () => /Wait for me/.test(lastText()));
  return visited;
}

/** The model is asked again with what it did not answer, and answers this time. */
async function endTurn(ui) {
  provider.stallsAt = undefined;
  await ui.stopButton.click();
}

test(
  'messages written while a turn runs are queued, edited, removed and sent in order',
  deadline,
  async (t) => {
    const { page, ui } = await busyChat(t);
    const { queue, messages } = queueOf(page);
    for (const text of ['one', 'two', 'three']) {
      await ui.ask(text);
      await queue.getByText(text, { exact: true }).waitFor();
    }
    assert.equal(await ui.field.inputValue(), '');
    await messages.nth(1).getByRole('button', { name: 'Remove queued message' }).click();
    await messages.nth(0).getByRole('button', { name: 'Edit queued message' }).click();
    await ui.editor.fill('uno');
    await ui.editor.press('Enter');
    await queue.getByText('uno').waitFor();
    // A reload loses nothing.
    await page.reload();
    await messages.nth(1).waitFor();
    assert.equal(await messages.count(), 2);
    await endTurn(ui);
    await queue.waitFor({ state: 'detached' });
    await ui.answered(3);
    const said = await ui.questions.locator('p').allInnerTexts();
    assert.deepEqual(said, ['Wait for me', 'uno', 'three']);
  },
);

test('two tabs send a queued message once', deadline, async (t) => {
  const { page, ui, context } = await busyChat(t);
  await ui.ask('only once, please');
  await queueOf(page).messages.first().waitFor();
  const other = await context.newPage();
  await other.goto(page.url());
  await queueOf(other).messages.first().waitFor();
  await endTurn(ui);
  await ui.answered(2);
  await queueOf(other).queue.waitFor({ state: 'detached' });
  assert.equal(await page.locator('article').count(), 2);
  assert.equal(await other.locator('article').count(), 2);
});

test('after an answer that failed the queue waits', deadline, async (t) => {
  const { page, ui } = await busyChat(t);
  await ui.ask('next');
  const { queue } = queueOf(page);
  await queue.waitFor();
  // The model's server goes away in the middle of the answer.
  provider.refusal = { status: 400, message: 'Out of order.' };
  t.after(() => (provider.refusal = undefined));
  provider.hangUp();
  await queue.getByText('The answer failed').waitFor();
  provider.refusal = undefined;
  provider.stallsAt = undefined;
  await queue.getByRole('button', { name: 'Send now' }).click();
  await queue.waitFor({ state: 'detached' });
  await ui.answered(2);
});

test('an @ names one tool for one message, and an expert for the chat', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.field.pressSequentially('What time is it? @current');
  const menu = page.getByRole('listbox', { name: 'Tools and experts' });
  await menu
    .getByRole('option', { name: /current time/i })
    .first()
    .waitFor();
  assert.deepEqual(await findings(page, 'the menu behind @'), []);
  await ui.field.press('Enter');
  await menu.waitFor({ state: 'detached' });
  assert.equal(await ui.field.inputValue(), 'What time is it? ');
  await page.getByText(/^Only .*current time/i).waitFor();
  // It is part of the draft.
  await page.reload();
  await page.getByText(/^Only .*current time/i).waitFor();
  await ui.sendButton.click();
  await ui.answered();
  assert.deepEqual(
    asked()
      .at(-1)
      .tools.map((tool) => tool.function.name),
    ['builtin_current_time'],
  );
  await ui.ask('And now?');
  await ui.answered(2);
  assert.ok(asked().at(-1).tools.length > 1);

  await ui.field.pressSequentially('@files');
  await menu.getByRole('option', { name: /^Files & data/ }).click();
  await page.getByRole('button', { name: 'Expert: Files & data' }).waitFor();
  assert.equal(await ui.field.inputValue(), '');
  // Esc closes it, and an address is no mention.
  await ui.field.pressSequentially('@fi');
  await menu.waitFor();
  await ui.field.press('Escape');
  await menu.waitFor({ state: 'detached' });
  await ui.field.fill('ann@example');
  assert.equal(await menu.count(), 0);
});

test(
  'the size of what will be sent is shown, and warned of where it is too much',
  deadline,
  async (t) => {
    const { page, ui } = await visit(t);
    const model = await suite.tell('POST', '/models', {
      provider: 'openai',
      baseUrl: `${provider.url}/v1`,
      key: provider.key,
      model: 'fake-large',
      name: 'Small memory',
      toolMode: 'native',
      contextTokens: 8000,
    });
    await page.evaluate((model) => localStorage.setItem('tenon.model.new', JSON.stringify(model)), {
      id: model.id,
      name: model.name,
    });
    await page.reload();
    const meter = page.locator('.meter');
    await meter.getByText(/^≈ [\d.]+K? tokens/).waitFor();
    assert.match(await meter.getAttribute('title'), /this message 0 tokens/);
    await ui.field.fill('word '.repeat(8000));
    await meter.getByText('more than the 8,000 that this model can read').waitFor();
    await ui.field.fill('word');
    await eventually('it fits again', async () => !(await meter.innerText()).includes('can read'));
  },
);
