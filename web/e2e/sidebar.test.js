// The list of chats.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { house } from './house.js';
import { eventually } from './screen.js';

const inn = house();
const deadline = { timeout: 60_000 };

async function chatIds() {
  const response = await fetch(`${inn.tenon.url}/api/chats`);
  return (await response.json()).map(({ id }) => id);
}

async function chooseFromMenu(page, row, name) {
  await row.hover();
  await row.getByRole('button').click();
  await page.getByRole('menuitem', { name }).click();
}

/** A chat of its own: its row in the list and its id. */
async function newChat(ui, page, text) {
  await ui.ask(text);
  await ui.answered();
  return {
    row: ui.rows.filter({ has: page.locator('[aria-current]') }),
    id: page.url().split('/').pop(),
  };
}

test('a deleted chat can be had back', deadline, async (t) => {
  const { page, ui } = await inn.visit(t);
  const { row, id } = await newChat(ui, page, 'What time is it in Tokyo?');
  const count = await ui.rows.count();
  await chooseFromMenu(page, row, 'Delete');
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await eventually('the row is gone', async () => (await ui.rows.count()) === count - 1);
  assert.ok((await chatIds()).includes(id), 'nothing is deleted while it can be undone');

  await page.getByRole('button', { name: 'Undo' }).click();
  await ui.cards.first().waitFor();
  assert.equal(await ui.rows.count(), count);
});

test('a deleted chat that nobody wants back is gone', deadline, async (t) => {
  const { page, ui } = await inn.visit(t);
  const { row, id } = await newChat(ui, page, 'What time is it in Tokyo?');
  await chooseFromMenu(page, row, 'Delete');
  await eventually('it is deleted', async () => !(await chatIds()).includes(id), 15_000);
  assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
});

test('leaving the page ends the time to undo', deadline, async (t) => {
  const { page, ui } = await inn.visit(t);
  const { row, id } = await newChat(ui, page, 'What time is it in Tokyo?');
  await chooseFromMenu(page, row, 'Delete');
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await page.goto('about:blank');
  await eventually('it is deleted', async () => !(await chatIds()).includes(id));
});

test('a deleted chat that someone goes back to stays', deadline, async (t) => {
  const { page, ui } = await inn.visit(t);
  const { row, id } = await newChat(ui, page, 'What time is it in Tokyo?');
  await chooseFromMenu(page, row, 'Delete');
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await page.goBack();
  await ui.cards.first().waitFor();
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
  await row.waitFor();
  // Leaving would end the time to undo.
  await page.reload();
  await ui.cards.first().waitFor();
  assert.ok((await chatIds()).includes(id));
});

test('a name being typed does not follow the reader to another chat', deadline, async (t) => {
  const { page, ui } = await inn.visit(t);
  const header = page.locator('header');
  const a = await newChat(ui, page, 'What time is it in Tokyo?');
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  const b = await newChat(ui, page, 'What time is it in Paris?');
  await page.goto(`${inn.tenon.url}/#/c/${a.id}`);
  await header.getByRole('heading', { name: /Tokyo/ }).waitFor();
  await page.goto(`${inn.tenon.url}/#/c/${b.id}`);
  await header.getByRole('heading', { name: /Paris/ }).waitFor();

  const renames = [];
  page.on('request', (request) => request.method() === 'PATCH' && renames.push(request.url()));
  await header.getByRole('button', { name: /^Options/ }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  const field = page.getByRole('textbox', { name: 'Name of the chat' });
  await field.fill('for B only');
  await page.goBack();
  await header.getByRole('heading', { name: /Tokyo/ }).waitFor();
  await page.goForward();
  await header.getByRole('heading', { name: /Paris/ }).waitFor();
  assert.deepEqual(renames, []);
});

test('a reader who leaves while a chat is being made is left in peace', deadline, async (t) => {
  const { page, ui } = await inn.visit(t);
  await newChat(ui, page, 'What time is it in Tokyo?');
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  let goOn;
  const held = new Promise((resolve) => (goOn = resolve));
  await page.route('**/api/chats', async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  await ui.ask('What time is it in Lima?');
  await ui.rows.filter({ hasText: 'Tokyo' }).first().getByRole('link').click();
  await ui.cards.first().waitFor();
  const address = page.url();
  await ui.field.fill('half a thou');
  const turn = page.waitForResponse((response) => response.url().endsWith('/turns'));
  goOn();
  await turn;
  await ui.rows.filter({ hasText: 'Lima' }).first().waitFor();
  assert.equal(page.url(), address);
  assert.equal(await ui.field.inputValue(), 'half a thou');
  assert.equal(await ui.questions.count(), 1);
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  assert.equal(await ui.field.inputValue(), '');
});

test('a chat is renamed in its row, and found by its new name', deadline, async (t) => {
  const { page, ui } = await inn.visit(t);
  const { row } = await newChat(ui, page, 'What time is it in Tokyo?');
  await chooseFromMenu(page, row, 'Rename');
  await page.getByRole('textbox', { name: 'Name of the chat' }).fill('东京时间');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: '东京时间' }).waitFor();

  await page.getByRole('searchbox', { name: 'Search chats' }).fill('东京时');
  assert.equal(await ui.rows.count(), 1);
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('nothing like it');
  await page.getByText('Nothing matches.').waitFor();

  await page.reload();
  await page.getByRole('heading', { name: '东京时间' }).waitFor();
});

test('an answer that ends in another chat loses its mark', deadline, async (t) => {
  const { page, ui } = await inn.visit(t);
  await ui.ask('sleep for 30 seconds');
  await page.locator('.card[data-status=running]').waitFor();
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'attached' });
  await inn.tenon.cancelTurns();
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'detached' });
});

test('a running chat is marked', deadline, async (t) => {
  const { page, ui } = await inn.visit(t);
  await ui.ask('sleep for 30 seconds');
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'attached' });
  await ui.stopButton.click();
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'detached' });
});
