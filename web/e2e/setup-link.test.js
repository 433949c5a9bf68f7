// Getting in by the link that Tenon prints, and not without it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { desktop, openBrowser, openPage, phone } from './browser.js';
import { authPageOf } from './people.js';
import { address } from './screen.js';
import { Tenon, withAccounts } from './tenon.js';

const deadline = { timeout: 60_000 };
const HOW_TO = 'Run tenon link where Tenon runs';
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let browser;

before(async () => (browser = await openBrowser()));
after(() => browser?.close());

/** A Tenon of this test's own, and strangers' pages of it. */
async function start(t, environment) {
  const tenon = await Tenon.start(environment);
  t.after(() => tenon.stop());
  return {
    tenon,
    async visit(url, options) {
      const visit = await openPage(browser, 'about:blank', options);
      t.after(async () => {
        await visit.context.close();
        assert.deepEqual(visit.complaints, []);
      });
      const asked = [];
      visit.page.on('request', (request) => asked.push(request.url()));
      visit.page.on('websocket', (socket) => asked.push(socket.url()));
      await visit.page.goto(url);
      const authPage = {
        ...authPageOf(visit.page),
        code: visit.page.getByLabel('Set-up code'),
        open: visit.page.getByRole('button', { name: 'Open', exact: true }),
      };
      return { ...visit, asked, authPage };
    },
  };
}

/** The code is neither in the address nor in the history, and was in no address that was asked. */
async function isGone(page, asked, code) {
  assert.equal(new URL(await address(page)).hash, '#/');
  await page.goto('about:blank');
  await page.goBack();
  assert.ok(!(await address(page)).includes(code));
  assert.ok(asked.length > 0);
  assert.deepEqual(
    asked.filter((url) => url.split('#')[0].includes(code)),
    [],
  );
}

test('the link leads to the first account without asking for its code', deadline, async (t) => {
  const { tenon, visit } = await start(t, withAccounts);
  const code = await tenon.code();
  const { page, asked, authPage } = await visit(await tenon.link());
  await page.getByRole('heading', { name: 'Create the admin account' }).waitFor();
  assert.equal(new URL(await address(page)).hash, '#/');
  assert.equal(await authPage.code.count(), 0);
  await authPage.name.fill('Ann');
  await authPage.email.fill('ann@example.com');
  await authPage.password.fill('correct horse');
  await authPage.password.press('Enter');
  await authPage.field.waitFor();
  await isGone(page, asked, code);
});

test('without the link its code is asked for', deadline, async (t) => {
  const { tenon, visit } = await start(t, withAccounts);
  const { page, authPage } = await visit(tenon.url);
  await page.getByText('Run tenon link to print it again').waitFor();
  await authPage.name.fill('Ann');
  await authPage.email.fill('ann@example.com');
  await authPage.password.fill('correct horse');
  await authPage.createButton.click();
  await page.getByText('Fill this in.').waitFor();
  await authPage.code.fill('nonsense');
  await authPage.createButton.click();
  await page.getByText('This code is wrong or was used already.').waitFor();
  // Whole, as it was copied.
  await authPage.code.fill(` ${await tenon.link()} `);
  await authPage.createButton.click();
  await authPage.field.waitFor();
});

test('a link with a wrong code asks for the right one, and keeps the rest', deadline, async (t) => {
  const { tenon, visit } = await start(t, withAccounts);
  const { page, authPage } = await visit(`${tenon.url}/#setup=WRONG`);
  await authPage.name.fill('Ann');
  await authPage.email.fill('ann@example.com');
  await authPage.password.fill('correct horse');
  assert.equal(await authPage.code.count(), 0);
  await authPage.createButton.click();
  await page.getByText('This code is wrong or was used already.').waitFor();
  assert.equal(await authPage.email.inputValue(), 'ann@example.com');
  await authPage.code.fill(await tenon.code());
  await authPage.createButton.click();
  await authPage.field.waitFor();
});

test('a Tenon for one person opens by its link, once', deadline, async (t) => {
  const { tenon, visit } = await start(t);
  const link = await tenon.link();
  const first = await visit(link);
  await first.authPage.field.waitFor();
  await isGone(first.page, first.asked, link.split('=')[1]);
  await first.page.reload();
  await first.authPage.field.waitFor();
  await tenon.restart();
  await first.page.reload();
  await first.authPage.field.waitFor();

  const second = await visit(link);
  await second.page.getByRole('heading', { name: 'Open Tenon' }).waitFor();
  await second.page.getByText('This code is wrong or was used already.').waitFor();
  await second.page.getByText(HOW_TO).first().waitFor();
  assert.equal(await second.page.getByRole('textbox', { name: 'Ask anything' }).count(), 0);
  await second.authPage.code.fill(await tenon.code());
  await second.authPage.open.click();
  await second.authPage.field.waitFor();

  const third = await visit(tenon.url);
  await third.page.getByText(HOW_TO).waitFor();
  await third.authPage.open.click();
  await third.page.getByText('Fill this in.').waitFor();
  // In the page that is open already.
  await third.page.goto(await tenon.link());
  await third.authPage.field.waitFor();
});

test('who was inside is told how to come back, and finds all as it was', deadline, async (t) => {
  const { tenon, visit } = await start(t);
  const { page, authPage } = await visit(await tenon.link());
  await authPage.field.fill('half a sentence');
  const ended = await tenon.fetch('/api/auth/logout-everywhere', { method: 'POST' });
  assert.equal(ended.status, 204);
  await page.getByText(HOW_TO).waitFor();
  assert.ok(await page.getByRole('dialog').isVisible());
  await authPage.code.fill(await tenon.link());
  await authPage.open.click();
  await page.getByText(HOW_TO).waitFor({ state: 'detached' });
  assert.equal(await authPage.field.inputValue(), 'half a sentence');
});

test('no barrier where the code is asked for', deadline, async (t) => {
  const { tenon, visit } = await start(t);
  for (const colorScheme of ['light', 'dark']) {
    for (const viewport of [desktop, phone]) {
      const { page } = await visit(`${tenon.url}/#setup=WRONG`, { colorScheme, viewport });
      await page.locator('[aria-invalid=true]').or(page.getByRole('alert')).first().waitFor();
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run(document));
      const grave = violations.filter(({ impact }) => /serious|critical/.test(impact));
      assert.deepEqual(
        grave.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)),
        [],
      );
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, String(wide));
    }
  }
});
