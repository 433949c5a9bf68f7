// The list of chats.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { address, eventually } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };

async function chatIds() {
  return (await suite.tell('GET', '/chats')).map(({ id }) => id);
}

async function chooseFromMenu(page, row, name) {
  await row.hover();
  await row.getByRole('button').click();
  await page.getByRole('menuitem', { name }).click();
}

/** Deletes a chat and says yes. */
async function deleteRow(page, row) {
  await chooseFromMenu(page, row, 'Delete');
  const question = page.getByRole('dialog', { name: /^Delete/ });
  await question.getByText('You can undo for ten seconds.').waitFor();
  await question.getByRole('button', { name: 'Delete' }).click();
}

/** A chat of its own: its row in the list and its id. */
async function newChat(ui, page, text) {
  await ui.ask(text);
  await ui.answered();
  return {
    row: ui.rows.filter({ has: page.locator('[aria-current]') }),
    id: (await address(page)).split('/').pop(),
  };
}

test('a deleted chat can be had back', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const { row, id } = await newChat(ui, page, 'What time is it in Tokyo?');
  const count = await ui.rows.count();
  await chooseFromMenu(page, row, 'Delete');
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await ui.rows.count(), count);

  await deleteRow(page, row);
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await eventually('the row is gone', async () => (await ui.rows.count()) === count - 1);
  await eventually('it is deleted at once', async () => !(await chatIds()).includes(id));

  await page.getByRole('button', { name: 'Undo' }).click();
  await ui.cards.first().waitFor();
  await eventually('the row is back', async () => (await ui.rows.count()) === count);
  assert.ok((await chatIds()).includes(id));
  await page.reload();
  await ui.cards.first().waitFor();
});

test(
  'a deleted chat that someone goes back to is said to be gone, and comes back',
  deadline,
  async (t) => {
    const { page, ui } = await suite.visit(t);
    const { row } = await newChat(ui, page, 'What time is it in Tokyo?');
    await deleteRow(page, row);
    await page.getByRole('heading', { name: 'Tenon' }).waitFor();
    await page.goBack();
    await page.getByText('This chat does not exist.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await ui.cards.first().waitFor();
  },
);

test('a pinned chat stands on top, and stays there', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const { row, id } = await newChat(ui, page, 'What time is it in Oslo?');
  await chooseFromMenu(page, row, 'Pin');
  const pinned = page.locator('section', { has: page.getByRole('heading', { name: 'Pinned' }) });
  await pinned.getByText('Oslo').waitFor();
  await page.getByRole('link', { name: 'New chat' }).click();
  await newChat(ui, page, 'What time is it in Lima?');
  await page.reload();
  await pinned.getByText('Oslo').waitFor();
  assert.match(await ui.rows.first().innerText(), /Oslo/);
  await suite.tell('PATCH', `/chats/${id}`, { pinned: false });
});

test('a chat is put into the archive and taken out again', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const { id } = await newChat(ui, page, 'What time is it in Cairo?');
  const row = ui.rows.filter({ has: page.locator(`[href$="${id}"]`) });
  await chooseFromMenu(page, row, 'Archive');
  await row.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('archived');
  await page.keyboard.press('Enter');
  await row.waitFor();
  await chooseFromMenu(page, row, 'Unarchive');
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'All chats' }).click();
  await row.waitFor();
});

test('older chats come when the end of the list is in sight', deadline, async (t) => {
  for (let count = 0; count < 70; count += 1)
    await suite.tell('POST', '/chats', { title: `Old ${count}` });
  const { page, ui } = await suite.visit(t);
  await ui.rows.first().waitFor();
  const before = await ui.rows.count();
  assert.ok(before < 70, `${before} at first`);
  await ui.rows.last().scrollIntoViewIfNeeded();
  await eventually('more are listed', async () => (await ui.rows.count()) > before);
  await page.getByText('Old 0', { exact: true }).waitFor();
});

test('a name being typed does not follow the reader to another chat', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const header = page.locator('header');
  const a = await newChat(ui, page, 'What time is it in Tokyo?');
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  const b = await newChat(ui, page, 'What time is it in Paris?');
  await page.goto(`${suite.tenon.url}/#/c/${a.id}`);
  await header.getByRole('heading', { name: /Tokyo/ }).waitFor();
  await page.goto(`${suite.tenon.url}/#/c/${b.id}`);
  await header.getByRole('heading', { name: /Paris/ }).waitFor();

  const renames = [];
  page.on('request', (request) => request.method() === 'PATCH' && renames.push(request.url()));
  await header.getByRole('button', { name: /^Options/ }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  const field = page.getByRole('textbox', { name: 'Chat name' });
  await field.fill('for B only');
  await page.goBack();
  await header.getByRole('heading', { name: /Tokyo/ }).waitFor();
  await page.goForward();
  await header.getByRole('heading', { name: /Paris/ }).waitFor();
  assert.deepEqual(renames, []);
});

