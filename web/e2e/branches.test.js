// Saying something else in the place of an earlier message: both are kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phone } from './browser.js';
import { fixture } from './fixture.js';
import { eventually } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };

const version = (page, index, count) =>
  page.getByRole('group', { name: `Edit ${index} of ${count}` });
const answerVersion = (page, index, count) =>
  page.getByRole('group', { name: `Answer ${index} of ${count}` });
const edit = (page) => page.getByRole('button', { name: 'Edit message' });

test(
  'an edited message begins a branch, and the old one can be read again',
  deadline,
  async (t) => {
    const { page, ui } = await suite.visit(t);
    await ui.ask('What time is it in Tokyo?');
    await ui.answered();
    await ui.ask('What time is it in Lima?');
    await ui.answered(2);
    await ui.questions.first().hover();
    await edit(page).first().click();
    await ui.editor.fill('What time is it in Oslo?');
    await ui.editor.press('Enter');
    await version(page, 2, 2).waitFor();
    await ui.answered();
    assert.equal(await ui.questions.count(), 1);
    assert.match(await ui.answers.last().innerText(), /Oslo/);

    const previous = page.getByRole('button', { name: 'Previous edit' });
    await previous.focus();
    await page.keyboard.press('Enter');
    await version(page, 1, 2).waitFor();
    await eventually('the old branch is whole', async () => (await ui.questions.count()) === 2);
    assert.match(await ui.answers.last().innerText(), /Lima/);
    assert.ok(
      await previous.evaluate((button) => button === document.activeElement),
      'the focus stays where it was',
    );

    await page.reload();
    await version(page, 1, 2).waitFor();
    assert.equal(await ui.questions.count(), 2);
    // What is said now goes on from what is shown.
    await ui.ask('What time is it in Cairo?');
    await ui.answered(3);
    await page.getByRole('button', { name: 'Next edit' }).click();
    await version(page, 2, 2).waitFor();
    await eventually('the other branch is short', async () => (await ui.questions.count()) === 1);
  },
);

test('an answer is given anew, and both are kept', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  await page.getByRole('button', { name: 'Answer again', exact: true }).click();
  await answerVersion(page, 2, 2).waitFor();
  await ui.answered();
  assert.equal(await ui.questions.count(), 1);
  assert.match(await ui.answers.last().innerText(), /Tokyo/);
  assert.equal(await ui.questions.first().locator('p').innerText(), 'What time is it in Tokyo?');

  // Edits have a counter of their own, and each question its own answers.
  assert.equal(await page.getByRole('group', { name: /^Edit/ }).count(), 0);
  await ui.field.press('ArrowUp');
  await ui.editor.fill('What time is it in Oslo?');
  await ui.editor.press('Enter');
  await version(page, 2, 2).waitFor();
  await ui.answered();
  assert.equal(await answerVersion(page, 1, 1).count(), 0);
  await page.getByRole('button', { name: 'Previous edit' }).click();
  await version(page, 1, 2).waitFor();
  await answerVersion(page, 2, 2).waitFor();
  const previous = page.getByRole('button', { name: 'Previous answer' });
  await previous.focus();
  await page.keyboard.press('Enter');
  await answerVersion(page, 1, 2).waitFor();
  await version(page, 1, 2).waitFor();
  assert.ok(await previous.evaluate((button) => button === document.activeElement));
});

test(
  'nothing is edited while a turn runs, and Esc leaves the editor, not the turn',
  deadline,
  async (t) => {
    const { page, ui } = await suite.visit(t);
    await ui.ask('What time is it in Tokyo?');
    await ui.answered();
    await edit(page).focus();
    await page.keyboard.press('Enter');
    await ui.editor.fill('something else');
    await ui.editor.press('Escape');
    await ui.editor.waitFor({ state: 'detached' });
    assert.equal(await ui.questions.first().locator('p').innerText(), 'What time is it in Tokyo?');

    await ui.ask('sleep for 30 seconds');
    await page.locator('.card[data-status=running]').waitFor();
    assert.equal(await edit(page).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Answer again' }).count(), 0);
    await ui.field.press('ArrowUp');
    assert.equal(await ui.editor.count(), 0);
    await ui.stopButton.click();
    await ui.answered(2);
  },
);

test('a message that could not be sent is still in its editor', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  await ui.field.press('ArrowUp');
  await page.route('**/turns', (route) => route.abort());
  await ui.editor.fill('What time is it in Oslo?');
  await ui.editor.press('Enter');
  await page.getByText(/^Not sent/).waitFor();
  assert.equal(await ui.editor.inputValue(), 'What time is it in Oslo?');
  assert.equal(await ui.answers.count(), 1);
});

test('another page follows the branch that was chosen', deadline, async (t) => {
  const here = await suite.visit(t);
  await here.ui.ask('What time is it in Tokyo?');
  await here.ui.answered();
  const there = await suite.visit(t);
  await there.page.goto(here.page.url());
  await there.ui.cards.first().waitFor();
  await here.ui.field.press('ArrowUp');
  await here.ui.editor.fill('What time is it in Oslo?');
  await here.ui.editor.press('Enter');
  await version(there.page, 2, 2).waitFor();
  await there.ui.answered();
  await there.page.getByRole('button', { name: 'Previous edit' }).click();
  await version(here.page, 1, 2).waitFor();
  assert.match(await here.ui.questions.first().innerText(), /Tokyo/);
});

test('fingers reach it all', deadline, async (t) => {
  const { page, ui } = await suite.visit(t, { viewport: phone, hasTouch: true, isMobile: true });
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  await edit(page).tap();
  await ui.editor.fill('What time is it in Oslo?');
  await page.getByRole('button', { name: 'Save and send' }).tap();
  await version(page, 2, 2).waitFor();
  await ui.answered();
  const box = await page.getByRole('button', { name: 'Previous edit' }).boundingBox();
  assert.ok(box.width >= 44 && box.height >= 44, JSON.stringify(box));
  await page.getByRole('button', { name: 'Previous edit' }).tap();
  await version(page, 1, 2).waitFor();
});
