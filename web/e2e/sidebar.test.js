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
  await ui.ask('sleep for 2 seconds');
  await page.locator('.card[data-status=running]').waitFor();
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'attached' });
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'detached' });
});

test('a running chat is marked', deadline, async (t) => {
  const { page, ui } = await inn.visit(t);
  await ui.ask('sleep for 2 seconds');
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'attached' });
  await ui.answered();
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'detached' });
});
