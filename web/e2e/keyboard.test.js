// Everything without a mouse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { address } from './screen.js';

const { visit } = fixture();
const deadline = { timeout: 60_000 };

test(
  'Enter sends, Shift+Enter breaks the line, and what is blank is not sent',
  deadline,
  async (t) => {
    const { page, ui } = await visit(t);
    // The field has the focus when the page opens.
    await page.keyboard.press('Enter');
    assert.equal(await ui.questions.count(), 0);
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    assert.equal(await ui.field.inputValue(), 'one\ntwo');
    await page.keyboard.press('Enter');
    await ui.answered();
    assert.equal(await ui.questions.first().locator('p').innerText(), 'one\ntwo');
    assert.equal(await ui.field.inputValue(), '');
  },
);

test('Enter that chooses a Chinese candidate does not send', deadline, async (t) => {
  const { page, context, ui } = await visit(t);
  const input = await context.newCDPSession(page);
  await input.send('Input.imeSetComposition', { text: '东京', selectionStart: 2, selectionEnd: 2 });
  await ui.field.dispatchEvent('keydown', { key: 'Enter', keyCode: 229, isComposing: true });
  await ui.field.dispatchEvent('keydown', { key: 'Enter', keyCode: 229 });
  assert.equal(await ui.questions.count(), 0);
  await input.send('Input.insertText', { text: '东京现在几点？' });
  assert.equal(await ui.field.inputValue(), '东京现在几点？');
  await page.keyboard.press('Enter');
  await ui.answered();
});

test('Esc stops a turn, and up edits the last message', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('sleep for 30 seconds');
  await page.locator('.card[data-status=running]').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.card[data-status=cancelled]').waitFor();
  await ui.stopButton.waitFor({ state: 'detached' });
  await ui.field.press('ArrowUp');
  assert.equal(await ui.editor.inputValue(), 'sleep for 30 seconds');
  await ui.editor.press('Escape');
  await ui.editor.waitFor({ state: 'detached' });
  assert.ok(await ui.field.evaluate((field) => field === document.activeElement));
});

test('Esc in another field leaves the turn alone', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('sleep for 30 seconds');
  await page.locator('.card[data-status=running]').waitFor();
  const cancels = [];
  page.on('request', (request) => request.url().endsWith('/cancel') && cancels.push(request.url()));
  await page.getByRole('searchbox', { name: 'Search chats' }).press('Escape');
  // Esc that dismisses Chinese candidates, as Safari tells of it.
  await ui.field.dispatchEvent('keydown', { key: 'Escape', keyCode: 229 });
  assert.deepEqual(cancels, []);
  await ui.field.press('Escape');
  await page.locator('.card[data-status=cancelled]').waitFor();
  assert.equal(cancels.length, 1);
});

test('the palette finds chats and commands', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  const before = await address(page);
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await palette.waitFor();
  await page.keyboard.type('new chat');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();
  await palette.waitFor({ state: 'detached' });

  await page.keyboard.press('Control+k');
  await page.keyboard.type('theme dark');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');

  await page.keyboard.press('Control+k');
  await page.keyboard.type('繁體');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: '有什麼想問的？' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'zh-Hant');

  await page.goto(before);
  await page.reload();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  await page.getByRole('textbox', { name: '有什麼想問的？' }).waitFor();
});

test('the focus comes back to where a window was opened', deadline, async (t) => {
  const { page } = await visit(t);
  const wrench = page.getByRole('button', { name: /^Tools:/ });
  const focused = () => wrench.evaluate((button) => button === document.activeElement);
  await wrench.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.ok(await focused());
  await wrench.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.ok(await focused());
});

test('menus answer to arrows and letters', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  const menu = page.locator('header').getByRole('button', { name: /^Options/ });
  await menu.press('Enter');
  await page.locator('[role=menuitem]:focus').waitFor();
  await page.keyboard.press('p');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page
    .getByRole('button', { name: /^Unpin/ })
    .or(page.getByText('Pinned'))
    .first()
    .waitFor();
});

test('a draft waits in its chat', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.field.fill('half a thou');
  await page.reload();
  assert.equal(await ui.field.inputValue(), 'half a thou');
});

test('Esc closes what is open before it stops anything', deadline, async (t) => {
  const { page, ui } = await visit(t);
  await ui.ask('sleep for 30 seconds');
  await page.locator('.card[data-status=running]').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await ui.cards.first().getAttribute('data-status'), 'running');
  await page.keyboard.press('Escape');
  await page.locator('.card[data-status=cancelled]').waitFor();
});