test('a reader who leaves while a chat is being made is left in peace', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
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
  const before = await address(page);
  await ui.field.fill('half a thou');
  const turn = page.waitForResponse((response) => response.url().endsWith('/turns'));
  goOn();
  await turn;
  await ui.rows.filter({ hasText: 'Lima' }).first().waitFor();
  assert.equal(await address(page), before);
  assert.equal(await ui.field.inputValue(), 'half a thou');
  assert.equal(await ui.questions.count(), 1);
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  assert.equal(await ui.field.inputValue(), '');
});

test('a chat is renamed in its row, and found by its new name', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const { row } = await newChat(ui, page, 'What time is it in Tokyo?');
  await chooseFromMenu(page, row, 'Rename');
  await page.getByRole('textbox', { name: 'Chat name' }).fill('东京时间');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: '东京时间' }).waitFor();

  await ui.search.fill('东京时');
  await ui.rows.filter({ hasText: '东京时间' }).first().waitFor();
  await ui.search.fill('nothing like it');
  await page.getByText('No results for “nothing like it”.').waitFor();

  await page.reload();
  await page.getByRole('heading', { name: '东京时间' }).waitFor();
});

test('an answer that ends in another chat loses its mark', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.ask('sleep for 30 seconds');
  await page.locator('.card[data-status=running]').waitFor();
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'attached' });
  await suite.tenon.cancelTurns();
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'detached' });
});

test(
  'a chat that is made elsewhere is listed, and one deleted elsewhere goes',
  deadline,
  async (t) => {
    const { page, ui } = await suite.visit(t);
    const { row, id } = await newChat(ui, page, 'What time is it in Rome?');
    await suite.tell('POST', '/chats', { title: 'From elsewhere' });
    await page.getByRole('navigation').getByText('From elsewhere').waitFor();

    await suite.tell('DELETE', `/chats/${id}`);
    await page.getByText('This chat does not exist.').waitFor();
    await row.waitFor({ state: 'detached' });
    assert.equal(await ui.questions.count(), 0);
    assert.equal(await ui.field.count(), 0);
    const header = page.locator('header');
    assert.equal(await header.getByRole('heading').count(), 0);
    assert.equal(await header.getByRole('button', { name: /^Options/ }).count(), 0);
  },
);

test('the row of a chat stays where it is when it is opened', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const a = await newChat(ui, page, 'What time is it in Bern?');
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await newChat(ui, page, 'What time is it in Kiev?');
  const order = () =>
    page
      .getByRole('navigation')
      .locator('li a')
      .evaluateAll((all) => all.map((a) => a.hash));
  const before = await order();
  await page.getByRole('navigation').locator(`[href$="${a.id}"]`).click();
  await page.locator('header').getByRole('heading', { name: /Bern/ }).waitFor();
  await ui.answered();
  // What came before this one on the socket was shown before it.
  const { id } = await suite.tell('POST', '/chats', { title: 'Later' });
  await page.getByRole('navigation').locator(`[href$="${id}"]`).waitFor();
  assert.deepEqual((await order()).slice(1), before);
});

test('the focus stays with the chat that was renamed or pinned', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const { id } = await newChat(ui, page, 'What time is it in Riga?');
  const row = ui.rows.filter({ has: page.locator(`[href$="${id}"]`) });
  const focused = (place) =>
    eventually('it has the focus', () =>
      place.getByRole('button', { name: /^Options/ }).evaluate((b) => b === document.activeElement),
    );
  for (const key of ['Enter', 'Escape']) {
    await chooseFromMenu(page, row, 'Rename');
    await page.getByRole('textbox', { name: 'Chat name' }).fill(`Riga ${key}`);
    await page.keyboard.press(key);
    await focused(row);
    await ui.menu('Rename');
    await page.keyboard.press(key);
    await focused(page.locator('header'));
  }
  await chooseFromMenu(page, row, 'Pin');
  await focused(row);
  await chooseFromMenu(page, row, 'Archive');
  await row.waitFor({ state: 'detached' });
  await page.getByText('Archived “Riga Enter”').waitFor();
  assert.notEqual(await page.evaluate(() => document.activeElement.tagName), 'BODY');
});

test('Enter does not delete a chat by accident', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  const { row } = await newChat(ui, page, 'What time is it in Lund?');
  await chooseFromMenu(page, row, 'Delete');
  await page.getByRole('dialog', { name: /^Delete/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await row.waitFor();
});

test('a chat whose first message is refused is not kept', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await page.route('**/turns', (route) =>
    route.fulfill({
      status: 400,
      json: { error: { code: 'invalid', message: 'No.' } },
    }),
  );
  const before = await chatIds();
  await ui.ask('What time is it in Turin?');
  await page.getByText(/^Not sent/).waitFor();
  await eventually('it is deleted', async () => (await chatIds()).length === before.length);
  assert.match(await address(page), /#\/$/);
  assert.equal(await ui.field.inputValue(), 'What time is it in Turin?');
});

test('a running chat is marked', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.ask('sleep for 30 seconds');
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'attached' });
  await ui.stopButton.click();
  await page.getByRole('navigation').getByText('Running').waitFor({ state: 'detached' });
});
