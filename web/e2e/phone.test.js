// One column, 390 pixels wide.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phone } from './browser.js';
import { fixture } from './fixture.js';
import { allTools } from './screen.js';

const suite = fixture();
const { visit } = suite;
const deadline = { timeout: 60_000 };
const small = { viewport: phone, hasTouch: true, isMobile: true };

async function assertNoSidewaysScroll(page) {
  const { content, view } = await page.evaluate(() => ({
    content: document.documentElement.scrollWidth,
    view: innerWidth,
  }));
  assert.ok(content <= view, `${content} px of content in a view of ${view} px`);
}

test('the list of chats is a sheet', deadline, async (t) => {
  const { page, ui } = await visit(t, small);
  await ui.ask('Make a file notes.md with a to-do list and read it back');
  await ui.answered();
  await assertNoSidewaysScroll(page);
  assert.equal(await page.getByRole('navigation').count(), 0);

  await page.getByRole('button', { name: 'Open chat list' }).tap();
  await ui.rows.first().waitFor();
  await assertNoSidewaysScroll(page);
  await page.getByRole('link', { name: 'New chat' }).tap();
  await page.getByRole('navigation').waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Tenon' }).waitFor();

  await page.getByRole('button', { name: 'Open chat list' }).tap();
  await ui.rows.first().getByRole('link').tap();
  await ui.cards.first().waitFor();
});

test('an opened card stays within the column', deadline, async (t) => {
  const { page, ui } = await visit(t, small);
  await ui.ask('Make a file notes.md with a to-do list and read it back');
  await ui.answered();
  for (const card of await ui.cards.all()) await card.getByRole('button').first().tap();
  await assertNoSidewaysScroll(page);
});

test('whatever a finger must hit is 44 pixels large', deadline, async (t) => {
  const { page, ui } = await visit(t, small);
  await ui.ask('What time is it in Tokyo?');
  await ui.answered();
  const tooSmall = async () =>
    page.evaluate(() =>
      [...document.querySelectorAll('button, nav a, [role=switch], label:has([type=radio])')]
        .filter((element) => element.checkVisibility() && !element.closest('.code'))
        .map((element) => ({
          name: element.ariaLabel ?? element.textContent,
          // Words make a button wide enough; a picture does not by itself.
          icon: element.textContent.trim() === '',
          box: element.getBoundingClientRect(),
        }))
        .filter(({ icon, box }) => box.height < 44 || (icon && box.width < 44))
        .map(({ name, box }) => `${name?.trim()}: ${box.width} × ${box.height}`),
    );
  assert.deepEqual(await tooSmall(), []);

  const asks = (policy) => {
    const tools = [{ toolId: 'builtin_current_time', policy }];
    return suite.tell('PATCH', '/tools', { layer: 'user', tools });
  };
  await asks('ask');
  await ui.ask('What time is it in Lima?');
  await page.locator('.card[data-status=asking]').waitFor();
  await assertNoSidewaysScroll(page);
  assert.deepEqual(await tooSmall(), []);
  await page.getByRole('button', { name: 'Allow once' }).tap();
  await ui.answered(2);
  await asks(null);
  await allTools(page).tap();
  await page.getByRole('dialog', { name: 'Tools' }).getByRole('listitem').first().waitFor();
  assert.deepEqual(await tooSmall(), []);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).tap();

  await page.getByRole('button', { name: 'Open chat list' }).tap();
  await ui.rows.first().waitFor();
  assert.deepEqual(await tooSmall(), []);
  await page.getByRole('link', { name: 'New chat' }).tap();
  await page.getByRole('button', { name: 'Connect a model' }).tap();
  await page.getByRole('button', { name: 'More' }).tap();
  assert.deepEqual(await tooSmall(), []);
});
