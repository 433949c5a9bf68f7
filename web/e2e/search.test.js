// Finding what was said, and going there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { address, eventually } from './screen.js';

const suite = fixture();
const deadline = { timeout: 60_000 };

const hits = (page) => page.getByRole('navigation').locator('.hits a');
const found = (page) => page.locator('article.found');

test('Chinese words are found in a message and lead to it', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.ask('东京现在几点？');
  await ui.answered();
  await suite.tell('PATCH', `/chats/${(await address(page)).split('/').pop()}`, {
    title: 'Something else',
  });
  for (let turn = 2; turn <= 4; turn += 1) {
    await ui.ask('What time is it in Lima?');
    await ui.answered(turn);
  }
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await ui.search.fill('现在几点');
  await hits(page).first().waitFor();
  assert.equal(await hits(page).first().locator('mark').first().innerText(), '现在几点');
  assert.match(await hits(page).first().innerText(), /Something else[^]*Message/);
  await hits(page).first().click();
  await found(page).waitFor();
  assert.match(await found(page).innerText(), /东京现在几点/);
  await eventually('it is in view', () =>
    found(page).evaluate((part) => {
      const { top } = part.getBoundingClientRect();
      return top >= 0 && top < innerHeight / 2;
    }),
  );
  assert.equal(await page.evaluate(() => document.scrollingElement.scrollTop), 0, 'the page stays');
  // The place is shown once; a reload does not jump there again.
  await eventually('the address names the chat', async () =>
    /#\/c\/[^/]+$/.test(await address(page)),
  );
});

test('what stands on another branch is shown', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.ask('What time is it in Reykjavik?');
  await ui.answered();
  await ui.field.press('ArrowUp');
  await ui.editor.fill('What time is it in Oslo?');
  await ui.editor.press('Enter');
  await page.getByRole('group', { name: 'Edit 2 of 2' }).waitFor();
  await ui.answered();
  await suite.tell('PATCH', `/chats/${(await address(page)).split('/').pop()}`, {
    title: 'Clocks',
  });
  await ui.search.fill('Reykjavik');
  await hits(page).first().click();
  await page.getByRole('group', { name: 'Edit 1 of 2' }).waitFor();
  assert.match(await ui.questions.first().innerText(), /Reykjavik/);
});

test('the palette finds conversations too, by keyboard', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.ask('What time is it in Nairobi?');
  await ui.answered();
  await suite.tell('PATCH', `/chats/${(await address(page)).split('/').pop()}`, { title: 'East' });
  await page.getByRole('link', { name: 'New chat' }).click();
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('nairobi');
  await page.getByRole('option', { name: /East/ }).first().waitFor();
  await page.keyboard.press('Enter');
  await ui.cards.first().waitFor();
  assert.match(await ui.questions.first().innerText(), /Nairobi/);
});

test('letters with which Chinese is typed are not looked for', deadline, async (t) => {
  const { page, ui, context } = await suite.visit(t);
  await ui.ask('北京现在几点？');
  await ui.answered();
  const asked = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname === '/api/search') asked.push(url.searchParams.get('q'));
  });
  await page.clock.install();
  await ui.search.focus();
  const input = await context.newCDPSession(page);
  for (const text of ['b', 'bei', 'bei j', 'bei jing']) {
    await input.send('Input.imeSetComposition', {
      text,
      selectionStart: text.length,
      selectionEnd: text.length,
    });
  }
  await page.clock.fastForward(1_000);
  assert.deepEqual(asked, []);
  await input.send('Input.insertText', { text: '北京' });
  await hits(page)
    .or(ui.rows.filter({ hasText: '北京' }))
    .first()
    .waitFor();
  await eventually('the server is asked', async () => asked.length > 0);
  assert.deepEqual(asked, ['北京']);
});

test('what is nowhere is said to be nowhere', deadline, async (t) => {
  const { page, ui } = await suite.visit(t);
  await ui.search.fill('xyzzyplugh');
  await page.getByText('No results for “xyzzyplugh”.').waitFor();
  await page.route('**/api/search?*', (route) => route.abort());
  await ui.search.fill('something');
  await page.getByText(/^Could not search/).waitFor();
});
